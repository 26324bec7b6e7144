//! Prints the progress of a recording on stderr.

use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};
use metalens_recorder::{RecordingEvent, RecordingPlan, StopRequest, Watcher};
use metalens_text::shown;
use metalens_text::units::bytes;
use metalens_xctrace::LineEnd;

use crate::interrupt::Listening;
use crate::out;

/// The stream that gets the output of the recorded program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramOutput {
    Stdout,
    Stderr,
}

/// A line on stderr with the present step, which passes the program's output through.
pub(super) struct RecordingProgress<'a> {
    plan: &'a RecordingPlan,
    subject: String,
    interrupts: &'a Listening,
    output: ProgramOutput,
    quiet: bool,
    bar: ProgressBar,
    since: Instant,
    phase: &'static str,
}

impl<'a> RecordingProgress<'a> {
    pub(super) fn new(
        plan: &'a RecordingPlan,
        interrupts: &'a Listening,
        output: ProgramOutput,
        quiet: bool,
    ) -> Self {
        // indicatif draws nothing if stderr is not a terminal.
        let bar = if quiet {
            ProgressBar::hidden()
        } else {
            ProgressBar::new_spinner()
        };
        Self {
            plan,
            subject: plan.request.subject.name(),
            interrupts,
            output,
            quiet,
            bar: crate::progress::with_template(bar, "{spinner} {msg} {elapsed}"),
            since: Instant::now(),
            phase: "",
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Begins a step, unless it is the present one, and shows its text.
    fn enter(&mut self, phase: &'static str, text: &str) {
        if self.phase != phase {
            self.phase = phase;
            self.since = Instant::now();
            self.bar.reset_elapsed();
            self.bar.enable_steady_tick(Duration::from_millis(200));
            if !self.quiet && !out::are_notes_on_terminal() {
                out::note(&shown(text));
            }
        }
        self.bar.set_message(shown(text).into_owned());
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            // Hides the bar while the line is printed.
            self.bar.suspend(|| out::note(&shown(text)));
        }
    }
}

fn pass_on(to: &mut dyn Write, output: &[u8]) -> std::io::Result<()> {
    to.write_all(output)?;
    to.flush()
}

impl Watcher for RecordingProgress<'_> {
    fn on_event(&mut self, event: RecordingEvent<'_>) {
        match event {
            RecordingEvent::Starting => self.enter("starting", "xctrace prepares to record"),
            RecordingEvent::Recording => {
                let text = format!("recording {}; Ctrl-C stops and saves", self.subject);
                self.enter("recording", &text);
            }
            RecordingEvent::Stopping => self.enter(
                "stopping",
                "stopping; another Ctrl-C leaves without waiting for xctrace",
            ),
            RecordingEvent::Saving { bytes: size } => {
                let text = format!("xctrace saves the recording: {}", bytes(size));
                self.enter("saving", &text);
            }
            // Some of it comes through the output of xctrace.
            RecordingEvent::TargetOutput(_) if self.plan.request.discards_output => {}
            RecordingEvent::TargetOutput(output) => self.bar.suspend(|| {
                // The recording goes on if nobody reads the output any more.
                let _ = match self.output {
                    ProgramOutput::Stdout => pass_on(&mut out::untouched(), output),
                    ProgramOutput::Stderr => pass_on(&mut out::untouched_notes(), output),
                };
            }),
            RecordingEvent::Line(line) => {
                if line.end != LineEnd::Break {
                    // The program draws a bar of its own, on the same line of the terminal.
                    self.bar.set_draw_target(ProgressDrawTarget::hidden());
                }
                self.bar
                    .suspend(|| out::pass_on_line(&line.text, line.end.text()));
            }
            RecordingEvent::Warning(text) => self.say(&format!("xctrace: {text}")),
            RecordingEvent::Tidying { bytes: size } => {
                let text = format!(
                    "xctrace has ended, and still holds {} of scratch files; Ctrl-C skips removing them",
                    bytes(size)
                );
                self.enter("tidying", &text);
            }
            RecordingEvent::Note(text) => self.say(&format!("note: {text}")),
            RecordingEvent::TryingAgain(why) => self.say(&format!("trying again: {why}")),
            RecordingEvent::FoundElsewhere(path) => {
                self.say(&format!(
                    "moving the bundle, which xctrace saved as {}",
                    path.display()
                ));
            }
        }
    }

    fn stop_request(&mut self) -> StopRequest {
        match self.interrupts.times() {
            0 => StopRequest::None,
            1 => StopRequest::Stop,
            _ => StopRequest::GiveUp,
        }
    }
}
