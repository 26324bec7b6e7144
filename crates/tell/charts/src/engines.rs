//! Collects the work of engines beside the GPU's channels as strips, one for each engine, and the
//! frames as another.

use std::borrow::Cow;
use std::collections::HashMap;

use metalens_analyzer::{Analysis, StateInterval};

use crate::palette::Palette;
use crate::strip::{Band, BandItem, BandKind};

/// Returns the strips; none if the recording has no work of engines.
pub(crate) fn bands<'a>(analysis: &'a Analysis, palette: &Palette) -> Vec<Band<'a>> {
    let engines = analysis.engines();
    engines
        .filter(|(_, intervals)| !intervals.is_empty())
        .map(|(name, intervals)| Band {
            items: items(intervals, palette),
            kinds: palette
                .phases
                .map(|fill| BandKind { fill, legend: None })
                .into(),
            is_cut: true,
            has_share: true,
            ..Band::new(name)
        })
        .collect()
}

/// Returns the intervals without overlap: one that begins inside another extends it.
fn items<'a>(intervals: &'a [StateInterval], palette: &Palette) -> Vec<BandItem<'a>> {
    let mut shades: HashMap<&str, usize> = HashMap::new();
    let mut items: Vec<BandItem<'a>> = Vec::new();
    for (at, interval) in intervals.iter().enumerate() {
        match items.last_mut() {
            Some(last) if interval.start_ns < last.end_ns => {
                last.end_ns = last.end_ns.max(interval.end_ns);
            }
            _ => {
                // Frames have a name each; their neighbors differ too.
                let next = at % palette.phases.len();
                items.push(BandItem {
                    start_ns: interval.start_ns,
                    end_ns: interval.end_ns,
                    name: Cow::Borrowed(&interval.what),
                    kind: *shades.entry(&interval.what).or_insert(next),
                });
            }
        }
    }
    items
}
