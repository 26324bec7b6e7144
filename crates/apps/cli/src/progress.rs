//! Shows the progress of reading and analyzing a recording on stderr.

use std::cell::OnceCell;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use metalens_trace::{Input, LoadOptions, Progress, Selection, Trace};

use crate::out;
use crate::reading::Reading;

/// Time before the bar appears: short readings have none.
const PATIENCE: Duration = Duration::from_millis(500);

/// Work that has a line on the terminal once it takes long. The line goes when the work is done.
pub(crate) struct LongWork {
    start: Instant,
    quiet: bool,
    bar: OnceCell<ProgressBar>,
}

impl LongWork {
    /// Begins the work now. Off a terminal nothing is counted.
    pub(crate) fn begin(quiet: bool) -> Self {
        Self {
            start: Instant::now(),
            quiet: quiet || !out::are_notes_on_terminal(),
            bar: OnceCell::new(),
        }
    }

    /// Opens an input and loads its tables, and shows how much is read.
    pub(crate) fn load(
        &self,
        path: &Path,
        selection: &Selection,
        reading: Reading,
    ) -> metalens_trace::Result<Trace> {
        let input = Input::open(path)?;
        self.reading(reading, |options| input.load(selection, options))
    }

    /// Reads with these options, and shows how much is read. What follows is shown as analyzing.
    pub(crate) fn reading<T>(
        &self,
        reading: Reading,
        read: impl FnOnce(LoadOptions<'_>) -> T,
    ) -> T {
        let update = |progress: Progress| {
            // It counts from the start, so that its rate is right when it appears.
            let bar = self.bar.get_or_init(|| new_bar(progress.total));
            bar.set_position(progress.done);
            self.show(bar);
        };
        let result = read(LoadOptions {
            run: reading.run,
            allow_truncated: reading.allow_truncated,
            progress: if self.quiet { None } else { Some(&update) },
        });

        if let Some(bar) = self.bar.get() {
            bar.set_style(style("analyzing"));
            self.show(bar);
            bar.tick();
        }
        result
    }

    /// Shows the bar if the work has taken long.
    fn show(&self, bar: &ProgressBar) {
        if bar.is_hidden() && self.start.elapsed() > PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for LongWork {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// Returns a bar that is not shown yet.
fn new_bar(total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "reading {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        None => "reading {spinner} {bytes}, {bytes_per_sec}",
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    with_template(bar, template)
}

/// Returns a bar that is drawn as a template says.
pub(crate) fn with_template(bar: ProgressBar, template: &str) -> ProgressBar {
    bar.with_style(style(template))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
