//! How long two channels of the target were busy at once.

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use crate::basics::spans::{Span, length_ns, overlap_ns, union};
use crate::basics::statistics::ratio;
use crate::report::ChannelOverlap;
use crate::subject::timeline::Interval;

/// Pairs grow with the square of this; no GPU seen has more.
const CHANNELS: usize = 8;

struct Used {
    name: Option<String>,
    busy: Vec<Span>,
    busy_ns: u64,
}

/// Each pair of the busiest channels, by name.
pub(super) fn overlap(mine: &[Interval], window: Span, names: &Names) -> Vec<ChannelOverlap> {
    let used = used(mine, window, names);
    let pairs = used.iter().enumerate();
    let pairs = pairs.flat_map(|(at, one)| used.iter().skip(at + 1).map(move |two| (one, two)));
    let overlaps = pairs.map(|(one, two)| {
        let overlap_ns = overlap_ns(&one.busy, &two.busy);
        ChannelOverlap {
            first: one.name.clone(),
            second: two.name.clone(),
            overlap_ns,
            ratio: ratio(overlap_ns, one.busy_ns.min(two.busy_ns)),
        }
    });
    overlaps.collect()
}

fn used(mine: &[Interval], window: Span, names: &Names) -> Vec<Used> {
    let Some(first) = mine.first() else {
        return Vec::new();
    };
    if mine.iter().all(|one| one.channel == first.channel) {
        return Vec::new();
    }
    let mut spans: FxHashMap<Option<Symbol>, Vec<Span>> = FxHashMap::default();
    for one in mine {
        let spans = spans.entry(one.channel).or_default();
        spans.push(one.span.clip(window));
    }
    let used = spans.into_iter().map(|(channel, spans)| {
        let busy = union(spans);
        Used {
            name: channel.map(|channel| names.text(channel).to_owned()),
            busy_ns: length_ns(&busy),
            busy,
        }
    });
    let mut used: Vec<Used> = used.collect();
    used.sort_by(|a, b| (b.busy_ns, &a.name).cmp(&(a.busy_ns, &b.name)));
    used.truncate(CHANNELS);
    used.sort_by(|a, b| a.name.cmp(&b.name));
    used
}
