//! The target's intervals, each with its kernel.

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use super::kernel_names::{Hints, KernelNames, Sources};
use super::timeline::Interval;
use crate::report::NamedBy;

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
        Self::of(mine, &KernelNames::new(names, pairs, &Hints::default()))
    }

    /// Few labels are distinct, so each is named once.
    pub(crate) fn of<'a>(
        mine: impl IntoIterator<Item = &'a Interval>,
        kernels: &KernelNames<'_>,
    ) -> Self {
        let hints = kernels.hints();
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
}
