//! What is shown while a recording is made, and what its bundle must hold.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use metalens_analyzer::Request;
use metalens_analyzer::units::bytes;
use metalens_failure::Failure;
use metalens_recorder::{Check, Event, Watcher, Wish};
use metalens_text::shown;
use metalens_trace::{Input, Problem};

use super::plan::Plan;
use crate::analyzing::{Reading, analysis};

use crate::interrupt::Listening;
use crate::out;

/// A line on stderr that tells what goes on; the target's output goes through.
pub(super) struct Watching<'a> {
    plan: &'a Plan,
    interrupts: &'a Listening,
    quiet: bool,
    bar: ProgressBar,
    since: Instant,
    phase: &'static str,
}

impl<'a> Watching<'a> {
    pub(super) fn new(plan: &'a Plan, interrupts: &'a Listening, quiet: bool) -> Self {
        // indicatif itself stays silent where stderr is no terminal.
        let bar = match quiet {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        };
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        Self {
            plan,
            interrupts,
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
    fn happened(&mut self, event: Event<'_>) {
        match event {
            Event::Starting => self.enter("starting", "xctrace prepares to record"),
            Event::Recording => {
                let text = format!("recording {}; Ctrl-C stops and saves", self.plan.subject);
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
            Event::TargetOutput(_) if self.plan.is_target_silent => {}
            Event::TargetOutput(output) => self.bar.suspend(|| {
                // A reader that left does not end the recording.
                let _ = match self.plan.keeps_stdout {
                    true => hand_on(&mut out::untouched_notes(), output),
                    false => hand_on(&mut out::untouched(), output),
                };
            }),
            Event::Line(line) => self.bar.suspend(|| out::others_line(line)),
            Event::Trouble(text) => self.say(&format!("xctrace: {text}")),
            Event::TryingAgain(why) => self.say(&format!("trying again: {why}")),
            Event::FoundElsewhere(path) => {
                self.say(&format!(
                    "xctrace saved it as {}; it is moved",
                    path.display()
                ));
            }
        }
    }

    fn wish(&mut self) -> Wish {
        match self.interrupts.times() {
            0 => Wish::GoOn,
            1 => Wish::Stop,
            _ => Wish::GiveUp,
        }
    }

    /// A recording of the GPU must have GPU work of its target.
    fn check(&mut self, bundle: &Path) -> Check {
        let checked = match self.plan.is_about_gpu {
            true => analyzed(bundle),
            false => Input::open(bundle).map(drop).map_err(Into::into),
        };
        let record = &self.plan.request.record;
        if record.append_run && runs(bundle) <= runs(&record.output) {
            let why = "no run was added to what was there";
            return Check::Unreadable(why.to_owned());
        }
        let Err(error) = checked else {
            return Check::Good;
        };
        match judge(&error) {
            // Newer than what metalens has seen it may be; without that nobody can read it.
            Check::Doubtful(_) if !bundle.join("form.template").exists() => {
                let why = "it has no form.template, without which nobody can open it";
                Check::Unreadable(why.to_owned())
            }
            judged => judged,
        }
    }
}

/// How many runs a bundle has, as far as it can be read.
fn runs(bundle: &Path) -> usize {
    let input = Input::open(bundle).ok();
    let toc = input.as_ref().and_then(Input::toc);
    toc.map_or(0, |toc| toc.runs.len())
}

fn analyzed(bundle: &Path) -> anyhow::Result<()> {
    analysis(bundle, Reading::default(), &Request::default(), true).map(drop)
}

fn judge(error: &anyhow::Error) -> Check {
    use metalens_analyzer::Error;
    let hint = match error.downcast_ref::<Error>() {
        Some(known) => known.hint(),
        None => None,
    };
    let why = match hint {
        Some(hint) => format!("{error:#}: {hint}"),
        None => format!("{error:#}"),
    };
    let trace = match error.downcast_ref::<Error>() {
        Some(Error::Trace(error)) => Some(error),
        Some(
            Error::NoRows { .. }
            | Error::NoTargetRows { .. }
            | Error::NoProcesses { .. }
            | Error::OnlyCpu { .. },
        ) => {
            return Check::Empty(why);
        }
        Some(_) => return Check::Doubtful(why),
        None => error.downcast_ref::<metalens_trace::Error>(),
    };
    match trace.map(metalens_trace::Error::problem) {
        // Newer than what metalens has seen, perhaps; xctrace may know it.
        Some(Problem::UnsupportedBundle { .. } | Problem::UnreadableTable { .. }) => {
            Check::Doubtful(format!("metalens cannot read it natively: {why}"))
        }
        Some(_) => Check::Unreadable(why),
        None => Check::Doubtful(why),
    }
}
