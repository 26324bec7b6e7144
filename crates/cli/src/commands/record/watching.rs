//! The progress of a recording, on stderr.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use metalens_analyzer::units::bytes;
use metalens_recorder::{BundleVerdict, Event, RecordingPlan, StopRequest, Watcher};
use metalens_text::shown;

use crate::interrupt::Listening;
use crate::out;

/// The place that the target's output goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetOutput {
    Stdout,
    Stderr,
    /// Nowhere.
    Dropped,
}

/// A line on stderr that tells what goes on; the target's output goes through.
pub(super) struct Watching<'a> {
    plan: &'a RecordingPlan,
    subject: String,
    interrupts: &'a Listening,
    output: TargetOutput,
    quiet: bool,
    bar: ProgressBar,
    since: Instant,
    phase: &'static str,
}

impl<'a> Watching<'a> {
    pub(super) fn new(
        plan: &'a RecordingPlan,
        interrupts: &'a Listening,
        output: TargetOutput,
        quiet: bool,
    ) -> Self {
        // indicatif itself stays silent where stderr is no terminal.
        let bar = match quiet {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        };
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        Self {
            plan,
            subject: plan.request.subject.name(),
            interrupts,
            output,
            quiet,
            bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())),
            since: Instant::now(),
            phase: "",
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

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
            // Without a terminal or a bar there is nothing to suspend.
            self.bar.suspend(|| out::note(&shown(text)));
        }
    }
}

fn hand_on(to: &mut dyn Write, output: &[u8]) -> std::io::Result<()> {
    to.write_all(output)?;
    to.flush()
}

impl Watcher for Watching<'_> {
    fn on_event(&mut self, event: Event<'_>) {
        match event {
            Event::Starting => self.enter("starting", "xctrace prepares to record"),
            Event::Recording => {
                let text = format!("recording {}; Ctrl-C stops and saves", self.subject);
                self.enter("recording", &text);
            }
            Event::Stopping => self.enter(
                "stopping",
                "stopping; once more Ctrl-C stops waiting for that",
            ),
            Event::Saving { bytes: size } => {
                let text = format!("xctrace saves the recording: {}", bytes(size));
                self.enter("saving", &text);
            }
            Event::TargetOutput(output) => self.bar.suspend(|| {
                // A reader that left does not end the recording.
                let _ = match self.output {
                    TargetOutput::Stdout => hand_on(&mut out::untouched(), output),
                    TargetOutput::Stderr => hand_on(&mut out::untouched_notes(), output),
                    TargetOutput::Dropped => Ok(()),
                };
            }),
            Event::Line(line) => self.bar.suspend(|| out::others_line(line)),
            Event::Warning(text) => self.say(&format!("xctrace: {text}")),
            Event::TryingAgain(why) => self.say(&format!("trying again: {why}")),
            Event::FoundElsewhere(path) => {
                self.say(&format!(
                    "xctrace saved it as {}; it is moved",
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

    fn check(&mut self, bundle: &Path) -> BundleVerdict {
        self.plan.check(bundle)
    }
}
