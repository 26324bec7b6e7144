//! The target's work, by name and by channel.

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use crate::naming::{KernelNames, NamedBy, Sources};
use crate::report::{Channel, Kernel};
use crate::spans::{Running, Span};
use crate::statistics::{Summary, ratio, summarize};
use crate::timeline::Interval;

/// The target's intervals, sorted into kernels: one per name, channel, and what
/// gave the name, since a buffer and an encoder may be called the same.
pub(crate) struct NamedIntervals {
    groups: Vec<Group>,
    /// Of each interval, its place in `groups`.
    group_of: Vec<u32>,
    /// Whether their labels alone named them.
    pub by_label: bool,
    /// Intervals that the driver made of several encoders.
    pub coalesced: u64,
    /// How many encoders those were.
    pub coalesced_encoders: u64,
}

/// The kernels of some intervals, and how long each takes.
#[derive(Clone, Copy)]
pub(crate) struct Kernels<'a> {
    pub named: &'a NamedIntervals,
    /// By [`NamedIntervals::durations`].
    pub durations: &'a [Summary],
}

impl Kernels<'_> {
    /// The summed durations of all intervals, inside the window.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.durations.iter().map(|one| one.total).sum()
    }

    /// One entry per kernel: the most time first, then by name, channel and source.
    pub(crate) fn summaries(&self, names: &Names) -> Vec<Kernel> {
        let all_ns = self.sum_ns();
        let kernels = self.named.groups.iter().zip(self.durations);
        let kernels = kernels.map(|(group, durations)| kernel(group, durations, all_ns, names));
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
}

/// What may name an interval besides its label: one per interval, or nothing.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// The shaders that ran in it.
    pub shaders: Vec<Option<Symbol>>,
    /// The debug group it was encoded in.
    pub groups: Vec<Option<Symbol>>,
}

impl Hints {
    fn is_empty(&self) -> bool {
        self.shaders.is_empty() && self.groups.is_empty()
    }

    fn sources(&self, at: usize, interval: &Interval) -> Sources {
        Sources {
            label: interval.label,
            channel: interval.channel,
            shaders: self.shaders.get(at).copied().flatten(),
            group: self.groups.get(at).copied().flatten(),
        }
    }
}

/// So many labels, lately met, are found without a map.
const RECENT: usize = 64;

struct Known {
    group: usize,
    coalesced: Option<u64>,
}

struct Group {
    name: String,
    named_by: NamedBy,
    channel: Option<Symbol>,
}

impl NamedIntervals {
    /// How many kernels there are.
    pub(crate) fn count(&self) -> usize {
        self.groups.len()
    }

    /// Named by their labels alone; `pairs` are those of command buffers and encoders.
    pub(crate) fn by_label<'a>(
        mine: impl IntoIterator<Item = &'a Interval>,
        names: &Names,
        pairs: &[(Symbol, Symbol)],
    ) -> Self {
        Self::of(mine, &KernelNames::new(names, pairs), &Hints::default())
    }

    /// Few labels are distinct, so each is named once.
    pub(crate) fn of<'a>(
        mine: impl IntoIterator<Item = &'a Interval>,
        kernels: &KernelNames<'_>,
        hints: &Hints,
    ) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: FxHashMap<Sources, Known> = FxHashMap::default();
        let mut by_name: FxHashMap<(String, NamedBy, Option<Symbol>), usize> = FxHashMap::default();
        let (mut coalesced, mut coalesced_encoders) = (0, 0);
        let mut recent = [None; RECENT];
        let group_of = mine.into_iter().enumerate().map(|(at, interval)| {
            let sources = hints.sources(at, interval);
            let place = sources.label.map_or(0, Symbol::index) % RECENT;
            let place = recent.get_mut(place);
            if let Some((_, group)) = place
                .as_deref()
                .copied()
                .flatten()
                .filter(|&(of, _)| of == sources)
            {
                return group;
            }
            let known = known.entry(sources).or_insert_with(|| {
                let channel = sources.channel;
                let (name, named_by) = kernels.name(sources);
                let group = *by_name
                    .entry((name.clone(), named_by, channel))
                    .or_insert_with(|| {
                        groups.push(Group {
                            name,
                            named_by,
                            channel,
                        });
                        groups.len() - 1
                    });
                Known {
                    group,
                    coalesced: kernels.coalesced(sources.label),
                }
            });
            coalesced += u64::from(known.coalesced.is_some());
            coalesced_encoders += known.coalesced.unwrap_or(0);
            if let Some(place) = place.filter(|_| known.coalesced.is_none()) {
                *place = Some((sources, known.group));
            }
            known.group
        });
        // There are fewer names than bytes of memory to hold them.
        let group_of = group_of.map(|group| u32::try_from(group).unwrap_or(u32::MAX));
        Self {
            group_of: group_of.collect(),
            by_label: hints.is_empty(),
            groups,
            coalesced,
            coalesced_encoders,
        }
    }

    /// The kernel of an interval.
    pub(crate) fn name_of(&self, interval: usize) -> Option<String> {
        Some(self.name(self.number_of(interval)?).to_owned())
    }

    /// The number of an interval's kernel.
    pub(crate) fn number_of(&self, interval: usize) -> Option<usize> {
        self.group_of.get(interval).map(|&group| group as usize)
    }

    /// Of each interval, the number of its kernel, from 0.
    pub(crate) fn numbers(&self) -> impl ExactSizeIterator<Item = usize> + Clone {
        self.group_of.iter().map(|&group| group as usize)
    }

    /// What the kernel of a number is called.
    pub(crate) fn name(&self, kernel: usize) -> &str {
        self.groups.get(kernel).map_or("", |group| &group.name)
    }

    /// What named the kernel of a number.
    pub(crate) fn named_by(&self, kernel: usize) -> NamedBy {
        let group = self.groups.get(kernel);
        group.map_or(NamedBy::None, |group| group.named_by)
    }

    /// Where the kernel of a number runs.
    pub(crate) fn channel(&self, kernel: usize) -> Option<Symbol> {
        self.groups.get(kernel)?.channel
    }

    /// Whether a label names the kernel of a number. If not, it may be many.
    pub(crate) fn is_labelled(&self, kernel: usize) -> bool {
        let group = self.groups.get(kernel);
        group.is_some_and(|group| group.named_by != NamedBy::None)
    }

    /// Of each kernel, by its number, how long its intervals take inside the window.
    pub(crate) fn durations(&self, mine: &[Interval], window: Span) -> Vec<Summary> {
        let mut durations: Vec<Vec<u64>> = vec![Vec::new(); self.groups.len()];
        for (interval, group) in mine.iter().zip(self.numbers()) {
            if let Some(durations) = durations.get_mut(group) {
                durations.push(interval.span.clip(window).length_ns());
            }
        }
        let summaries = durations.into_iter().map(|mut all| summarize(&mut all));
        // A kernel has an interval, or it would be none.
        summaries.map(Option::unwrap_or_default).collect()
    }
}

fn kernel(group: &Group, summary: &Summary, all_ns: u64, names: &Names) -> Kernel {
    Kernel {
        name: group.name.clone(),
        channel: group.channel.map(|channel| names.text(channel).to_owned()),
        named_by: group.named_by,
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
