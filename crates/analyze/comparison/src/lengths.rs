//! Tells the lengths of instances apart where one name has several of them, such as the shapes of one matrix
//! multiplication, or all kernels without a label. Then the median tells which length half of the instances
//! have, and not how fast they are:
//!
//! ```text
//! base  ████████▏50 µs  ████████▏400 µs     median 400 µs
//! new   ███████████▏50 µs  █████▏400 µs     median  50 µs, and each is as fast
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::difference::Sides;
use crate::runs::KernelRuns;
use crate::statistics::{median, median_of_known};
use metalens_message::Number;
use metalens_text::number::Float;

/// Least factor between two neighbors that are different lengths.
const APART: f64 = 1.25;
/// One in this many instances has a length at least; fewer are a tail.
const PARTS: usize = 8;
/// Share of the instances by which another mix of the same lengths differs.
const MIX: f64 = 0.1;
/// The same where a side has a length that the other lacks.
const OTHER_MIX: f64 = 0.2;

/// Length that many instances of a kernel have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelLength {
    /// Median of these instances in nanoseconds. Null on a side that has none.
    pub med_ns: Sides<Option<Number>>,
    /// Share of the instances that have it, to a sixteenth.
    pub share: Sides<f64>,
}

/// Lengths of one kernel on both sides.
pub(crate) struct Lengths {
    /// The lengths, the shortest first.
    pub(crate) all: Vec<KernelLength>,
    /// Mean over the lengths that both sides have, in base's mix, for each run of base.
    pub(crate) base_ns: Vec<Option<Number>>,
    /// The same for each run of new.
    pub(crate) new_ns: Vec<Option<Number>>,
}

/// Instances of one side that are about as long.
#[derive(Debug, Clone, Copy)]
struct Cluster {
    least: f64,
    most: f64,
    median: f64,
    share: f64,
}

impl Cluster {
    fn has(&self, ns: f64) -> bool {
        (self.least..=self.most).contains(&ns)
    }
}

impl Lengths {
    /// Returns the lengths of a kernel; `None` if it has only one, none that both sides have, or too few
    /// instances in a run.
    pub(crate) fn of(base: &KernelRuns, new: &KernelRuns) -> Option<Self> {
        let is_known = |runs: &KernelRuns| {
            let both = runs.med_ns.iter().zip(&runs.sixteenths_ns);
            both.into_iter()
                .all(|(median, all)| median.is_none() || all.is_some())
        };
        if !is_known(base) || !is_known(new) {
            return None;
        }
        let (was, now) = (clusters(base), clusters(new));
        // As many instances of which some have a length that the other side lacks are slower or faster, as at
        // another clock.
        let ran_as_often = median_of_known(&base.instances) == median_of_known(&new.instances);
        if was.len().max(now.len()) < 2 || was.len() != now.len() && ran_as_often {
            return None;
        }
        let mut rest = now.clone();
        let mut pairs: Vec<(Option<Cluster>, Option<Cluster>)> = Vec::new();
        for (place, &cluster) in was.iter().enumerate() {
            let other = if was.len() == now.len() {
                now.get(place).copied()
            } else {
                let is_near = |other: &&Cluster| is_near(cluster.median, other.median);
                rest.iter().find(is_near).copied()
            };
            rest.retain(|left| other.is_none_or(|other| left.median != other.median));
            pairs.push((Some(cluster), other));
        }
        pairs.extend(rest.into_iter().map(|other| (None, Some(other))));
        let common: Vec<(Cluster, Cluster)> = pairs
            .iter()
            .filter_map(|&(was, now)| was.zip(now))
            .collect();
        common.first()?;
        let mix: Vec<f64> = common.iter().map(|(was, _)| was.share).collect();
        let of_base: Vec<Cluster> = common.iter().map(|(was, _)| *was).collect();
        let of_new: Vec<Cluster> = common.iter().map(|(_, now)| *now).collect();

        let mut all: Vec<KernelLength> = pairs.into_iter().map(KernelLength::of).collect();
        all.sort_by(|a, b| a.least_ns().total_cmp(&b.least_ns()));
        Some(Self {
            all,
            base_ns: means(base, &of_base, &mix),
            new_ns: means(new, &of_new, &mix),
        })
    }
}

impl KernelLength {
    fn of((was, now): (Option<Cluster>, Option<Cluster>)) -> Self {
        let med_ns = |side: Option<Cluster>| side.and_then(|side| Number::new(side.median));
        let share = |side: Option<Cluster>| side.map_or(0.0, |side| side.share);
        Self {
            med_ns: Sides {
                base: med_ns(was),
                new: med_ns(now),
            },
            share: Sides {
                base: share(was),
                new: share(now),
            },
        }
    }

    fn least_ns(&self) -> f64 {
        let sides = [self.med_ns.base, self.med_ns.new].into_iter().flatten();
        sides.map(Number::get).fold(f64::INFINITY, f64::min)
    }
}

/// Returns whether the instances have the same lengths in another mix.
pub(crate) fn is_other_mix(lengths: &[KernelLength]) -> bool {
    let is_on_both = |length: &KernelLength| length.share.base > 0.0 && length.share.new > 0.0;
    let least = if lengths.iter().all(is_on_both) {
        MIX
    } else {
        OTHER_MIX
    };
    lengths
        .iter()
        .any(|length| (length.share.new - length.share.base).abs() >= least)
}

fn is_near(a: f64, b: f64) -> bool {
    a.max(b) <= APART * a.min(b)
}

/// Returns the lengths that each run of one side has, the shortest first.
fn clusters(runs: &KernelRuns) -> Vec<Cluster> {
    let known = runs.sixteenths_ns.iter().flatten().flatten();
    let mut pooled: Vec<f64> = known.map(|&ns| ns.float()).collect();
    pooled.sort_by(f64::total_cmp);
    let apart = pooled.chunk_by(|shorter, longer| is_near(*shorter, *longer));
    let large = apart.filter(|cluster| cluster.len() * PARTS >= pooled.len());
    let clusters = large.filter_map(|cluster| {
        Some(Cluster {
            least: *cluster.first()?,
            most: *cluster.last()?,
            median: median(cluster)?,
            share: cluster.len().float() / pooled.len().float(),
        })
    });
    // What only some runs have is a slow run.
    let is_in_all = |cluster: &Cluster| {
        let mut all = runs.sixteenths_ns.iter().flatten();
        all.all(|run| run.iter().any(|&ns| cluster.has(ns.float())))
    };
    clusters.filter(is_in_all).collect()
}

/// Returns the mean over some lengths for each run. A run without instances of a length has the usual one of
/// its side.
fn means(runs: &KernelRuns, lengths: &[Cluster], mix: &[f64]) -> Vec<Option<Number>> {
    let sum: f64 = mix.iter().sum();
    let of_run = |sixteenths: &Option<[u64; 16]>| {
        let sixteenths = sixteenths.as_ref()?.map(Float::float);
        let parts = lengths.iter().zip(mix).map(|(length, share)| {
            let own = sixteenths.into_iter();
            let own = own.filter(|ns| length.has(*ns));
            let own = median(&own.collect::<Vec<_>>());
            share * own.unwrap_or(length.median)
        });
        Number::new(parts.sum::<f64>() / sum)
    };
    runs.sixteenths_ns.iter().map(of_run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns runs of which so many sixteenths are of each length, in microseconds.
    fn runs(mix: &[(u64, usize)], instances: u32) -> KernelRuns {
        let mut lengths = mix
            .iter()
            .flat_map(|&(us, count)| std::iter::repeat_n(us * 1_000, count));
        let sixteenths = std::array::from_fn(|_| lengths.next().unwrap());
        KernelRuns {
            instances: vec![Number::new(instances.into()); 3],
            sixteenths_ns: vec![Some(sixteenths); 3],
            ..KernelRuns::default()
        }
    }

    #[test]
    fn lengths_are_matched_and_their_mix_is_told_apart_from_their_speed() {
        type Mix<'a> = (&'a [(u64, usize)], u32);
        let check = |was: Mix<'_>, now: Mix<'_>, expected: Option<(f64, bool)>| {
            let found = Lengths::of(&runs(was.0, was.1), &runs(now.0, now.1)).map(|found| {
                let (base, new) = (found.base_ns[0].unwrap(), found.new_ns[0].unwrap());
                let factor = (new.get() / base.get() * 1_000.0).round() / 1_000.0;
                (factor, is_other_mix(&found.all))
            });
            assert_eq!(found, expected, "{was:?} {now:?}");
        };
        let two: Mix<'_> = (&[(50, 8), (400, 8)], 200);
        check((&[(50, 16)], 200), (&[(75, 16)], 200), None);
        // A tail is no length.
        check((&[(50, 16)], 200), (&[(50, 15), (400, 1)], 200), None);
        check(two, two, Some((1.0, false)));
        check(two, (&[(50, 11), (400, 5)], 200), Some((1.0, true)));
        check(two, (&[(60, 8), (480, 8)], 200), Some((1.2, false)));
        // In base's mix: (50 + 480) / (50 + 400).
        check(two, (&[(50, 11), (480, 5)], 200), Some((1.178, true)));
        // Of three lengths, one is gone.
        let three: Mix<'_> = (&[(15, 5), (80, 6), (120, 5)], 300);
        check(three, (&[(80, 8), (120, 8)], 200), Some((1.0, true)));
        check(two, (&[(100, 16)], 100), None);
        check(two, (&[(50, 16)], 100), Some((1.0, true)));
        // Another clock in half of a run.
        check((&[(50, 16)], 200), (&[(50, 8), (70, 8)], 200), None);
    }
}
