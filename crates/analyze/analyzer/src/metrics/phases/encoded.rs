//! Finds the GPU work that was encoded during a phase.
//!
//! A program is done with a phase long before the GPU is, so that the work on the GPU during a
//! phase is often that of another one. The work *of* a phase is what was encoded during it:
//!
//! ```text
//! program  ├─ prefill ─┤├─ decode ─┤
//! encodes    a a a a a    b b b
//! GPU               a a a a a b b b
//! ```

use std::cmp::Reverse;

use metalens_message::{Ns, ratio};
use metalens_trace::Names;

use crate::basics::spans::{Span, union};
use crate::report::{EncodedWork, PhaseKernel};
use crate::subject::commands::Commands;
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;

/// Largest number of kernels that a phase lists.
const KERNELS: usize = 20;

/// GPU intervals in the order in which their work was encoded.
pub(super) struct Encoded<'a> {
    /// Times of encoding, sorted, each with the place of its interval in `mine`.
    works: Vec<(u64, usize)>,
    mine: &'a [Interval],
    kernels: &'a NamedIntervals,
    window: Span,
    names: &'a Names,
}

/// Number of intervals and time of a kernel in a phase.
#[derive(Clone, Copy, Default)]
struct Tally {
    instances: u64,
    total_ns: u64,
}

impl<'a> Encoded<'a> {
    pub(super) fn new(
        mine: &'a [Interval],
        commands: &Commands,
        kernels: &'a NamedIntervals,
        window: Span,
        names: &'a Names,
    ) -> Self {
        // There may be a million, so that a doubled list would be the peak of an analysis.
        let mut works = Vec::with_capacity(mine.len());
        works.extend(mine.iter().enumerate().filter_map(|(place, interval)| {
            let encoding = commands.encoding(interval);
            let encoded_ns = encoding.map(|encoding| encoding.span.start_ns);
            Some((encoded_ns.or_else(|| interval.committed_ns())?, place))
        }));
        if !works.is_sorted() {
            works.sort_unstable();
        }
        Self {
            works,
            mine,
            kernels,
            window,
            names,
        }
    }

    /// Returns the number of intervals whose encoding and commit are unknown.
    pub(super) fn unplaced(&self) -> u64 {
        (self.mine.len() - self.works.len()) as u64
    }

    /// Returns the work that was encoded during a phase; `None` if no time of encoding is known.
    /// The spans are sorted by start.
    pub(super) fn during(&self, spans: &[Span]) -> Option<EncodedWork> {
        if self.works.is_empty() {
            return None;
        }

        let mut tallies = vec![Tally::default(); self.kernels.count()];
        let (mut whole, mut on_gpu) = (Tally::default(), None::<Span>);
        for span in union(spans.iter().copied()) {
            let from = self.begun_by(span.start_ns);
            let to = self.begun_by(span.end_ns);
            for &(_, place) in self.works.get(from..to).unwrap_or(&[]) {
                let Some(interval) = self.mine.get(place) else {
                    continue;
                };
                let on_window = interval.span.clip(self.window);
                let length_ns = on_window.length_ns();
                let kernel = self.kernels.number_of(place);
                if let Some(tally) = kernel.and_then(|kernel| tallies.get_mut(kernel)) {
                    tally.instances += 1;
                    tally.total_ns += length_ns;
                }
                whole.instances += 1;
                whole.total_ns += length_ns;
                on_gpu = Some(on_gpu.map_or(on_window, |known| Span {
                    start_ns: known.start_ns.min(on_window.start_ns),
                    end_ns: known.end_ns.max(on_window.end_ns),
                }));
            }
        }

        let numbered = tallies.iter().enumerate();
        let used = numbered.filter(|(_, tally)| tally.instances > 0);
        let mut kernels: Vec<PhaseKernel> = used
            .map(|(number, tally)| self.kernel(number, *tally, whole.total_ns))
            .collect();
        kernels.sort_by_key(|kernel| {
            let name = (kernel.name.clone(), kernel.channel.clone());
            (Reverse(kernel.total_ns), name)
        });
        let kernels_count = kernels.len() as u64;
        kernels.truncate(KERNELS);

        Some(EncodedWork {
            intervals: whole.instances,
            total_ns: Ns(whole.total_ns),
            start_ns: on_gpu.map(|span| Ns(span.start_ns)),
            end_ns: on_gpu.map(|span| Ns(span.end_ns)),
            kernels,
            kernels_count,
        })
    }

    /// Returns the number of intervals that were encoded before a time.
    fn begun_by(&self, ns: u64) -> usize {
        self.works
            .partition_point(|&(encoded_ns, _)| encoded_ns < ns)
    }

    fn kernel(&self, number: usize, tally: Tally, all_ns: u64) -> PhaseKernel {
        let channel = self.kernels.channel(number);
        PhaseKernel {
            name: self.kernels.name(number).to_owned(),
            channel: channel.map(|channel| self.names.text(channel).to_owned()),
            instances: tally.instances,
            total_ns: Ns(tally.total_ns),
            time_pct: ratio(tally.total_ns, all_ns).unwrap_or(0.0) * 100.0,
        }
    }
}
