//! What `xctrace record` says, line by line, and what that means for the
//! recording. Its lines may come on either stream.

use crate::run::Piece;

/// A line, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// It is about to record.
    Starting,
    /// It records: only now does it heed a wish to stop.
    Recording,
    /// It stops by itself: the time is up.
    TimeLimit,
    /// It stops by itself: the target ended.
    TargetExited,
    /// It writes the bundle.
    Saving {
        /// Whether it says that the recording failed.
        has_failed: bool,
    },
    /// It has written the bundle. Often only the last part of the path.
    Saved(String),
    /// What follows are its troubles, and the recording can be read all the same.
    IssuesFollow,
    /// Something went wrong.
    Error(String),
    /// Something may be wrong.
    Warning(String),
    /// Another line; the target's, perhaps.
    Other,
}

impl Said {
    /// Understands a line.
    #[must_use]
    pub fn of(line: &str) -> Self {
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
            _ => Self::Other,
        }
    }
}

/// What was said of a recording so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Whether it has begun.
    pub has_started: bool,
    /// Whether it was ready to be stopped.
    pub was_recording: bool,
    /// Whether the time was up.
    pub reached_limit: bool,
    /// Whether the target ended first.
    pub target_exited: bool,
    /// Whether it began to write the bundle.
    pub was_saving: bool,
    /// Whether it said that the recording failed.
    pub said_failed: bool,
    /// What it called the bundle that it wrote.
    pub saved_as: Option<String>,
    /// Its errors, in order.
    pub errors: Vec<String>,
    /// Its warnings, in order.
    pub warnings: Vec<String>,
    /// The last lines that were not understood, for messages.
    pub others: Vec<String>,
}

/// How many lines that were not understood are kept.
const OTHERS: usize = 20;

impl Transcript {
    /// Takes a line in, and says what it was.
    pub fn take(&mut self, piece: &Piece) -> Said {
        let said = Said::of(&piece.line);
        match &said {
            Said::Starting => self.has_started = true,
            Said::Recording => {
                self.has_started = true;
                self.was_recording = true;
            }
            Said::TimeLimit => self.reached_limit = true,
            Said::TargetExited => self.target_exited = true,
            Said::Saving { has_failed } => {
                self.was_saving = true;
                self.said_failed |= has_failed;
            }
            Said::Saved(name) => {
                self.was_saving = true;
                self.saved_as = Some(name.clone());
            }
            Said::Error(text) => self.errors.push(text.clone()),
            Said::Warning(text) => self.warnings.push(text.clone()),
            Said::IssuesFollow => {}
            Said::Other => self.keep(&piece.line),
        }
        said
    }

    fn keep(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        if self.others.len() == OTHERS {
            self.others.remove(0);
        }
        self.others.push(line.trim().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Stream;

    #[test]
    fn lines() {
        let check = |line: &str, expected: Said| assert_eq!(Said::of(line), expected, "{line}");
        let starting =
            "Starting recording with the Metal System Trace template. Launching process: bench.";
        check(starting, Said::Starting);
        check("Ctrl-C to stop the recording", Said::Recording);
        check(
            "Reached specified time limit, ending recording...",
            Said::TimeLimit,
        );
        check("Target app exited, ending recording...", Said::TargetExited);
        check(
            "Recording completed. Saving output file...",
            Said::Saving { has_failed: false },
        );
        let failed = "Recording failed with errors. Saving output file...";
        check(failed, Said::Saving { has_failed: true });
        check(
            "Output file saved as: a b.trace",
            Said::Saved("a b.trace".to_owned()),
        );
        let issues = "Run issues were detected (trace is still ready to be viewed):";
        check(issues, Said::IssuesFollow);
        check(
            "* [Error] Data stream: x",
            Said::Error("Data stream: x".to_owned()),
        );
        check("\t    * [Warning] y", Said::Warning("y".to_owned()));
        check("[Error] z", Said::Error("z".to_owned()));
        check("step 1 of 3", Said::Other);
    }

    #[test]
    fn a_recording_on_either_stream() {
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
        for (stream, line) in lines {
            let line = line.to_owned();
            transcript.take(&Piece { stream, line });
        }
        let expected = Transcript {
            has_started: true,
            was_recording: true,
            target_exited: true,
            was_saving: true,
            said_failed: true,
            saved_as: Some("x.trace".to_owned()),
            errors: vec!["Data stream: corrupt".to_owned()],
            others: vec!["loss 0.4".to_owned()],
            ..Transcript::default()
        };
        assert_eq!(transcript, expected);
    }
}
