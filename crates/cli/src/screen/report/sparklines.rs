//! The window at a glance: how busy the GPU was, part by part.

use metalens_analyzer::units::{percent, short_time};
use metalens_analyzer::{Chunk, Report};

use super::Screen;
use crate::screen::style::FAINT;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// No work at all: the least of work looks different.
const NONE: char = '·';

/// A line for the target, and one for others if there was anything of theirs.
pub(super) fn sparklines(report: &Report, screen: &mut Screen) {
    let chunks = &report.shape.utilisation;
    let [first, second, ..] = chunks.as_slice() else {
        return;
    };
    screen.line("");
    line("busy", report, |chunk| chunk.busy_ns, screen);
    if chunks.iter().any(|chunk| chunk.foreign_ns > 0) {
        line("others", report, |chunk| chunk.foreign_ns, screen);
    }
    let each = short_time(second.start_ns - first.start_ns);
    let full = percent(1.0);
    let legend = format!("each column is {each}; full height is {full} busy, {NONE} is no work");
    screen.line(format!("  {FAINT}{:8}{legend}{FAINT:#}", ""));
}

fn line(name: &str, report: &Report, busy: impl Fn(&Chunk) -> u64, screen: &mut Screen) {
    let chunks = &report.shape.utilisation;
    let ends = chunks.iter().skip(1).map(|next| next.start_ns);
    let ends = ends.chain([report.window.end_ns]);
    let columns = chunks.iter().zip(ends);
    let columns: String = columns
        .map(|(chunk, end_ns)| column(busy(chunk), end_ns - chunk.start_ns))
        .collect();
    screen.line(format!("  {FAINT}{name:<6}{FAINT:#}  {columns}"));
}

/// The nearest of the eight heights; whatever is there shows.
fn column(busy_ns: u64, length_ns: u64) -> char {
    if busy_ns == 0 {
        return NONE;
    }
    let (busy, length) = (u128::from(busy_ns), u128::from(length_ns.max(1)));
    let height = (16 * busy + length) / (2 * length);
    let height = usize::try_from(height).unwrap_or(LEVELS.len());
    LEVELS[height.clamp(1, LEVELS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights() {
        let check = |busy: u64, length: u64, expected: char| {
            assert_eq!(column(busy, length), expected, "{busy} of {length}");
        };
        check(0, 1_600, '·');
        check(1, u64::MAX, '▁');
        check(299, 1_600, '▁');
        check(300, 1_600, '▂');
        check(800, 1_600, '▄');
        check(1_499, 1_600, '▇');
        check(1_500, 1_600, '█');
        check(u64::MAX, u64::MAX, '█');
        check(0, 0, '·');
    }
}
