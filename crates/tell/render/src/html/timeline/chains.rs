//! Packs the command buffers of the intervals that a page has in full: the stations of each, from its
//! encoding to its completion.

use std::collections::HashMap;

use metalens_analyzer::{Analysis, ChainSource, CommandBuffer};
use serde::Serialize;

use super::packed::Packed;
use super::pieces::IntervalPiece;

/// The command buffers as the page's script reads them.
#[derive(Debug, Serialize)]
pub(super) struct Chains {
    count: usize,
    /// For each command buffer: its start on the GPU after that of the last one, and its length there;
    /// the other stations that are recorded as bits, and the time of each of them after that start. Only
    /// the length has no sign.
    stations: String,
    /// For each interval: 0 without a command buffer, 1 for the first of the next one, else 2 plus the
    /// number of later ones that have begun.
    owners: String,
    /// True if the end of the driver's work counts as the submission.
    submits_at_end: bool,
}

/// Packs the command buffers of intervals. Those of which only the time on the GPU is recorded are left
/// out.
pub(super) fn chains(analysis: &Analysis, pieces: &[&IntervalPiece<'_>], full: [u64; 2]) -> Chains {
    let report = &analysis.report;
    let origin = report.window.start_ns;
    let [from, to] = full.map(|ns| origin + ns);
    let mut known = analysis.command_buffers(from, to);
    known.retain(|buffer| stations(buffer).iter().any(Option::is_some));

    let mut numbers = HashMap::new();
    let [mut packed, mut owners] = [(); 2].map(|()| Packed::default());
    let mut last = origin;
    for piece in pieces {
        let place = |id| known.binary_search_by_key(&id, |buffer| buffer.id).ok();
        let buffer = piece.buffer.and_then(place).and_then(|at| known.get(at));
        let Some(buffer) = buffer else {
            owners.put(0);
            continue;
        };
        let begun = numbers.len();
        let number = *numbers.entry(buffer.id).or_insert(begun);
        owners.put((begun - number + 1) as u64);
        if number == begun {
            put_buffer(&mut packed, buffer, last);
            last = buffer.gpu_ns.0;
        }
    }
    Chains {
        count: numbers.len(),
        stations: packed.into_text(),
        owners: owners.into_text(),
        submits_at_end: report.latency.driver_source == Some(ChainSource::Order),
    }
}

/// Returns the stations beside those on the GPU, in order.
fn stations(buffer: &CommandBuffer) -> [Option<i128>; 6] {
    let encoded = buffer.encoded_ns.unzip();
    [
        encoded.0.map(i128::from),
        encoded.1.map(i128::from),
        buffer.committed_ns.map(i128::from),
        buffer.driver_ns.map(i128::from),
        buffer.submitted_ns.map(i128::from),
        buffer.completed_ns.map(i128::from),
    ]
}

fn put_buffer(packed: &mut Packed, buffer: &CommandBuffer, last_start_ns: u64) {
    let (start_ns, end_ns) = buffer.gpu_ns;
    let start = i128::from(start_ns);
    packed.put_signed(start - i128::from(last_start_ns));
    packed.put(end_ns - start_ns);
    let stations = stations(buffer);
    let there = stations.iter().enumerate().filter(|(_, at)| at.is_some());
    packed.put(there.map(|(station, _)| 1 << station).sum());
    for at in stations.into_iter().flatten() {
        packed.put_signed(at - start);
    }
}
