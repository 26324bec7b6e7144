//! Shows the progress of reading a recording as a bar on stderr.

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use metalens_trace::{LoadOptions, Progress};

use crate::reading::Reading;

/// Time before the bar appears: short readings have none.
const PATIENCE: Duration = Duration::from_millis(500);

/// Reads with these options, and shows a bar while it takes long.
pub(crate) fn reading<T>(
    reading: Reading,
    quiet: bool,
    read: impl FnOnce(LoadOptions<'_>) -> T,
) -> T {
    let start = Instant::now();
    let bar = OnceCell::new();
    let update = |progress: Progress| {
        if start.elapsed() > PATIENCE {
            let bar = bar.get_or_init(|| new_bar(progress.total));
            bar.set_position(progress.done);
        }
    };

    let result = read(LoadOptions {
        run: reading.run,
        allow_truncated: reading.allow_truncated,
        progress: if quiet { None } else { Some(&update) },
    });

    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    result
}

/// Returns a bar, which indicatif draws only if stderr is a terminal.
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
