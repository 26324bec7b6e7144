//! Finds when one kernel alone ran on the GPU.
//!
//! ```text
//! kernel 1   ├──────┤├────┤
//! kernel 2             ├─────┤     ├──┤
//! others                        ├───┤
//! alone      ├1───────┤   ├─2┤      ├2┤
//! ```

use crate::basics::spans::Span;

/// Stretches of time in which one kernel alone ran on the GPU, in order of time.
pub(super) struct Alone {
    stretches: Vec<(Span, usize)>,
}

impl Alone {
    /// Finds the stretches, from the process's intervals with their kernels, of which there are
    /// `count`, and the busy time of others.
    pub(super) fn new(
        mine: impl Iterator<Item = (Span, usize)>,
        count: usize,
        others: &[Span],
    ) -> Self {
        let foreign = others.iter().map(|&span| (span, count));
        let runs = mine.chain(foreign).filter(|(span, _)| !span.is_empty());
        let mut edges: Vec<(u64, bool, usize)> = runs
            .flat_map(|(span, kernel)| {
                [(span.start_ns, true, kernel), (span.end_ns, false, kernel)]
            })
            .collect();
        edges.sort_unstable();

        let mut running: Vec<u32> = vec![0; count + 1];
        // The sum of the running kernels' numbers is the number if only one runs.
        let (mut kernels, mut sum) = (0_usize, 0_usize);
        let mut stretches: Vec<(Span, usize)> = Vec::new();
        for (index, &(time_ns, starts, kernel)) in edges.iter().enumerate() {
            let Some(running) = running.get_mut(kernel) else {
                continue;
            };
            if starts {
                *running += 1;
                if *running == 1 {
                    kernels += 1;
                    sum += kernel;
                }
            } else {
                *running -= 1;
                if *running == 0 {
                    kernels -= 1;
                    sum -= kernel;
                }
            }

            let until_ns = edges.get(index + 1).map_or(time_ns, |next| next.0);
            if kernels == 1 && sum < count && until_ns > time_ns {
                match stretches.last_mut() {
                    Some((last, kernel)) if last.end_ns == time_ns && *kernel == sum => {
                        last.end_ns = until_ns;
                    }
                    _ => stretches.push((Span::new(time_ns, until_ns), sum)),
                }
            }
        }
        Self { stretches }
    }

    /// Returns the kernel that ran alone throughout a span.
    pub(super) fn throughout(&self, span: Span) -> Option<usize> {
        let after = self
            .stretches
            .partition_point(|(stretch, _)| stretch.start_ns <= span.start_ns);
        let (stretch, kernel) = self.stretches.get(after.checked_sub(1)?)?;
        (span.end_ns <= stretch.end_ns && !span.is_empty()).then_some(*kernel)
    }

    /// Returns the longest stretch of each kernel in nanoseconds, by its number.
    pub(super) fn longest_ns(&self, count: usize) -> Vec<u64> {
        let mut longest = vec![0; count];
        for (stretch, kernel) in &self.stretches {
            if let Some(longest) = longest.get_mut(*kernel) {
                *longest = stretch.length_ns().max(*longest);
            }
        }
        longest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A kernel runs alone throughout a span if it does at each nanosecond, by counting.
        #[test]
        fn agrees_with_counting(
            mut mine in prop::collection::vec((0_u64..50, 0_u64..12, 0_usize..3), 0..10),
            mut others in prop::collection::vec((0_u64..60, 1_u64..6), 0..4),
            start in 0_u64..60, length in 1_u64..8,
        ) {
            mine.sort_unstable();
            others.sort_unstable();
            let window = Span::new(5, 55);
            let spans = others.iter().map(|&(at, long)| Span::new(at, at + long).clip(window));
            let others = crate::basics::spans::union(spans);
            let own = mine.iter().map(|&(at, long, kernel)| {
                (Span::new(at, at + long).clip(window), kernel)
            });
            let alone = Alone::new(own, 3, &others);

            let span = Span::new(start, start + length);
            let at = |t: u64| {
                let own = mine.iter().filter(|(from, long, _)| {
                    let inside = window.start_ns <= t && t < window.end_ns;
                    inside && *from <= t && t < from + long
                });
                let mut running: Vec<usize> = own.map(|&(_, _, kernel)| kernel).collect();
                let is_foreign = others.iter().any(|interval| interval.start_ns <= t && t < interval.end_ns);
                running.extend(is_foreign.then_some(3));
                running.sort_unstable();
                running.dedup();
                match running[..] {
                    [only] if only < 3 => Some(only),
                    _ => None,
                }
            };
            let first = at(start);
            let expected = first.filter(|_| (start..start + length).all(|t| at(t) == first));
            prop_assert_eq!(alone.throughout(span), expected);
        }
    }
}
