//! Computes the GPU work of the process by kernel and by channel.

use metalens_message::{Ns, ratio};
use metalens_trace::{Names, Symbol};

use crate::basics::spans::{RunningUnion, Span};
use crate::basics::statistics::{Statistics, median, of_thirds, sixteenths, summarize};
use crate::metrics::spills::SpilledEncoders;
use crate::report::{Channel, Kernel, KernelSpills};
use crate::subject::interval::Interval;
use crate::subject::named_intervals::NamedIntervals;

/// Kernels of some intervals, with statistics of their durations.
pub(crate) struct Kernels {
    pub named: NamedIntervals,
    /// Statistics of each kernel's durations inside the window, by its number.
    pub durations: Vec<Statistics>,
    /// Medians of the thirds of each kernel's durations, by its number.
    thirds: Vec<Option<[u64; 3]>>,
    /// Middles of the sixteenths of each kernel's durations, by its number.
    sixteenths: Vec<Option<[u64; 16]>>,
    /// Spilled registers of each kernel, by its number; `None` if they were not recorded.
    spills: Option<Vec<KernelSpills>>,
}

impl Kernels {
    /// Computes the statistics of some intervals inside a window.
    pub(crate) fn new(
        named: NamedIntervals,
        spilled: Option<&SpilledEncoders>,
        mine: &[Interval],
        window: Span,
    ) -> Self {
        let mut durations =
            named.by_kernel(mine, |interval| interval.span.clip(window).length_ns());

        let thirds = durations
            .iter()
            .map(|lengths| of_thirds(lengths, |third| median(third.iter().copied())));
        let thirds: Vec<Option<[u64; 3]>> = thirds.collect();
        let statistics = durations.iter_mut().map(|lengths| summarize(lengths));
        // Every kernel has an interval, so the default is never used.
        let statistics: Vec<Statistics> = statistics.map(Option::unwrap_or_default).collect();
        let sixteenths = durations.iter_mut().map(|lengths| sixteenths(lengths));
        Self {
            sixteenths: sixteenths.collect(),
            durations: statistics,
            thirds,
            spills: spilled.map(|spilled| spilled.by_kernel(&named, mine, window)),
            named,
        }
    }

    /// Returns the summed durations of all intervals, inside the window.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.durations.iter().map(|kernel| kernel.total).sum()
    }

    /// Returns one entry per kernel: the most time first, then by name, channel and source.
    pub(crate) fn summaries(&self, names: &Names) -> Vec<Kernel> {
        let all_ns = self.sum_ns();
        let mut kernels: Vec<Kernel> = self
            .durations
            .iter()
            .enumerate()
            .map(|(number, durations)| self.kernel(number, durations, all_ns, names))
            .collect();

        kernels.sort_by_cached_key(|kernel| {
            let name = (kernel.name.clone(), kernel.channel.clone(), kernel.named_by);
            (std::cmp::Reverse(kernel.total_ns), name)
        });
        kernels
    }

    fn kernel(&self, number: usize, durations: &Statistics, all_ns: u64, names: &Names) -> Kernel {
        let channel = self.named.channel(number);
        Kernel {
            name: self.named.name(number).to_owned(),
            channel: channel.map(|channel| names.text(channel).to_owned()),
            named_by: self.named.named_by(number),
            time_pct: ratio(durations.total, all_ns).unwrap_or(0.0) * 100.0,
            total_ns: Ns(durations.total),
            instances: durations.count,
            avg_ns: Ns(durations.mean),
            med_ns: Ns(durations.median),
            med_thirds_ns: self.thirds.get(number).copied().flatten(),
            sixteenths_ns: self.sixteenths.get(number).copied().flatten(),
            min_ns: Ns(durations.min),
            max_ns: Ns(durations.max),
            stddev_ns: Ns(durations.deviation),
            p95_ns: Ns(durations.p95),
            p99_ns: Ns(durations.p99),
            dispatches: self.named.dispatches(number),
            spills: self
                .spills
                .as_ref()
                .and_then(|spills| spills.get(number).copied()),
            shader_ns: self.named.covered_ns(number).map(Ns),
        }
    }
}

/// Returns one entry per channel, sorted by name.
pub(crate) fn channels(mine: &[Interval], window: Span, names: &Names) -> Vec<Channel> {
    let mut used: Vec<(Option<Symbol>, RunningUnion)> = Vec::new();
    let mut last = 0;
    for interval in mine {
        // There are few channels, and the next interval is most often on the same.
        if used
            .get(last)
            .is_none_or(|&(channel, _)| channel != interval.channel)
        {
            let known = used
                .iter()
                .position(|&(channel, _)| channel == interval.channel);
            last = known.unwrap_or(used.len());
            if known.is_none() {
                used.push((interval.channel, RunningUnion::default()));
            }
        }
        if let Some((_, running)) = used.get_mut(last) {
            running.add(interval.span.clip(window));
        }
    }

    let entry = |(channel, running): (Option<Symbol>, RunningUnion)| Channel {
        name: channel.map(|channel| names.text(channel).to_owned()),
        intervals: running.intervals,
        sum_ns: Ns(running.sum_ns),
        busy_ns: Ns(running.busy_ns),
    };
    let mut channels: Vec<Channel> = used.into_iter().map(entry).collect();
    channels.sort_by(|a, b| a.name.cmp(&b.name));
    channels
}
