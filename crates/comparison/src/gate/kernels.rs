//! Finds the kernels that a limit applies to.

use super::KernelLimit;
use crate::change::ChangeClass;
use crate::comparison::Comparison;
use crate::kernels::KernelChange;
use crate::metric_changes::find;
use crate::number::Number;

/// Returns the limit of a kernel: the one with the longest pattern that matches its name, and the
/// first of equally long ones.
pub(super) fn limit_of<'a>(name: &str, limits: &'a [KernelLimit]) -> Option<&'a KernelLimit> {
    let mut best: Option<&KernelLimit> = None;
    for limit in limits {
        let is_longer = best.is_none_or(|best| limit.pattern.len() > best.pattern.len());
        if is_longer && matches(&limit.pattern, name) {
            best = Some(limit);
        }
    }
    best
}

/// Returns whether a name matches a pattern, in which `*` stands for any text.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
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

/// Share of new's kernel time that is in kernels which base does not have, for each run of new. 1
/// where that is not known.
pub(super) struct NewKernelShares {
    shares: Vec<f64>,
}

impl NewKernelShares {
    pub(super) fn from_comparison(comparison: &Comparison) -> Self {
        let sums = find(&comparison.metrics, "busy.sum_ns");
        let sums = sums.map(|metric| &metric.change.new.values);
        let known = comparison.kernels.iter();
        let known: Vec<_> = known
            .filter(|one| one.class != ChangeClass::Added)
            .collect();

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

    /// Returns the largest share of time that a kernel may have on either side. If a run of new
    /// lacks the kernel, it may be there under another name. Then its share is at most that of all
    /// kernels which base does not have.
    pub(super) fn largest_share(&self, kernel: &KernelChange) -> f64 {
        let values = kernel.total_ns.new.values.iter().zip(&self.shares);
        let lacking = values.filter(|(value, _)| value.is_none());
        let shares = lacking.map(|(_, share)| *share);
        let is_of_base = kernel.class != ChangeClass::Added;
        let shares = shares.filter(|_| is_of_base);

        // An unknown share may have any size.
        shares.fold(kernel.share.unwrap_or(1.0), f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_patterns_match_names() {
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
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
