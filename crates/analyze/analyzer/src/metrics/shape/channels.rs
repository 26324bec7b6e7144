//! Computes the time during which two channels of the process were busy at once.

use metalens_message::{Ns, share};
use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use crate::basics::spans::{Span, length_ns, overlap_ns, union};
use crate::report::ChannelOverlap;
use crate::subject::interval::Interval;

/// Largest number of channels that are compared: pairs grow with its square, and no GPU seen
/// has more.
const CHANNELS: usize = 8;

/// Channel with its busy time.
struct BusyChannel {
    name: Option<String>,
    busy: Vec<Span>,
    busy_ns: u64,
}

/// Returns the overlap of each pair of the busiest channels, by name.
pub(super) fn overlap(mine: &[Interval], window: Span, names: &Names) -> Vec<ChannelOverlap> {
    let channels = busiest(mine, window, names);
    let pairs = channels.iter().enumerate().flat_map(|(index, first)| {
        let others = channels.iter().skip(index + 1);
        others.map(move |second| (first, second))
    });

    let overlaps = pairs.map(|(first, second)| {
        let overlap_ns = overlap_ns(&first.busy, &second.busy);
        ChannelOverlap {
            first: first.name.clone(),
            second: second.name.clone(),
            overlap_ns: Ns(overlap_ns),
            ratio: share(overlap_ns, first.busy_ns.min(second.busy_ns)),
        }
    });
    overlaps.collect()
}

/// Returns the busiest channels, sorted by name; none if there is only one.
fn busiest(mine: &[Interval], window: Span, names: &Names) -> Vec<BusyChannel> {
    let Some(first) = mine.first() else {
        return Vec::new();
    };
    if mine
        .iter()
        .all(|interval| interval.channel == first.channel)
    {
        return Vec::new();
    }

    let mut spans: FxHashMap<Option<Symbol>, Vec<Span>> = FxHashMap::default();
    for interval in mine {
        let spans = spans.entry(interval.channel).or_default();
        spans.push(interval.span.clip(window));
    }

    let mut channels: Vec<BusyChannel> = spans
        .into_iter()
        .map(|(channel, spans)| {
            let busy = union(spans);
            BusyChannel {
                name: channel.map(|channel| names.text(channel).to_owned()),
                busy_ns: length_ns(&busy),
                busy,
            }
        })
        .collect();
    channels.sort_by(|a, b| (b.busy_ns, &a.name).cmp(&(a.busy_ns, &b.name)));
    channels.truncate(CHANNELS);
    channels.sort_by(|a, b| a.name.cmp(&b.name));
    channels
}
