//! Estimates the times of kernels that share GPU intervals, from the mixes in which they occur.
//!
//! ```text
//! 3 × matmul + 1 × softmax   190 µs  ┐
//! 1 × matmul + 1 × softmax    72 µs  ├─> matmul 59 µs, softmax 5 µs, each interval 8 µs;
//! 2 × matmul + 4 × softmax   146 µs  │   two mixes are left to check the sum
//! 1 × matmul                  67 µs  │
//! 5 × softmax                 33 µs  ┘
//! ```
//!
//! A program that always splits its work in the same way has few mixes, and nothing follows from them.
//! Then runs with other numbers of operations in a command buffer tell more.

use std::collections::{BTreeMap, BTreeSet};

use metalens_message::{Message, Ns, Share, counted, message, ratio, share};
use metalens_text::number::{Float, rounded};
use metalens_trace::Names;

use crate::basics::least_squares::LeastSquares;
use crate::basics::spans::Span;
use crate::basics::statistics::{deviation_from, median};
use crate::report::{EstimatedTime, KernelCount, KernelMix, KernelMixes, MixedKernel};
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;

/// Largest number of mixes, and of groups of kernels, that are solved for.
const MIXES: usize = 400;
const KERNELS: usize = 60;
/// Usual deviation of an interval if no mix has enough intervals to tell it.
const DEVIATION: f64 = 0.1;
/// Number of intervals of a mix that tell its deviation.
const FOR_DEVIATION: u64 = 5;
/// Smallest error of a median, since clock and load vary.
const LEAST_ERROR: f64 = 0.002;
/// Mixes beyond the unknowns that must be left to check the sum.
const CHECKS: usize = 2;
/// Largest misfit of a sum that holds, and the square of how far beyond the errors one is that does not.
const MISFIT: f64 = 0.01;
const BEYOND: f64 = 4.0;
/// Largest half width of an interval: as a part of the time of the kernel, or of all time.
const WIDTH: f64 = 0.05;
const WIDTH_OF_ALL: f64 = 0.001;
/// Number of times that everything is estimated again from values as uncertain as those that were measured.
const RESAMPLES: usize = 100;
/// Name of the unknown that is the same in each interval.
const BOUNDARY: &str = "";

/// Estimates the kernels of a recording; `None` if it has no intervals of several kernels with their counts.
pub(crate) fn of_recording(
    named: &NamedIntervals,
    mine: &[Interval],
    window: Span,
    names: &Names,
) -> Option<KernelMixes> {
    let mixes = &named.mixes;
    let mut lengths: Vec<Vec<u64>> = vec![Vec::new(); mixes.different.len()];
    let whole = mine
        .iter()
        .zip(&mixes.of_interval)
        .filter(|(interval, _)| interval.span == interval.span.clip(window));
    for (interval, place) in whole {
        if let Some(lengths) = place.and_then(|place| lengths.get_mut(place as usize)) {
            lengths.push(interval.span.length_ns());
        }
    }
    let mut pairs = mixes.different.iter().zip(&lengths);
    if !pairs.any(|(mix, lengths)| mix.len() > 1 && !lengths.is_empty()) {
        return None;
    }
    let pairs = mixes.different.iter().zip(&lengths);
    let mixes = pairs.map(|(mix, lengths)| {
        let kernels = mix.iter().map(|&(function, count)| KernelCount {
            name: names.text(function).to_owned(),
            count,
        });
        mix_of(kernels.collect(), lengths)
    });
    Some(estimate(mixes.collect()))
}

fn mix_of(kernels: Vec<KernelCount>, lengths: &[u64]) -> KernelMix {
    let median_ns = median(lengths.iter().copied()).unwrap_or(0);
    let deviation = deviation_from(lengths.iter().copied(), median_ns).unwrap_or(0);
    KernelMix {
        kernels,
        intervals: lengths.len() as u64,
        median_ns: Ns(median_ns),
        deviation: Share(1.4826 * ratio(deviation, median_ns).unwrap_or(0.0)),
    }
}

/// Estimates the kernels of mixes, of one run or of several.
#[must_use]
pub fn estimate(mut mixes: Vec<KernelMix>) -> KernelMixes {
    mixes.retain(|mix| mix.median_ns > Ns(0));
    mixes.sort_by(|a, b| (b.intervals, &a.kernels).cmp(&(a.intervals, &b.kernels)));
    mixes.truncate(MIXES);
    let estimated = Columns::new(&mixes).estimate(&mixes);
    let (why_not, found) = match estimated {
        Ok(found) => (None, found),
        Err(why) => (Some(why), Found::default()),
    };
    KernelMixes {
        mixes,
        kernels: found.kernels,
        boundary: found.boundary,
        not_told: found.not_told,
        misfit: found.misfit.map(Share),
        why_not,
    }
}

#[derive(Default)]
struct Found {
    kernels: Vec<MixedKernel>,
    boundary: Option<EstimatedTime>,
    not_told: Vec<String>,
    misfit: Option<f64>,
}

/// Unknowns: kernels, or several that always run together, and the boundary.
struct Columns(Vec<Column>);

struct Column {
    /// Kernels with their dispatches each time.
    kernels: Vec<KernelCount>,
    /// Number of times in each mix.
    counts: Vec<u64>,
}

/// Value that was found for a column.
struct Value {
    ns: f64,
    /// Half of its interval.
    half_ns: f64,
    /// True if the equations leave it one value.
    is_determined: bool,
}

impl Columns {
    /// Groups the kernels whose numbers have one ratio in all mixes.
    fn new(mixes: &[KernelMix]) -> Self {
        let mut counts: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for (place, mix) in mixes.iter().enumerate() {
            for kernel in &mix.kernels {
                let of_kernel = counts
                    .entry(&kernel.name)
                    .or_insert_with(|| vec![0; mixes.len()]);
                if let Some(count) = of_kernel.get_mut(place) {
                    *count = count.saturating_add(kernel.count);
                }
            }
        }
        counts.insert(BOUNDARY, vec![1; mixes.len()]);
        // By numbers without their common factor, those of one group are equal.
        let mut groups: BTreeMap<Vec<u64>, Vec<KernelCount>> = BTreeMap::new();
        for (name, counts) in counts {
            let factor = counts.iter().copied().fold(0, common_factor).max(1);
            let counts = counts.iter().map(|count| count / factor).collect();
            let name = name.to_owned();
            let kernel = KernelCount {
                name,
                count: factor,
            };
            groups.entry(counts).or_default().push(kernel);
        }
        // One alone is counted by its dispatches.
        let columns = groups.into_iter().map(|(mut counts, mut kernels)| {
            if let [kernel] = kernels.as_mut_slice() {
                let factor = std::mem::replace(&mut kernel.count, 1);
                counts.iter_mut().for_each(|count| *count *= factor);
            }
            (counts, kernels)
        });
        Self(
            columns
                .map(|(counts, kernels)| Column { kernels, counts })
                .collect(),
        )
    }

    fn estimate(&self, mixes: &[KernelMix]) -> Result<Found, Message> {
        let columns = &self.0;
        if columns.len() > KERNELS {
            return Err(message!(
                "the mixes have {}, more than can be told apart",
                counted(columns.len() as u64, "kernel")
            ));
        }
        let errors = errors(mixes);
        let times: Vec<f64> = mixes.iter().map(|mix| mix.median_ns.0.float()).collect();
        let weights = times.iter().zip(&errors);
        let weights: Vec<f64> = weights.map(|(time, error)| 1.0 / (time * error)).collect();
        let equations = LeastSquares::new(columns.len(), self.rows(&weights));
        let (is_determined, rank) = equations.determined();
        let mut free = vec![true; columns.len()];
        let checks = self.different().saturating_sub(rank);
        let solution = equations.solve(&products(&times, &weights), &mut free);
        let Some(solution) = solution.filter(|_| checks >= CHECKS) else {
            return Err(self.indistinct(mixes));
        };
        let (misfit, spread) = self.misfit(mixes, &errors, &solution);
        let off = spread / mixes.len().saturating_sub(rank).max(1).float();
        if misfit > MISFIT && off > BEYOND {
            return Err(message!(
                "the times of the mixes are no sums of kernels: they differ by {}, as where encoders run \
                 at the same time",
                Share(misfit)
            ));
        }

        let inflated = off.sqrt().max(1.0);
        // Student's factor for 95 %, a little rounded up.
        let factor = 2.0 * (1.0 + 2.0 / checks.float());
        let mut random = Normal(1);
        let again = || {
            let again = times.iter().zip(&errors);
            let again = again.map(|(time, error)| time * (1.0 + error * inflated * random.draw()));
            let again: Vec<f64> = again.collect();
            equations.solve(&products(&again, &weights), &mut free)
        };
        let again: Option<Vec<Vec<f64>>> = std::iter::repeat_with(again).take(RESAMPLES).collect();
        let Some(again) = again else {
            return Err(self.indistinct(mixes));
        };

        let places = solution.iter().enumerate().zip(is_determined);
        let values = places.map(|((place, &ns), is_determined)| Value {
            ns,
            half_ns: factor * deviation(&again, place),
            is_determined,
        });
        let found = self.told(mixes, values);
        if found.kernels.is_empty() {
            return Err(self.indistinct(mixes));
        }
        Ok(Found {
            misfit: Some(misfit),
            ..found
        })
    }

    /// Returns what the values of the columns tell, the most time first.
    fn told(&self, mixes: &[KernelMix], values: impl Iterator<Item = Value>) -> Found {
        let all_ns: f64 = mixes
            .iter()
            .map(|mix| mix.intervals.float() * mix.median_ns.0.float())
            .sum();
        let mut found = Found::default();
        for (column, value) in self.0.iter().zip(values) {
            let pairs = column.counts.iter().zip(mixes);
            let times = pairs.map(|(count, mix)| count.saturating_mul(mix.intervals));
            let count = times.fold(0, u64::saturating_add);
            let Value { ns, half_ns, .. } = value;
            let total_ns = Ns(rounded(count.float() * ns));
            // At zero, nothing tells by how much it could be more.
            let is_sure = value.is_determined
                && ns > 0.0
                && (half_ns <= WIDTH * ns || half_ns * count.float() <= WIDTH_OF_ALL * all_ns);
            let time = EstimatedTime {
                ns: Ns(rounded(ns)),
                low_ns: Ns(rounded(ns - half_ns)),
                high_ns: Ns(rounded(ns + half_ns)),
            };
            let is_boundary = column.kernels.iter().any(|kernel| kernel.name == BOUNDARY);
            let mut names = column
                .kernels
                .iter()
                .filter(|kernel| kernel.name != BOUNDARY);
            match (is_sure, is_boundary) {
                (true, false) => found.kernels.push(MixedKernel {
                    kernels: column.kernels.clone(),
                    count,
                    time,
                    total_ns,
                    share: share(total_ns, Ns(rounded(all_ns))).unwrap_or_default(),
                }),
                (true, true) if names.next().is_none() => found.boundary = Some(time),
                _ => found
                    .not_told
                    .extend(names.map(|kernel| kernel.name.clone())),
            }
        }
        found
            .kernels
            .sort_by(|a, b| (b.total_ns, &a.kernels).cmp(&(a.total_ns, &b.kernels)));
        found
    }

    /// Returns the numbers of each mix, with its weight.
    fn rows(&self, weights: &[f64]) -> Vec<Vec<f64>> {
        let row = |(place, weight): (usize, &f64)| {
            let counts = self.0.iter().map(|column| column.counts.get(place));
            let weighted = counts.map(|count| count.map_or(0.0, |count| count.float() * weight));
            weighted.collect()
        };
        weights.iter().enumerate().map(row).collect()
    }

    /// Returns the number of mixes that differ in the numbers of their kernels.
    fn different(&self) -> usize {
        let count = self.0.first().map_or(0, |column| column.counts.len());
        let row = |place| self.0.iter().map(move |column| column.counts.get(place));
        let rows = (0..count).map(|place| row(place).collect::<Vec<_>>());
        rows.collect::<BTreeSet<_>>().len()
    }

    fn indistinct(&self, mixes: &[KernelMix]) -> Message {
        let kernels = self.0.iter().flat_map(|column| &column.kernels);
        let kernels = kernels.filter(|kernel| kernel.name != BOUNDARY).count();
        message!(
            "{} cannot tell {} apart; more steps, or runs with other numbers of operations in a command \
             buffer, would",
            counted(mixes.len() as u64, "mix"),
            counted(kernels as u64, "kernel")
        )
    }

    /// Returns the part of the time by which the mixes differ from a solution, and the sum of the squares of
    /// these differences in their errors.
    fn misfit(&self, mixes: &[KernelMix], errors: &[f64], solution: &[f64]) -> (f64, f64) {
        let (mut off, mut all, mut squares) = (0.0, 0.0, 0.0);
        for ((place, mix), error) in mixes.iter().enumerate().zip(errors) {
            let terms = self.0.iter().zip(solution);
            let fitted: f64 = terms
                .map(|(column, value)| {
                    column
                        .counts
                        .get(place)
                        .map_or(0.0, |count| count.float() * value)
                })
                .sum();
            let time = mix.median_ns.0.float();
            off += mix.intervals.float() * (time - fitted).abs();
            all += mix.intervals.float() * time;
            squares += ((time - fitted) / (time * error)).powi(2);
        }
        (off / all.max(1.0), squares)
    }
}

fn products(times: &[f64], weights: &[f64]) -> Vec<f64> {
    let pairs = times.iter().zip(weights);
    pairs.map(|(time, weight)| time * weight).collect()
}

/// Returns the standard deviation of one of the values of several solutions.
fn deviation(solutions: &[Vec<f64>], place: usize) -> f64 {
    let values = || solutions.iter().filter_map(|values| values.get(place));
    let count = solutions.len().float();
    let mean = values().sum::<f64>() / count;
    let squares: f64 = values().map(|value| value * value).sum();
    (squares / count - mean.powi(2)).max(0.0).sqrt()
}

/// Returns the error of each median, as a part of it.
fn errors(mixes: &[KernelMix]) -> Vec<f64> {
    let known = mixes.iter().filter(|mix| mix.intervals >= FOR_DEVIATION);
    let mut known: Vec<f64> = known.map(|mix| mix.deviation.0).collect();
    known.sort_by(f64::total_cmp);
    let usual = known.get(known.len() / 2).copied().unwrap_or(DEVIATION);
    let error = |mix: &KernelMix| {
        let deviation = if mix.intervals >= FOR_DEVIATION {
            mix.deviation.0
        } else {
            usual
        };
        // The median of normal values varies by 1.25 times what their mean does.
        (1.25 * deviation / mix.intervals.max(1).float().sqrt()).max(LEAST_ERROR)
    };
    mixes.iter().map(error).collect()
}

fn common_factor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_factor(b, a % b) }
}

/// Draws normal numbers, the same on every machine: sums of twelve uniform ones.
struct Normal(u64);

impl Normal {
    fn draw(&mut self) -> f64 {
        let uniform = |_| {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11).float() / (1_u64 << 53).float()
        };
        (0..12).map(uniform).sum::<f64>() - 6.0
    }
}
