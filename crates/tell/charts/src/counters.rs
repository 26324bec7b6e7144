//! Collects hardware counters and allocated memory as strips, in which a value nearer to the peak has a stronger shade.

use std::borrow::Cow;

use metalens_analyzer::{Analysis, CounterSample};

use crate::palette::Palette;
use crate::strip::{Band, BandItem, BandKind};

/// Parts of the range up to the peak, the lowest first.
const PARTS: [&str; 4] = ["below 25 %", "25 to 50 %", "50 to 75 %", "75 % or more"];

/// Strength of the shade of each part, as of performance states.
const SHADES: [f64; 4] = [0.0, 0.33, 0.67, 1.0];

/// Returns a strip for each track. The first explains the shades.
pub(crate) fn bands<'a>(analysis: &'a Analysis, palette: &Palette) -> Vec<Band<'a>> {
    let tracks = analysis.counter_tracks().into_iter().enumerate();
    let bands = tracks.map(|(at, track)| {
        let is_first = at == 0;
        let kinds = PARTS.into_iter().enumerate().map(|(part, words)| BandKind {
            fill: palette.state(SHADES.get(part).copied().unwrap_or(1.0)),
            legend: is_first.then(|| format!("{} {words} of its peak:", track.name)),
        });
        let item = |sample: &CounterSample| {
            let part = part(sample.value / track.peak);
            Some(BandItem {
                start_ns: sample.start_ns,
                end_ns: sample.end_ns?,
                name: Cow::Borrowed(*PARTS.get(part)?),
                kind: part,
            })
        };
        Band {
            kinds: kinds.collect(),
            items: track.samples.iter().filter_map(item).collect(),
            unknown: is_first.then_some("not sampled"),
            ..Band::new(track.name)
        }
    });
    bands.collect()
}

/// Returns the part of the range in which a share of the peak is.
fn part(share: f64) -> usize {
    [0.25, 0.5, 0.75]
        .into_iter()
        .filter(|&edge| share >= edge)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_begin_at_their_lower_edge() {
        let check = |share: f64, expected: usize| assert_eq!(part(share), expected, "{share}");
        check(0.0, 0);
        check(0.249_999, 0);
        check(0.25, 1);
        check(0.5, 2);
        check(0.75, 3);
        check(1.2, 3);
    }
}
