//! Decides which of two earlier events a later one follows: the one from which the distance varies less.
//!
//! The distances are compared from one pair to the next, so that work that changes slowly does not
//! count, and no change counts for much, so that a pause does not. Resampled pairs tell how sure the answer is.

use metalens_text::number::Float;
use rustc_hash::FxHashMap;

use super::statistics::median;

/// Number of times that the pairs are resampled.
const SAMPLES: usize = 100;
/// Smallest factor between two distances of which one varies more.
const ALIKE: f64 = 1.02;
/// Largest number of changes that are looked at.
const MOST: usize = 1_024;

/// Distances of an event from two earlier ones. Only those of one kind are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Distances {
    pub first_ns: i64,
    pub second_ns: i64,
    pub kind: u64,
}

/// Answer to the question whether an event follows the first of two earlier ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Follows {
    /// Share of the resampled pairs in which the first distance varies less than the second: 1 if the
    /// event surely follows the first one, 0 if it surely follows the second.
    pub share: f64,
    /// Usual change of the first distance, as a share of that of the second.
    pub ratio: f64,
    /// Usual change of the first distance, in nanoseconds.
    pub change_ns: i64,
}

/// Decides what the events follow, which come in order.
pub(crate) fn follows(distances: &[Distances]) -> Follows {
    let mut changes = changes(distances, |each| each.kind);
    if changes.iter().all(|&change| change == (0, 0)) {
        changes = self::changes(distances, |_| 0);
    }
    // A pause changes both distances alike: what is longer than usual counts as usual.
    let (first, second): (Vec<i64>, Vec<i64>) = changes.iter().copied().unzip();
    let usual = |changes| median(changes).unwrap_or(0);
    let (first_ns, second_ns) = (usual(first), usual(second));
    let most = 4 * first_ns.max(second_ns).max(1);
    // How much less the first distance changes than the second.
    let less: Vec<i64> = changes
        .iter()
        .map(|&(first, second)| second.min(most) - first.min(most))
        .collect();
    // A generator with a fixed seed: the same recording gives the same answer.
    let mut state: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % (below as u64)).unwrap_or(0)
    };
    let mut halves: u32 = 0;
    for _ in 0..SAMPLES {
        let sample = (0..less.len()).filter_map(|_| less.get(next(less.len())));
        halves += match sample.sum::<i64>().cmp(&0) {
            std::cmp::Ordering::Greater => 2,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Less => 0,
        };
    }
    let share = f64::from(halves) / (2.0 * SAMPLES.float());
    let ratio = first_ns.float() / (second_ns.max(1)).float();
    let is_alike = (1.0 / ratio.max(f64::MIN_POSITIVE)).max(ratio) < ALIKE;
    Follows {
        // Of two that vary alike, nobody can tell which one is followed.
        share: if is_alike {
            share.clamp(0.1, 0.9)
        } else {
            share
        },
        ratio,
        change_ns: first_ns,
    }
}

/// Returns how far both distances change from one event to the next of its kind, of many events in parts
/// that are evenly spread.
fn changes(distances: &[Distances], kind: impl Fn(&Distances) -> u64) -> Vec<(i64, i64)> {
    let mut last: FxHashMap<u64, &Distances> = FxHashMap::default();
    let mut changes = Vec::with_capacity(distances.len());
    for now in distances {
        if let Some(before) = last.insert(kind(now), now) {
            changes.push((
                (now.first_ns - before.first_ns).abs(),
                (now.second_ns - before.second_ns).abs(),
            ));
        }
    }
    let step = (changes.len() / MOST).max(1);
    changes.into_iter().step_by(step).collect()
}
