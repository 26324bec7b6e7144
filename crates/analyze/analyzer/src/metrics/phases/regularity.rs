//! Measures how regular the gaps are.

use crate::basics::statistics::ratio;
use crate::report::{Regularity, RegularityVerdict};
use crate::subject::gaps::Gap;

/// Smallest number of gaps that are compared.
const GAPS: usize = 20;

/// Compares the gaps that are shorter than a quiet one.
///
/// They are weighted by their length. Of a batch of 25 encoders, 24 gaps are under 1 µs and the
/// 25th holds nearly all idle time: the question is whether these 25th gaps are alike, not
/// whether the other 24 are.
pub(crate) fn regularity(gaps: &[Gap], quiet_gap_ns: u64) -> Option<Regularity> {
    let all_lengths = gaps.iter().map(|gap| gap.span.length_ns());
    let mut lengths: Vec<u64> = all_lengths
        .filter(|&length| length < quiet_gap_ns)
        .collect();
    if lengths.len() < GAPS {
        return None;
    }
    lengths.sort_unstable();
    let [p10_ns, p50_ns, p90_ns] =
        [10, 50, 90].map(|percent| weighted_percentile(&lengths, percent));
    let dispersion = ratio(p90_ns - p10_ns, p50_ns)?;

    Some(Regularity {
        gaps: lengths.len() as u64,
        total_ns: lengths.iter().sum(),
        p10_ns,
        p50_ns,
        p90_ns,
        dispersion,
        verdict: match dispersion {
            small if small <= 0.5 => RegularityVerdict::Regular,
            large if large >= 2.0 => RegularityVerdict::Irregular,
            _ => RegularityVerdict::Mixed,
        },
    })
}

/// Returns the length up to which sorted lengths add up to a share of their sum.
fn weighted_percentile(sorted: &[u64], percent: u128) -> u64 {
    let sum: u128 = sorted.iter().map(|&length| u128::from(length)).sum();
    let mut passed = 0;
    let reaches = |&&length: &&u64| {
        passed += u128::from(length);
        passed * 100 >= sum * percent
    };
    sorted.iter().find(reaches).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basics::spans::Span;

    /// Checks the 10th, 50th and 90th percentile and the verdict, of gaps shorter than 5,000 ns.
    fn check(lengths: &[u64], expected: Option<(u64, u64, u64, RegularityVerdict)>) {
        let gaps = lengths
            .iter()
            .map(|&length| Gap::new(Span::new(7, 7 + length), None, None));
        let gaps: Vec<Gap> = gaps.collect();
        let found = regularity(&gaps, 5_000);
        if let Some(found) = &found {
            let compared = lengths.iter().filter(|&&length| length < 5_000);
            assert_eq!(found.gaps, compared.clone().count() as u64, "{lengths:?}");
            assert_eq!(found.total_ns, compared.sum::<u64>(), "{lengths:?}");
        }
        let found = found.map(|gaps| (gaps.p10_ns, gaps.p50_ns, gaps.p90_ns, gaps.verdict));
        assert_eq!(found, expected, "{lengths:?}");
    }

    #[test]
    fn gaps_are_weighted_by_idle_time() {
        use RegularityVerdict::{Irregular, Mixed, Regular};
        check(&[100; 19], None);
        check(&[100; 20], Some((100, 100, 100, Regular)));
        // 20 short gaps have 40 of 2,040 ns.
        let batches = [[2; 20], [100; 20]].concat();
        check(&batches, Some((100, 100, 100, Regular)));
        // A quiet gap divides segments, and does not count in them.
        let paused = [vec![100; 20], vec![5_000]].concat();
        check(&paused, Some((100, 100, 100, Regular)));
        // 1 + 2 + … + 20 = 210: 21 is held by 1…6, 105 by 1…14, 189 by 1…19.
        let even: Vec<u64> = (1..=20).collect();
        check(&even, Some((6, 14, 19, Mixed)));
        // Half the idle time in gaps of 10, half in gaps of 1,000.
        let two = [[10; 100].as_slice(), &[1_000]].concat();
        check(&two, Some((10, 10, 1_000, Irregular)));
    }
}
