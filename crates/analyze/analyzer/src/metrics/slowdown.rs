//! Finds the moment from which kernels take longer: all by one factor, as with a lower clock, or some.
//!
//! ```text
//! matmul    ▄ ▄ ▄ ▄ █ █ █ █   all by one factor: a lower clock would explain it
//! softmax   ▂ ▂ ▂ ▂ ▄ ▄ ▄ ▄
//! ```

use metalens_message::{Factor, Ns};
use metalens_text::number::Float;

use crate::basics::statistics::{deviation_from, median};
use crate::report::{NamedBy, Slowdown};
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;

/// Number of a kernel's intervals on each side of the moment.
const INTERVALS: usize = 12;
/// Smallest part of the GPU time of a kernel that counts: a hundredth.
const PARTS: u64 = 100;
/// Smallest growth that counts, also in errors of the medians: the moment was chosen to make it large.
const GROWTH: f64 = 1.05;
const ERRORS: f64 = 5.0;
/// Factor of the median up to which the length of an interval counts.
const LONGEST: u64 = 4;
/// Part of the growth that comes at the moment itself, if it comes at one.
const AT_ONCE: f64 = 0.7;

/// Lengths of a kernel in order of time.
#[derive(Default)]
struct Lengths {
    ns: Vec<u64>,
    /// Most of a length that counts; 0 if the kernel does not count.
    most_ns: u64,
    /// Mean of what counts.
    mean_ns: f64,
    /// Number of intervals before the moment.
    before: usize,
}

/// Growth of a kernel at the moment.
struct Growth {
    kernel: usize,
    from_ns: f64,
    to_ns: f64,
    /// Growth between the quarters next to the moment, and the error of the whole growth.
    at_once_ns: f64,
    error_ns: f64,
}

/// Returns the moment from which kernels take longer, and by how much; `None` if none do.
pub(crate) fn slowdown(named: &NamedIntervals, mine: &[Interval]) -> Option<Slowdown> {
    let mut kernels = lengths(named, mine);
    let moment_ns = split(&mut kernels, named, mine)?;
    let counted = kernels.iter().enumerate();
    let counted: Vec<Growth> = counted
        .filter_map(|(kernel, lengths)| lengths.growth(kernel))
        .collect();
    let longer: Vec<&Growth> = counted.iter().filter(|growth| growth.counts()).collect();
    let first = longer
        .iter()
        .max_by(|a, b| a.whole_ns().total_cmp(&b.whole_ns()))?;
    let factors = longer.iter().map(|growth| growth.to_ns / growth.from_ns);
    let whole_ns: f64 = longer.iter().map(|growth| growth.whole_ns()).sum();
    let at_once_ns: f64 = longer.iter().map(|growth| growth.at_once_ns).sum();
    Some(Slowdown {
        at_ns: (at_once_ns >= AT_ONCE * whole_ns).then_some(Ns(moment_ns)),
        kernels: counted.len() as u64,
        longer: longer.len() as u64,
        least: Factor(factors.clone().fold(f64::INFINITY, f64::min)),
        most: Factor(factors.fold(0.0, f64::max)),
        kernel: named.name(first.kernel).to_owned(),
    })
}

/// Returns the lengths of each kernel. Those without a name may be of several kernels, and do not count.
fn lengths(named: &NamedIntervals, mine: &[Interval]) -> Vec<Lengths> {
    let of_kernels = named.by_kernel(mine, |interval| interval.span.length_ns());
    let mut kernels: Vec<Lengths> = of_kernels
        .into_iter()
        .map(|ns| Lengths {
            ns,
            ..Lengths::default()
        })
        .collect();
    let all_ns: u64 = kernels.iter().flat_map(|lengths| &lengths.ns).sum();
    for (kernel, lengths) in kernels.iter_mut().enumerate() {
        let is_large = lengths.ns.iter().sum::<u64>() >= all_ns / PARTS;
        let usual_ns = median(lengths.ns.iter().copied());
        if let Some(usual_ns) =
            usual_ns.filter(|_| is_large && named.named_by(kernel) != NamedBy::None)
        {
            lengths.most_ns = usual_ns.saturating_mul(LONGEST);
            let most_ns = lengths.most_ns;
            let sum: f64 = lengths.ns.iter().map(|&ns| ns.min(most_ns).float()).sum();
            lengths.mean_ns = sum / lengths.ns.len().float();
        }
    }
    kernels
}

/// Splits the lengths where the sum of what they exceed their means by is lowest, and returns that moment.
fn split(kernels: &mut [Lengths], named: &NamedIntervals, mine: &[Interval]) -> Option<u64> {
    let (mut excess_ns, mut lowest_ns, mut place) = (0.0, 0.0, 0);
    for (index, (interval, kernel)) in mine.iter().zip(named.numbers()).enumerate() {
        let lengths = kernels.get(kernel).filter(|lengths| lengths.most_ns > 0);
        if let Some(lengths) = lengths {
            let counted_ns = interval.span.length_ns().min(lengths.most_ns);
            excess_ns += counted_ns.float() - lengths.mean_ns;
        }
        if excess_ns < lowest_ns {
            (lowest_ns, place) = (excess_ns, index + 1);
        }
    }
    for kernel in named.numbers().take(place) {
        if let Some(lengths) = kernels.get_mut(kernel) {
            lengths.before += 1;
        }
    }
    Some(mine.get(place)?.span.start_ns)
}

impl Lengths {
    /// Returns the growth at the moment; `None` if the kernel does not count.
    fn growth(&self, kernel: usize) -> Option<Growth> {
        let (before, after) = self.ns.split_at_checked(self.before)?;
        let fewest = before.len().min(after.len());
        if self.most_ns == 0 || fewest < INTERVALS {
            return None;
        }
        let ((from_ns, from_error), (to_ns, to_error)) = (usual(before)?, usual(after)?);
        let (_, last) = before.split_at_checked(before.len() - before.len() / 4)?;
        let (first, _) = after.split_at_checked(after.len() / 4)?;
        Some(Growth {
            kernel,
            from_ns,
            to_ns,
            at_once_ns: usual(first)?.0 - usual(last)?.0,
            error_ns: from_error.hypot(to_error),
        })
    }
}

impl Growth {
    fn whole_ns(&self) -> f64 {
        self.to_ns - self.from_ns
    }

    fn counts(&self) -> bool {
        self.to_ns >= GROWTH * self.from_ns && self.whole_ns() >= ERRORS * self.error_ns
    }
}

/// Returns the median, and its error if the lengths are normally distributed.
fn usual(ns: &[u64]) -> Option<(f64, f64)> {
    let usual_ns = median(ns.iter().copied())?;
    let deviation_ns = deviation_from(ns.iter().copied(), usual_ns)?;
    let error_ns = 1.25 * 1.4826 * deviation_ns.float() / ns.len().float().sqrt();
    Some((usual_ns.float(), error_ns))
}
