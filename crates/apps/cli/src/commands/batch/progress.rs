//! Prints the progress of a batch on stderr.

use std::io::{self, Write};

use indicatif::ProgressBar;
use metalens_batch::BatchWatcher;
use metalens_text::units::{count, counted};

use crate::interrupt::Listening;
use crate::{out, progress};

/// A progress bar, and lines before and below it.
pub(super) struct BatchProgress<'a> {
    listening: &'a Listening,
    quiet: bool,
    bar: ProgressBar,
}

impl<'a> BatchProgress<'a> {
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

impl BatchWatcher for BatchProgress<'_> {
    fn planned(&mut self, before: u64, ahead: u64) -> io::Result<()> {
        if self.quiet || before + ahead == 0 {
            return Ok(());
        }

        let plan = match (before, ahead) {
            (0, _) => counted(ahead, "recording"),
            (_, 0) => format!("{}, all up to date", counted(before, "recording")),
            _ => format!(
                "{} up to date, {} to analyze",
                counted(before, "recording"),
                count(ahead)
            ),
        };
        writeln!(out::notes(), "{plan}")?;

        if ahead > 0 {
            // indicatif draws nothing if stderr is not a terminal.
            let template = "{bar:30} {pos} of {len} recordings, {eta} left";
            self.bar = progress::with_template(ProgressBar::new(ahead), template);
        }
        Ok(())
    }

    fn advanced(&mut self) {
        self.bar.inc(1);
    }

    fn stopping(&mut self) {
        if !self.quiet {
            let message = "stopping after the reports in progress; Ctrl-C again stops at once";
            self.bar.suspend(|| out::note(message));
        }
    }

    fn is_abandoned(&self) -> bool {
        self.listening.times() >= 2
    }
}
