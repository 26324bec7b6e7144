//! Parses the output of `xctrace record`, line by line. The lines may come on either stream, with any
//! end, between those of the recorded program.

use std::path::Path;

use crate::output_streams::{LONGEST_LINE, LineEnd, Stream, StreamLine, asks_password};

/// The meaning of one line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputLine {
    /// `xctrace` is about to record.
    Starting,
    /// `xctrace` records. It reacts to Ctrl-C only from now on.
    Recording,
    /// The time limit is reached, and `xctrace` stops.
    TimeLimit,
    /// The recorded process ended, and `xctrace` stops.
    TargetExited,
    /// `xctrace` is writing the bundle.
    Saving {
        /// True if the line says that the recording failed.
        has_failed: bool,
    },
    /// `xctrace` has written the bundle of this name, often only the last part of the path.
    Saved(String),
    /// A list of issues follows; the recording can be read nevertheless.
    IssuesFollow,
    /// An error that `xctrace` reports.
    Error(String),
    /// A warning that `xctrace` reports.
    Warning(String),
    /// macOS asks for the password of an administrator, in a terminal that nobody sees.
    PasswordAsked,
    /// Any other line, perhaps from the recorded process.
    Other,
}

/// Heading of the list of issues.
const ISSUES: &str = "Run issues were detected (trace is still ready to be viewed):";

impl OutputLine {
    /// Parses one line of output.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let line = line.trim();
        let after = |start: &str| line.strip_prefix(start).map(str::trim);
        if let Some(name) = after("Output file saved as:") {
            return Self::Saved(name.to_owned());
        }

        let item = line.trim_start_matches(['*', '-', ' ', '\t']);
        if let Some(text) = item.strip_prefix("[Error]") {
            return Self::Error(text.trim().to_owned());
        }

        if let Some(text) = item.strip_prefix("[Warning]") {
            return Self::Warning(text.trim().to_owned());
        }
        let starts = |start: &str| line.starts_with(start);
        match line {
            _ if starts("Starting recording") => Self::Starting,
            _ if starts("Ctrl-C to stop the recording") => Self::Recording,
            _ if starts("Reached specified time limit") => Self::TimeLimit,
            _ if starts("Target app exited") => Self::TargetExited,
            _ if starts("Recording completed.") => Self::Saving { has_failed: false },
            _ if starts("Recording failed with errors.") => Self::Saving { has_failed: true },
            _ if starts("Run issues were detected") => Self::IssuesFollow,
            _ if asks_password(line) => Self::PasswordAsked,
            _ => Self::Other,
        }
    }

    /// Returns whether `xctrace` alone prints this line: no program knows the name of the bundle, which
    /// is random.
    fn is_certain(&self, line: &str, bundle: Option<&str>) -> bool {
        match self {
            Self::IssuesFollow => line.trim() == ISSUES,
            Self::Saved(said) => bundle.is_some_and(|bundle| names(said, bundle)),
            Self::PasswordAsked => true,
            _ => false,
        }
    }

    /// Returns whether the line says why the recording ends, or that it does.
    const fn is_end(&self) -> bool {
        matches!(
            self,
            Self::TimeLimit | Self::TargetExited | Self::Saving { .. }
        )
    }
}

/// Returns whether a path that was printed names a bundle. A dot may follow it.
fn names(said: &str, bundle: &str) -> bool {
    let is_name = |path: &str| {
        Path::new(path)
            .file_name()
            .is_some_and(|name| name == bundle)
    };
    is_name(said) || said.strip_suffix('.').is_some_and(is_name)
}

/// The state of a recording according to its output so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// True if the recording has begun.
    pub has_started: bool,
    /// True if the recording could be stopped.
    pub was_recording: bool,
    /// True if the time limit was reached.
    pub reached_limit: bool,
    /// True if the recorded process ended first.
    pub target_exited: bool,
    /// True if `xctrace` began to write the bundle.
    pub was_saving: bool,
    /// True if `xctrace` reported that the recording failed.
    pub reported_failure: bool,
    /// Name of the bundle that `xctrace` wrote, if it printed one.
    pub saved_as: Option<String>,
    /// Errors that `xctrace` reported, in order.
    pub errors: Vec<String>,
    /// Warnings that `xctrace` reported, in order.
    pub warnings: Vec<String>,
    /// The last lines with unknown meaning, for messages.
    pub others: Vec<String>,
    /// Streams on which `xctrace` printed that it starts and records: standard output, standard
    /// error.
    pub spoke_on: [bool; 2],
    /// True if `xctrace` listed issues, which it does at the end.
    pub listed_issues: bool,
    /// True if macOS asked for a password.
    pub asked_password: bool,
    /// File name of the bundle that `xctrace` was told to write.
    bundle: Option<String>,
    /// Ends of the recording on a stream that `xctrace` had not used, in order.
    doubted: Vec<OutputLine>,
    /// Start of a line that has not ended, of each stream.
    open: [String; 2],
}

/// Maximum number of lines with unknown meaning that are kept.
const MAX_OTHERS: usize = 20;

impl Transcript {
    /// Returns the transcript of a recording into this bundle.
    #[must_use]
    pub fn of(bundle: &Path) -> Self {
        let name = bundle.file_name().map(|name| name.display().to_string());
        Self {
            bundle: name,
            ..Self::default()
        }
    }

    /// Adds a line, and returns its meaning.
    pub fn add(&mut self, line: &StreamLine) -> OutputLine {
        let mut text = std::mem::take(self.open_line(line.stream));
        text.push_str(&line.text);
        let parsed = OutputLine::parse(&text);
        let is_certain = parsed.is_certain(&text, self.bundle.as_deref());
        let is_progress = matches!(parsed, OutputLine::Starting | OutputLine::Recording);
        // What follows these on the same line says no more.
        let is_enough = is_certain || is_progress || parsed.is_end();
        if line.end == LineEnd::Open && !is_enough {
            if text.len() < LONGEST_LINE {
                *self.open_line(line.stream) = text;
            }
            return OutputLine::Other;
        }

        if !is_certain && self.is_of_program(&parsed, line.stream) {
            if parsed.is_end() {
                self.doubted.push(parsed);
            }
            self.keep(&text);
            return OutputLine::Other;
        }
        if is_certain {
            self.believe();
        }
        self.note(&parsed, line.stream, &text);
        parsed
    }

    /// Believes the ends of the recording that came on a stream that `xctrace` had not used, unless it
    /// said on its own why it ended. Returns whether there were any.
    pub fn believe(&mut self) -> bool {
        let doubted = std::mem::take(&mut self.doubted);
        if doubted.is_empty() || self.has_ended() {
            return false;
        }
        for end in doubted {
            self.note(&end, Stream::Out, "");
        }
        true
    }

    fn has_ended(&self) -> bool {
        self.reached_limit || self.target_exited || self.was_saving || self.listed_issues
    }

    fn open_line(&mut self, stream: Stream) -> &mut String {
        let [out, err] = &mut self.open;
        match stream {
            Stream::Out => out,
            Stream::Err => err,
        }
    }

    fn note(&mut self, parsed: &OutputLine, stream: Stream, text: &str) {
        match parsed {
            OutputLine::Starting => {
                self.has_started = true;
                self.hear(stream);
            }
            OutputLine::Recording => {
                self.has_started = true;
                self.was_recording = true;
                self.hear(stream);
            }
            OutputLine::TimeLimit => self.reached_limit = true,
            OutputLine::TargetExited => self.target_exited = true,
            OutputLine::Saving { has_failed } => {
                self.was_saving = true;
                self.reported_failure |= has_failed;
            }
            OutputLine::Saved(name) => {
                self.was_saving = true;
                self.saved_as = Some(name.clone());
            }
            OutputLine::Error(text) => self.errors.push(text.clone()),
            OutputLine::Warning(text) => self.warnings.push(text.clone()),
            OutputLine::IssuesFollow => self.listed_issues = true,
            OutputLine::PasswordAsked => self.asked_password = true,
            OutputLine::Other => self.keep(text),
        }
    }

    fn hear(&mut self, stream: Stream) {
        let [out, err] = &mut self.spoke_on;
        match stream {
            Stream::Out => *out = true,
            Stream::Err => *err = true,
        }
    }

    /// Returns whether a line is of the recorded program although it looks like one of `xctrace`. The
    /// program shares the standard error of `xctrace`. While it runs, `xctrace` reports no errors, and
    /// prints only where it printed before.
    fn is_of_program(&self, parsed: &OutputLine, stream: Stream) -> bool {
        if !self.was_recording || self.has_ended() {
            return false;
        }
        let [out, err] = self.spoke_on;
        let is_other_stream = match stream {
            Stream::Out => !out,
            Stream::Err => !err,
        };
        let is_trouble = matches!(parsed, OutputLine::Error(_) | OutputLine::Warning(_));
        is_trouble || is_other_stream
    }

    fn keep(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        if self.others.len() == MAX_OTHERS {
            self.others.remove(0);
        }
        self.others.push(line.trim().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_streams::Stream;

    #[test]
    fn lines_are_parsed() {
        let check = |line: &str, expected: OutputLine| {
            assert_eq!(OutputLine::parse(line), expected, "{line}");
        };

        let starting =
            "Starting recording with the Metal System Trace template. Launching process: bench.";
        check(starting, OutputLine::Starting);
        check("Ctrl-C to stop the recording", OutputLine::Recording);
        check(
            "Reached specified time limit, ending recording...",
            OutputLine::TimeLimit,
        );
        check(
            "Target app exited, ending recording...",
            OutputLine::TargetExited,
        );
        check(
            "Recording completed. Saving output file...",
            OutputLine::Saving { has_failed: false },
        );
        let failed = "Recording failed with errors. Saving output file...";
        check(failed, OutputLine::Saving { has_failed: true });
        check(
            "Output file saved as: a b.trace",
            OutputLine::Saved("a b.trace".to_owned()),
        );
        let issues = "Run issues were detected (trace is still ready to be viewed):";
        check(issues, OutputLine::IssuesFollow);
        check(
            "* [Error] Data stream: x",
            OutputLine::Error("Data stream: x".to_owned()),
        );
        check("\t    * [Warning] y", OutputLine::Warning("y".to_owned()));
        check("[Error] z", OutputLine::Error("z".to_owned()));
        let password = "xctrace: Instruments wants permission to analyze other processes. Please enter \
                        an administrator username and password to allow this.";
        check(password, OutputLine::PasswordAsked);
        check("Username (somebody): ", OutputLine::PasswordAsked);
        check("Username (none)", OutputLine::Other);
        check("step 1 of 3", OutputLine::Other);
    }

    #[test]
    fn the_output_of_a_recording_is_read_from_both_streams() {
        let mut transcript = Transcript::default();
        let lines = [
            (
                Stream::Out,
                "Starting recording with the Metal System Trace template.",
            ),
            (Stream::Err, "Ctrl-C to stop the recording"),
            (Stream::Out, "loss 0.4"),
            (Stream::Err, "Target app exited, ending recording..."),
            (
                Stream::Err,
                "Run issues were detected (trace is still ready to be viewed):",
            ),
            (Stream::Err, "* [Error] Data stream: corrupt"),
            (
                Stream::Err,
                "Recording failed with errors. Saving output file...",
            ),
            (Stream::Out, "Output file saved as: x.trace"),
        ];

        add(&mut transcript, &lines);

        let expected = Transcript {
            has_started: true,
            was_recording: true,
            target_exited: true,
            was_saving: true,
            reported_failure: true,
            saved_as: Some("x.trace".to_owned()),
            errors: vec!["Data stream: corrupt".to_owned()],
            others: vec!["loss 0.4".to_owned()],
            spoke_on: [true, true],
            listed_issues: true,
            ..Transcript::default()
        };

        assert_eq!(transcript, expected);
    }

    fn add(transcript: &mut Transcript, lines: &[(Stream, &str)]) {
        for &(stream, line) in lines {
            let (text, end) = (line.to_owned(), LineEnd::Break);
            transcript.add(&StreamLine { stream, text, end });
        }
    }

    /// What the program prints is no word of `xctrace`, however it looks.
    #[test]
    fn lines_of_the_program_are_told_apart() {
        let mut transcript = Transcript::default();
        let forged = [
            "[Error] loss is NaN",
            "* [Warning] slow",
            "Target app exited, ending recording...",
            "Recording failed with errors. Saving output file...",
            "Output file saved as: other.trace",
        ];
        add(
            &mut transcript,
            &[
                (Stream::Out, "Starting recording"),
                (Stream::Out, "Ctrl-C to stop the recording"),
            ],
        );
        for line in forged {
            add(&mut transcript, &[(Stream::Err, line)]);
        }
        assert_eq!(
            (&transcript.errors, &transcript.warnings),
            (&vec![], &vec![])
        );
        assert!(
            !transcript.target_exited && !transcript.was_saving,
            "{transcript:?}"
        );
        assert_eq!(transcript.others, forged);

        let end = [
            (Stream::Out, "Target app exited, ending recording..."),
            (
                Stream::Err,
                "Run issues were detected (trace is still ready to be viewed):",
            ),
            (Stream::Err, "* [Error] Data stream: corrupt"),
            (Stream::Out, "Output file saved as: x.trace"),
        ];
        add(&mut transcript, &end);
        assert_eq!(transcript.errors, ["Data stream: corrupt"]);
        assert_eq!(transcript.saved_as.as_deref(), Some("x.trace"));
    }

    /// The issues, and the name of the bundle, are known on any stream and with any end. Then the end
    /// that came on the same stream is believed.
    #[test]
    fn certain_lines_count_wherever_they_come() {
        use LineEnd::{Break, Open, Return};
        let end_lines = [
            ("Reached specified time limit, ending recording...", Break),
            (ISSUES, Break),
            ("* [Error] Data stream: corrupt", Return),
            ("Recording completed. Saving output file...", Return),
            ("Output file saved as: /a/x-", Open),
            ("1.trace.", Return),
        ];
        for stream in [Stream::Out, Stream::Err] {
            let mut transcript = Transcript::of(Path::new("/a/x-1.trace"));
            let start = [
                (Stream::Out, "Starting recording"),
                (Stream::Out, "Ctrl-C to stop the recording"),
                (stream, "[Error] loss is NaN"),
                (Stream::Err, "Output file saved as: other.trace"),
            ];
            add(&mut transcript, &start);
            assert!(!transcript.was_saving);
            for (text, end) in end_lines {
                let text = text.to_owned();
                transcript.add(&StreamLine { stream, text, end });
            }
            assert_eq!(transcript.errors, ["Data stream: corrupt"]);
            assert!(transcript.reached_limit, "{transcript:?}");
            assert_eq!(transcript.saved_as.as_deref(), Some("/a/x-1.trace."));
        }
    }

    /// Without a progress line before, both streams may have words of `xctrace`.
    #[test]
    fn errors_before_the_recording_count() {
        let mut transcript = Transcript::default();
        add(
            &mut transcript,
            &[(Stream::Err, "[Error] Cannot find process matching name: x")],
        );
        assert_eq!(transcript.errors.len(), 1);
    }
}
