//! Draws charts of characters, for terminals and for pages without pictures.

use metalens_message::Ns;
use metalens_text::units::rough_time;

use crate::document::{BarPart, StepBar};

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Column without any work; the smallest work looks different.
pub(crate) const NONE: char = '·';

/// Returns the nearest of eight heights; any work at all is visible.
pub(crate) fn column(busy_ns: Ns, length_ns: Ns) -> char {
    if busy_ns == Ns(0) {
        return NONE;
    }
    let (busy, length) = (busy_ns.wide(), length_ns.wide().max(1));
    let height = (16 * busy + length) / (2 * length);
    let height = usize::try_from(height).unwrap_or(LEVELS.len());
    LEVELS[height.clamp(1, LEVELS.len()) - 1]
}

/// Draws shares over time, given in thousandths, with at most twenty characters.
pub(crate) fn over_time(shares: &[u16]) -> String {
    const LETTERS: usize = 20;
    let each = shares.len().div_ceil(LETTERS).max(1);
    let letter = |some: &[u16]| {
        let busy: u64 = some.iter().map(|&share| u64::from(share)).sum();
        column(Ns(busy), Ns(some.len() as u64 * 1_000))
    };
    shares.chunks(each).map(letter).collect()
}

/// Draws a bar whose full length is the whole; any part at all is visible.
pub(crate) fn bar(part: Ns, whole: Ns, width: usize) -> String {
    let eighths = |part: Ns| part.wide() * (width as u128 * 8) / whole.wide().max(1);
    let filled = usize::try_from(eighths(part))
        .unwrap_or(0)
        .max(usize::from(part > Ns(0)));
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let rest = partial.get(filled % 8).unwrap_or(&"");
    format!("{}{rest}", "█".repeat(filled / 8))
}

/// Draws steps on one scale, each with its name, and explains the letters.
pub(crate) fn steps(steps: &[StepBar]) -> (Vec<(String, String)>, String) {
    /// Number of letters of the longest step.
    const WIDTH: u64 = 40;
    /// Letters of the causes with the most time; the others have [`NONE`].
    const CAUSES: [char; 3] = ['▓', '▒', '░'];
    let scale = steps
        .iter()
        .map(StepBar::length_ns)
        .max()
        .unwrap_or_default()
        .max(Ns(1));
    let Some(first) = steps.first() else {
        return (Vec::new(), String::new());
    };
    let is_idle = |&&(part, _): &&(BarPart, Ns)| !part.is_busy();
    let mut idle: Vec<(BarPart, Ns)> = first.parts.iter().filter(is_idle).copied().collect();
    idle.sort_by_key(|&(_, ns)| std::cmp::Reverse(ns));
    // A part without a letter of its own is not worth a name.
    let named = idle.iter().take_while(|(_, ns)| *ns * WIDTH >= scale);
    let named = named.count().min(CAUSES.len());
    let letter = |part: BarPart| match part {
        BarPart::Gpu | BarPart::Roof => '█',
        BarPart::AboveRoof => '▄',
        part => {
            let place = idle.iter().position(|&(each, _)| each == part);
            place
                .filter(|&place| place < named)
                .and_then(|place| CAUSES.get(place))
                .copied()
                .unwrap_or(NONE)
        }
    };
    let lines = steps.iter().map(|step| {
        let (mut drawn, mut passed, mut letters) = (String::new(), Ns(0), 0);
        for &(part, ns) in &step.parts {
            passed += ns;
            let until = (2 * passed * WIDTH + scale).0 / (2 * scale.0);
            drawn.extend((letters..until).map(|_| letter(part)));
            letters = until;
        }
        (step.name.clone(), format!("{drawn} {}", step.told()))
    });
    let gpu = first.parts.iter().filter(|each| !is_idle(each));
    let told = gpu.chain(idle.iter().take(named));
    let told =
        told.map(|&(part, ns)| format!("{} {} {}", letter(part), part.label(), rough_time(ns.0)));
    let rest: Ns = idle.iter().skip(named).map(|&(_, ns)| ns).sum();
    let rest = (100 * rest >= scale).then(|| format!("{NONE} other causes {}", rough_time(rest.0)));
    let legend: Vec<String> = told.chain(rest).collect();
    (lines.collect(), legend.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_rounded_and_any_work_is_visible() {
        let check = |busy: u64, length: u64, expected: char| {
            assert_eq!(column(Ns(busy), Ns(length)), expected, "{busy} of {length}");
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

    #[test]
    fn shares_over_time() {
        assert_eq!(over_time(&[0, 1, 500, 1_000]), "·▁▄█");
        assert_eq!(over_time(&[700; 60]).chars().count(), 20);
        assert_eq!(over_time(&[]), "");
    }
}
