//! Packs the command buffers of the intervals that a page has in full: the stations of each, from its
//! encoding to its completion.

use std::collections::HashMap;

use metalens_analyzer::{Analysis, CommandBuffer};
use metalens_message::Ns;

use super::packed::Packed;
use super::pieces::IntervalPiece;

/// Packs the command buffers of intervals, and returns how many there are. Those of which only the time on
/// the GPU is recorded are left out.
///
/// For each interval comes its owner: 0 without a command buffer, 1 for the first of the next one, else 2
/// plus the number of later ones that have begun. Then for each command buffer: its start on the GPU after
/// that of the last one, and its length there; the other stations that are recorded as bits, and the time
/// of each of them after that start. Only the length and the bits have no sign.
pub(super) fn chains(
    analysis: &Analysis,
    pieces: &[&IntervalPiece<'_>],
    packed: &mut Packed,
) -> usize {
    let ids = pieces.iter().filter_map(|piece| piece.buffer);
    let mut known = analysis.command_buffers(ids);
    known.retain(|buffer| stations(buffer).iter().any(Option::is_some));

    let mut numbers = HashMap::new();
    let mut all = Packed::default();
    let mut last = analysis.report.window.start_ns;
    for piece in pieces {
        let place = |id| known.binary_search_by_key(&id, |buffer| buffer.id).ok();
        let buffer = piece.buffer.and_then(place).and_then(|at| known.get(at));
        let Some(buffer) = buffer else {
            packed.put(0);
            continue;
        };
        let begun = numbers.len();
        let number = *numbers.entry(buffer.id).or_insert(begun);
        packed.put((begun - number + 1) as u64);
        if number == begun {
            put_buffer(&mut all, buffer, last.0);
            last = Ns(buffer.gpu_ns.0);
        }
    }
    packed.append(all);
    numbers.len()
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
