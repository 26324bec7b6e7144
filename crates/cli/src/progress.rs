//! How far a long reading has come: a bar on stderr, only on a terminal.

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use metalens_trace::{LoadOptions, Progress};

use crate::reading::Reading;

/// What takes less time is not worth a bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Runs a reading with a bar beside it, and takes the bar away again.
pub(crate) fn reading<T>(how: Reading, quiet: bool, read: impl FnOnce(LoadOptions<'_>) -> T) -> T {
    let began = Instant::now();
    let bar = OnceCell::new();
    let tell = |progress: Progress| {
        if began.elapsed() > PATIENCE {
            let bar = bar.get_or_init(|| new_bar(progress.total));
            bar.set_position(progress.done);
        }
    };
    let result = read(LoadOptions {
        run: how.run,
        allow_truncated: how.allow_truncated,
        progress: if quiet { None } else { Some(&tell) },
    });
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    result
}

/// indicatif itself stays silent where stderr is no terminal.
fn new_bar(total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "reading {bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        ),
        None => (
            ProgressBar::no_length(),
            "reading {spinner} {bytes}, {bytes_per_sec}",
        ),
    };
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
