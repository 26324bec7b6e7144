//! Finds the kernels that a limit is for.

use super::KernelLimit;
use crate::change::Class;
use crate::compare::Comparison;
use crate::kernels::KernelChange;
use crate::metric_changes::find;
use crate::number::Number;

/// The limit of a kernel: of the patterns that fit its name the longest, of equally long
/// ones the first.
pub(super) fn limit_of<'a>(name: &str, limits: &'a [KernelLimit]) -> Option<&'a KernelLimit> {
    let mut best: Option<&KernelLimit> = None;
    for limit in limits {
        let is_longer = best.is_none_or(|best| limit.pattern.len() > best.pattern.len());
        if is_longer && fits(&limit.pattern, name) {
            best = Some(limit);
        }
    }
    best
}

/// Whether a name is of a pattern, in which `*` stands for anything.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The shares of new's kernel time that are in kernels which base does not have, run by
/// run; all of it where that is not known.
pub(super) struct Strangers {
    shares: Vec<f64>,
}

impl Strangers {
    pub(super) fn of(comparison: &Comparison) -> Self {
        let sums = find(&comparison.metrics, "busy.sum_ns").map(|one| &one.change.new.values);
        let known = comparison.kernels.iter();
        let known: Vec<_> = known.filter(|one| one.class != Class::Added).collect();
        let share = |run: usize| {
            let sum = (*sums?.get(run)?)?.get();
            let totals = known
                .iter()
                .filter_map(|one| *one.total_ns.new.values.get(run)?);
            let share = 1.0 - totals.map(Number::get).sum::<f64>() / sum;
            share.is_finite().then_some(share)
        };
        let runs = 0..comparison.new.runs.len();
        Self {
            shares: runs.map(|run| share(run).unwrap_or(1.0)).collect(),
        }
    }

    /// The share that a kernel may have on either side. Where a run of new lacks it, the
    /// kernel may be there under another name: then it has at most what no kernel of
    /// base's has.
    pub(super) fn share_of(&self, kernel: &KernelChange) -> f64 {
        let values = kernel.total_ns.new.values.iter().zip(&self.shares);
        let lacking = values.filter(|(value, _)| value.is_none());
        let shares = lacking.map(|(_, share)| *share);
        let is_of_base = kernel.class != Class::Added;
        let shares = shares.filter(|_| is_of_base);
        // A share that is not known may be any.
        shares.fold(kernel.share.unwrap_or(1.0), f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let cases = [
            ("*", "", true),
            ("*", "anything", true),
            ("matmul", "matmul", true),
            ("matmul", "matmul2", false),
            ("matmul*", "matmul_f16", true),
            ("*_f16", "matmul_f16", true),
            ("mat*_f*6", "matmul_f16", true),
            ("a*a", "a", false),
            ("a*b*a", "aba", true),
            ("", "", true),
            ("", "x", false),
            ("é*", "étude", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
