//! The progress of a batch, on stderr.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressStyle};
use metalens_analyzer::units::{count, counted};
use metalens_batch::BatchWatcher;

use crate::interrupt::Listening;
use crate::out;

/// A bar, and what is told once.
pub(super) struct Progress<'a> {
    listening: &'a Listening,
    quiet: bool,
    bar: ProgressBar,
}

impl<'a> Progress<'a> {
    pub(super) fn new(listening: &'a Listening, quiet: bool) -> Self {
        Self {
            listening,
            quiet,
            bar: ProgressBar::hidden(),
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl BatchWatcher for Progress<'_> {
    fn planned(&mut self, before: u64, ahead: u64) -> io::Result<()> {
        if self.quiet || before + ahead == 0 {
            return Ok(());
        }
        let what = match (before, ahead) {
            (0, _) => counted(ahead, "trace"),
            (_, 0) => format!("{}, all done before", counted(before, "trace")),
            _ => format!(
                "{} done before, {} to do",
                counted(before, "trace"),
                count(ahead)
            ),
        };
        writeln!(out::notes(), "{what}")?;

        if ahead > 0 {
            // indicatif itself stays silent where stderr is no terminal.
            let template = "{bar:30} {pos} of {len} traces, {eta} left";
            let style = ProgressStyle::with_template(template);
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            self.bar = ProgressBar::new(ahead).with_style(style);
        }
        Ok(())
    }

    fn advanced(&mut self) {
        self.bar.inc(1);
    }

    fn stopping(&mut self) {
        if !self.quiet {
            let said =
                "stopping: the reports that are begun are finished; Ctrl-C again leaves them";
            self.bar.suspend(|| out::note(said));
        }
    }

    fn is_abandoned(&self) -> bool {
        self.listening.times() >= 2
    }
}
