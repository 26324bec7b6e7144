//! Assigns colors to kernels: each of those with the most GPU time has its own, all others share
//! one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use metalens_analyzer::Report;
use metalens_message::Ns;

use crate::palette::OWN;

/// The kernels with a color of their own. Kernels of one name share it, on whatever channel they
/// ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelColors {
    /// The kernels with a color of their own, in the order of these colors.
    pub names: Vec<String>,
    /// True if there are kernels without a color of their own.
    pub has_more: bool,
}

impl KernelColors {
    /// Returns the colors of a report's kernels, the same on every picture and page of it.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let kernels = report.kernels.iter();
        Self::by_time(kernels.map(|kernel| (kernel.name.as_str(), kernel.total_ns)))
    }

    /// Returns the colors of kernels with these GPU times. A name may come several times.
    #[must_use]
    pub fn by_time<'a>(kernels: impl IntoIterator<Item = (&'a str, Ns)>) -> Self {
        let mut sums: BTreeMap<&str, Ns> = BTreeMap::new();
        for (name, ns) in kernels {
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(ns);
        }
        let mut sums: Vec<(&str, Ns)> = sums.into_iter().collect();
        sums.sort_by_key(|&(name, ns)| (Reverse(ns), name));
        let names = sums.iter().take(OWN).map(|(name, _)| (*name).to_owned());
        Self {
            names: names.collect(),
            has_more: sums.len() > OWN,
        }
    }

    /// Returns the number of a kernel's color; the last one is that of all others.
    pub fn number(&self, kernel: &str) -> usize {
        let mut names = self.names.iter();
        names.position(|name| name == kernel).unwrap_or(OWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_time_comes_first() {
        let check = |kernels: &[(&str, u64)], names: &[&str], has_more: bool| {
            let colors = KernelColors::by_time(kernels.iter().map(|&(name, ns)| (name, Ns(ns))));
            assert_eq!(
                (colors.names.as_slice(), colors.has_more),
                (names_of(names).as_slice(), has_more)
            );
            for (at, name) in names.iter().enumerate() {
                assert_eq!(colors.number(name), at);
            }
            assert_eq!(colors.number("no such kernel"), OWN);
        };
        check(&[], &[], false);
        // `b` ran on two channels; equal times are in the order of names.
        check(
            &[("a", 5), ("b", 3), ("b", 3), ("d", 1), ("c", 1)],
            &["b", "a", "c", "d"],
            false,
        );
        let six = [("a", 9), ("b", 8), ("c", 7), ("d", 6), ("e", 5), ("f", 4)];
        check(&six, &["a", "b", "c", "d", "e"], true);
    }

    fn names_of(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }
}
