//! Decides whether the program waits for completions.
//!
//! An encoding that begins after a completion proves nothing: a program that never waits does the
//! same if its CPU is slower than the GPU and the latencies. What tells them apart is which of two
//! events the start of the encoding follows when times vary:
//!
//! ```text
//! waits    commit ···· completion ├── same ──┤ encoding
//! doesn't  commit ├────────── same ──────────┤ encoding
//! ```
//!
//! So the time from the last commit to the next encoding is compared with the time from that commit
//! to the completion. Its slope is 1 for a program that waits and 0 for one that does not. Both are
//! taken as differences from one pair to the next, so that work that changes slowly does not count.
//! If the times hardly vary, nobody can tell.

use std::cmp::Reverse;
use std::num::NonZeroU64;

use rustc_hash::FxHashMap;

use super::chain::Chain;
use super::steps::{Step, Steps};
use crate::report::{WaitVerdict, Waiting};

/// Smallest number of pairs that decide.
const PAIRS: usize = 12;
/// Slope above which a program waits, and below which it does not.
const HALF: f64 = 0.5;
/// Slope below which few pairs at irregular distances are no waits.
const BY_CHANCE: f64 = 0.75;
/// Number of standard errors that the slope must lie away from a half.
const ERRORS: f64 = 2.0;
/// Share of the largest changes that do not count, on either side: a pause tells nothing.
const TRIMMED: usize = 20;
/// Largest number of command buffers in flight that is looked for.
const DEEPEST: usize = 16;
/// Share of the command buffers before which a program must be seen to wait, unless it does so at
/// regular distances.
const MOST: f64 = 0.6;

/// Pair of a completion and the encoding that begins after it.
#[derive(Debug, Clone, Copy)]
struct Pair {
    /// Place of the command buffer that is encoded.
    place: usize,
    /// Time from the commit before to the completion.
    completed_after: f64,
    /// Time from that commit to the start of the encoding.
    encoded_after: f64,
}

/// Decides whether the program waits for completions, and for which ones. If its waits are recorded,
/// they tell.
pub(crate) fn waiting(steps: &Steps, chain: &Chain) -> Waiting {
    let list = &steps.list;
    if !chain.waits.is_empty() {
        return recorded(list, &chain.waits);
    }
    let of = list.len().saturating_sub(1) as u64;
    let mut undecided: Option<Waiting> = None;
    let mut may_wait = false;
    for lag in 1..=DEEPEST {
        let pairs = pairs(list, lag);
        if pairs.len() < PAIRS {
            continue;
        }
        let slope = slope(&pairs);
        let is_usual = is_most(&pairs, list.len()) || is_regular(&pairs);
        let verdict = verdict(slope, is_usual);
        may_wait |= is_usual && verdict == WaitVerdict::Unknown;
        let waiting = Waiting {
            verdict,
            is_recorded: false,
            in_flight: lag as u64,
            pairs: pairs.len() as u64,
            of,
            slope: slope.map(|(slope, _)| slope),
            slope_error: slope.map(|(_, error)| error),
        };
        if verdict == WaitVerdict::Waits {
            return waiting;
        }
        // The completions that most encodings come after are those that a wait would be for.
        if undecided
            .as_ref()
            .is_none_or(|other| waiting.pairs > other.pairs)
        {
            undecided = Some(waiting);
        }
    }
    let never = Waiting {
        of,
        ..Waiting::default()
    };
    // A program may wait seldom, and for another command buffer than most encodings come after.
    let undecided = undecided.map(|waiting| Waiting {
        verdict: if may_wait {
            WaitVerdict::Unknown
        } else {
            waiting.verdict
        },
        ..waiting
    });
    undecided.unwrap_or_else(|| Waiting {
        verdict: if is_never(list) {
            WaitVerdict::DoesNotWait
        } else {
            WaitVerdict::Unknown
        },
        ..never
    })
}

/// Decides by the waits that the program recorded: those that end between a commit and the next
/// encoding.
fn recorded(list: &[Step], waits: &[(u64, NonZeroU64)]) -> Waiting {
    let places: FxHashMap<NonZeroU64, usize> = list
        .iter()
        .enumerate()
        .map(|(place, step)| (step.id, place))
        .collect();
    let (mut pairs, mut lags) = (Vec::new(), [0_usize; DEEPEST + 1]);
    for (before, (place, step)) in list.iter().zip(list.iter().enumerate().skip(1)) {
        let Some(encoding_ns) = step.encoding_ns else {
            continue;
        };
        let ended = waits.partition_point(|&(end_ns, _)| as_i64(end_ns) <= encoding_ns);
        let last = ended.checked_sub(1).and_then(|last| waits.get(last));
        let Some(&(end_ns, id)) = last.filter(|(end_ns, _)| as_i64(*end_ns) > before.committed_ns)
        else {
            continue;
        };
        let lag = places
            .get(&id)
            .and_then(|&waited| place.checked_sub(waited));
        if let Some(count) = lags.get_mut(lag.unwrap_or(0).min(DEEPEST)) {
            *count += 1;
        }
        pairs.push(Pair {
            place,
            completed_after: as_f64(as_i64(end_ns) - before.committed_ns),
            encoded_after: as_f64(encoding_ns - before.committed_ns),
        });
    }
    let tried = lags.iter().enumerate().skip(1);
    let (in_flight, most) = tried
        .max_by_key(|&(lag, &count)| (count, Reverse(lag)))
        .unwrap_or((0, &0));
    Waiting {
        verdict: if pairs.is_empty() {
            WaitVerdict::DoesNotWait
        } else if is_most(&pairs, list.len()) || is_regular(&pairs) {
            WaitVerdict::Waits
        } else {
            WaitVerdict::Unknown
        },
        is_recorded: true,
        in_flight: if *most > 0 { in_flight as u64 } else { 0 },
        pairs: pairs.len() as u64,
        of: list.len().saturating_sub(1) as u64,
        slope: None,
        slope_error: None,
    }
}

/// Decides by the slope. Pairs that happen to look like waits are few, and come at any distance.
fn verdict(slope: Option<(f64, f64)>, is_usual: bool) -> WaitVerdict {
    match slope {
        Some((slope, error)) if slope - ERRORS * error > HALF && is_usual => WaitVerdict::Waits,
        Some((slope, error)) if slope + ERRORS * error < HALF => WaitVerdict::DoesNotWait,
        // Of the pairs of a program that does not wait, those with an early completion are left, which
        // makes a slope of its own.
        Some((slope, _)) if !is_usual && slope < BY_CHANCE => WaitVerdict::DoesNotWait,
        _ => WaitVerdict::Unknown,
    }
}

/// Returns whether the recording shows enough commits and encodings of a program that never encodes
/// after a completion.
fn is_never(list: &[Step]) -> bool {
    list.len() > PAIRS
        && list
            .iter()
            .all(|step| step.encoding_ns.is_some() && step.completed_ns.is_some())
}

/// Returns the pairs in which the last completion before an encoding is that of the command buffer
/// this many places before, and came after the last commit.
fn pairs(list: &[Step], lag: usize) -> Vec<Pair> {
    let places = lag.max(1)..list.len();
    places
        .filter_map(|place| {
            let last = list.get(place - 1)?;
            let completed_ns = list.get(place - lag)?.completed_ns?;
            let encoding_ns = list.get(place)?.encoding_ns?;
            // A later completion before the encoding would be what the program waited for.
            let is_last = lag == 1
                || list
                    .get(place - lag + 1)
                    .and_then(|next| next.completed_ns)
                    .is_none_or(|next_ns| next_ns > encoding_ns);
            let waited = is_last && completed_ns > last.committed_ns && completed_ns <= encoding_ns;
            waited.then(|| Pair {
                place,
                completed_after: as_f64(completed_ns - last.committed_ns),
                encoded_after: as_f64(encoding_ns - last.committed_ns),
            })
        })
        .collect()
}

/// Returns the slope of the encodings over the completions, and its standard error; `None` if the
/// completions do not vary.
fn slope(pairs: &[Pair]) -> Option<(f64, f64)> {
    let mut changes: Vec<(f64, f64)> = pairs
        .windows(2)
        .filter_map(|two| match two {
            [a, b] => Some((
                b.completed_after - a.completed_after,
                b.encoded_after - a.encoded_after,
            )),
            _ => None,
        })
        .collect();
    let cut = changes.len() / TRIMMED;
    let size = |(x, y): &(f64, f64)| x.abs().max(y.abs());
    changes.sort_by(|a, b| size(a).total_cmp(&size(b)));
    changes.truncate(changes.len() - cut);

    let squares: f64 = changes.iter().map(|(x, _)| x * x).sum();
    let products: f64 = changes.iter().map(|(x, y)| x * y).sum();
    if squares <= 0.0 {
        return None;
    }
    let slope = products / squares;
    let rest: f64 = changes.iter().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let freedom = as_f64(changes.len() as i64).max(2.0) - 1.0;
    // Neighboring differences share a pair, so that they carry half of the information.
    let error = (2.0 * rest / freedom / squares).sqrt();
    Some((slope, error))
}

fn is_most(pairs: &[Pair], steps: usize) -> bool {
    as_f64(pairs.len() as i64) >= MOST * as_f64(steps as i64)
}

/// Returns whether nearly all pairs come at the same distance: the program waits for every n-th
/// command buffer. Pairs that happen to look like waits come at any distance.
fn is_regular(pairs: &[Pair]) -> bool {
    let mut distances: Vec<usize> = pairs
        .windows(2)
        .filter_map(|two| match two {
            [a, b] => Some(b.place - a.place),
            _ => None,
        })
        .collect();
    distances.sort_unstable();
    let median = distances.get(distances.len() / 2).copied().unwrap_or(0);
    let usual = distances.iter().filter(|&&each| each == median).count();
    usual * 5 >= distances.len() * 4
}

fn as_i64(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn as_f64(value: i64) -> f64 {
    value as f64
}
