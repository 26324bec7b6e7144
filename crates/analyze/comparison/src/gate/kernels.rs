//! Finds the kernels that a limit applies to.

use metalens_analyzer::id;
use metalens_message::Number;
use std::collections::BTreeMap;

use super::KernelLimit;
use crate::change::ChangeClass;
use crate::comparison::Comparison;
use crate::kernels::KernelChange;
use crate::metric_changes::find;

/// Kernels of a limit.
#[derive(Default)]
pub(super) struct OwnKernels {
    /// True if the pattern matches the name of a kernel.
    pub is_known: bool,
    /// Numbers of the kernels that the limit applies to: its pattern matches the name, and no longer one does.
    /// Equally long ones all apply, so that none hides another.
    pub kernels: Vec<usize>,
}

impl OwnKernels {
    /// Returns the kernels of each limit, of kernels with these names.
    pub(super) fn of<'a>(
        limits: &[KernelLimit],
        names: impl IntoIterator<Item = &'a str>,
    ) -> Vec<Self> {
        let patterns = Patterns::new(limits.iter().map(|limit| limit.pattern.as_str()));
        let mut own: Vec<Self> = Vec::new();
        own.resize_with(limits.len(), Self::default);
        for (kernel, name) in names.into_iter().enumerate() {
            let matching = patterns.matching(name);
            let longest = matching.iter().map(|&(_, pattern)| length(pattern)).max();
            for (limit, pattern) in matching {
                if let Some(own) = own.get_mut(limit) {
                    own.is_known = true;
                    let is_own = longest == Some(length(pattern));
                    own.kernels.extend(is_own.then_some(kernel));
                }
            }
        }
        own
    }
}

/// Patterns of kernel names, in which `*` stands for any text.
///
/// They are found by the text before their first `*`. So a name meets only the patterns that begin as
/// it does, and as many patterns as kernels do not take the product of both.
pub struct Patterns<'a> {
    by_start: BTreeMap<&'a str, Vec<(usize, &'a str)>>,
}

impl<'a> Patterns<'a> {
    /// Makes them from the patterns in their order.
    pub fn new(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        let mut by_start: BTreeMap<&str, Vec<(usize, &str)>> = BTreeMap::new();
        for (place, pattern) in patterns.into_iter().enumerate() {
            let start = pattern.split('*').next().unwrap_or_default();
            by_start.entry(start).or_default().push((place, pattern));
        }
        Self { by_start }
    }

    /// Returns the patterns that match a name, with their places in the order, sorted.
    pub fn matching(&self, name: &str) -> Vec<(usize, &'a str)> {
        let ends = (0..=name.len()).filter_map(|end| name.get(..end));
        let alike = ends.filter_map(|start| self.by_start.get(start)).flatten();
        let matching = alike.filter(|(_, pattern)| matches(pattern, name));
        let mut matching: Vec<_> = matching.copied().collect();
        matching.sort_unstable();
        matching
    }
}

/// Returns the number of characters that a pattern asks for.
fn length(pattern: &str) -> usize {
    pattern.chars().filter(|&letter| letter != '*').count()
}

/// Returns whether a name matches a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
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
        let sums =
            find(&comparison.metrics, id!(busy.sum_ns)).map(|metric| &metric.change.new.values);
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
                is_of_as_many_steps: false,
            });
            let limits: Vec<KernelLimit> = limits.collect();
            let own = OwnKernels::of(&limits, [name]);
            let found = own.iter().zip(&limits);
            let found = found.filter(|(own, _)| !own.kernels.is_empty());
            let found: Vec<&str> = found.map(|(_, limit)| limit.pattern.as_str()).collect();
            assert_eq!(found, expected, "{name} {patterns:?}");
            for (own, pattern) in own.iter().zip(patterns) {
                assert_eq!(own.is_known, matches(pattern, name), "{name} {pattern}");
            }
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
