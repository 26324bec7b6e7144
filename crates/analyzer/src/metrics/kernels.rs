//! The target's work, by name and by channel.

use metalens_trace::{Names, Symbol};

use crate::basics::spans::{Running, Span};
use crate::basics::statistics::{Summary, ratio, summarize};
use crate::report::{Channel, Kernel};
use crate::subject::named_intervals::NamedIntervals;
use crate::subject::timeline::Interval;

/// The kernels of some intervals, and how long each takes.
pub(crate) struct Kernels {
    pub named: NamedIntervals,
    /// Of each kernel, by its number, how long its intervals take inside the window.
    pub durations: Vec<Summary>,
}

impl Kernels {
    /// Measures the kernels of some intervals inside a window.
    pub(crate) fn of(named: NamedIntervals, mine: &[Interval], window: Span) -> Self {
        let mut durations: Vec<Vec<u64>> = vec![Vec::new(); named.count()];
        for (interval, kernel) in mine.iter().zip(named.numbers()) {
            if let Some(durations) = durations.get_mut(kernel) {
                durations.push(interval.span.clip(window).length_ns());
            }
        }
        let summaries = durations.into_iter().map(|mut all| summarize(&mut all));
        Self {
            // A kernel has an interval, or it would be none.
            durations: summaries.map(Option::unwrap_or_default).collect(),
            named,
        }
    }

    /// Returns the summed durations of all intervals, inside the window.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.durations.iter().map(|one| one.total).sum()
    }

    /// Returns one entry per kernel: the most time first, then by name, channel and source.
    pub(crate) fn summaries(&self, names: &Names) -> Vec<Kernel> {
        let all_ns = self.sum_ns();
        let kernels = self.durations.iter().enumerate();
        let kernels =
            kernels.map(|(number, durations)| self.kernel(number, durations, all_ns, names));
        let mut kernels: Vec<Kernel> = kernels.collect();
        kernels.sort_by(|a, b| {
            let name =
                |kernel: &Kernel| (kernel.name.clone(), kernel.channel.clone(), kernel.named_by);
            b.total_ns
                .cmp(&a.total_ns)
                .then_with(|| name(a).cmp(&name(b)))
        });
        kernels
    }

    fn kernel(&self, number: usize, summary: &Summary, all_ns: u64, names: &Names) -> Kernel {
        let channel = self.named.channel(number);
        Kernel {
            name: self.named.name(number).to_owned(),
            channel: channel.map(|channel| names.text(channel).to_owned()),
            named_by: self.named.named_by(number),
            time_pct: ratio(summary.total, all_ns).unwrap_or(0.0) * 100.0,
            total_ns: summary.total,
            instances: summary.count,
            avg_ns: summary.mean,
            med_ns: summary.median,
            min_ns: summary.min,
            max_ns: summary.max,
            stddev_ns: summary.deviation,
            p95_ns: summary.p95,
            p99_ns: summary.p99,
        }
    }
}

/// One entry per channel, by name.
pub(crate) fn channels(mine: &[Interval], window: Span, names: &Names) -> Vec<Channel> {
    let mut used: Vec<(Option<Symbol>, Running)> = Vec::new();
    let mut last = 0;
    for one in mine {
        // There are few, and the next interval is most often on the same.
        if used
            .get(last)
            .is_none_or(|&(channel, _)| channel != one.channel)
        {
            let known = used.iter().position(|&(channel, _)| channel == one.channel);
            last = known.unwrap_or(used.len());
            if known.is_none() {
                used.push((one.channel, Running::default()));
            }
        }
        if let Some((_, running)) = used.get_mut(last) {
            running.add(one.span.clip(window));
        }
    }
    let of_channel = |(channel, running): (Option<Symbol>, Running)| Channel {
        name: channel.map(|channel| names.text(channel).to_owned()),
        intervals: running.intervals,
        sum_ns: running.sum_ns,
        busy_ns: running.busy_ns,
    };
    let mut channels: Vec<Channel> = used.into_iter().map(of_channel).collect();
    channels.sort_by(|a, b| a.name.cmp(&b.name));
    channels
}
