//! Finds the kernels that a limit applies to.

use super::KernelLimit;
use crate::change::ChangeClass;
use crate::comparison::Comparison;
use crate::kernels::KernelChange;
use crate::metric_changes::find;
use metalens_analyzer::Number;

/// Returns whether a limit applies to a kernel: its pattern matches the name, and no longer one does.
/// Equally long ones all apply, so that none hides another.
pub(super) fn applies(limit: &KernelLimit, name: &str, limits: &[KernelLimit]) -> bool {
    let matching = limits.iter().filter(|limit| matches(&limit.pattern, name));
    let longest = matching.map(|limit| length(&limit.pattern)).max();
    matches(&limit.pattern, name) && longest == Some(length(&limit.pattern))
}

/// Returns the number of characters that a pattern asks for.
fn length(pattern: &str) -> usize {
    pattern.chars().filter(|&letter| letter != '*').count()
}

/// Returns whether a name matches a pattern, in which `*` stands for any text.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
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
        let sums = find(&comparison.metrics, "busy.sum_ns").map(|metric| &metric.change.new.values);
        let known: Vec<_> = comparison
            .kernels
            .iter()
            .filter(|kernel| kernel.class != ChangeClass::Added)
            .collect();

        let share = |run: usize| {
            let sum = (*sums?.get(run)?)?.get();
            let totals = known
                .iter()
                .filter_map(|kernel| *kernel.total_ns.new.values.get(run)?);
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
        let known = lacking.map(|(_, share)| *share);
        let is_of_base = kernel.class != ChangeClass::Added;
        let shares = known.filter(|_| is_of_base);

        // An unknown share may have any size.
        shares.fold(kernel.share.unwrap_or(1.0), f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_patterns_apply() {
        let check = |name: &str, patterns: &[&str], expected: &[&str]| {
            let limits = patterns.iter().map(|pattern| KernelLimit {
                pattern: (*pattern).to_owned(),
                figure: super::super::KernelFigure::Total,
                share: 0.0,
                limit: super::super::Limit::default(),
            });
            let limits: Vec<KernelLimit> = limits.collect();
            let found = limits.iter().filter(|limit| applies(limit, name, &limits));
            let found: Vec<&str> = found.map(|limit| limit.pattern.as_str()).collect();
            assert_eq!(found, expected, "{name} {patterns:?}");
        };
        check("matmul", &["*", "matmul*"], &["matmul*"]);
        check("copy", &["*", "matmul*"], &["*"]);
        // Equally long.
        check("matmul", &["matmu*l", "matmul*"], &["matmu*l", "matmul*"]);
        check("matmul", &["****", "m*l"], &["m*l"]);
        check("m", &["*", "**"], &["*", "**"]);
        check("étude", &["é*", "ét*"], &["ét*"]);
    }

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
