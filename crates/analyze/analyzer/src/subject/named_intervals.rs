//! Assigns each GPU interval of the process to its kernel.

use metalens_trace::Symbol;
use rustc_hash::FxHashMap;

use super::dispatches::FunctionMixes;
use super::interval::Interval;
use super::kernel_names::{KernelNames, NameSources};
use crate::report::{NamedBy, Shader};

/// GPU intervals of the process, grouped into kernels: one for each name, channel, and source
/// of the name, since a buffer and an encoder may have the same name.
pub(crate) struct NamedIntervals {
    groups: Vec<NamedKernel>,
    /// Index in `groups` of each interval's kernel.
    group_of: Vec<u32>,
    /// Time of each kernel that samples of shaders cover, by its number; empty if there are no
    /// samples.
    covered_ns: Vec<u64>,
    /// Number of each kernel's dispatches, by its number; empty if they are not recorded.
    dispatches: Vec<u64>,
    /// Functions that the program dispatched; empty if they are not recorded.
    pub functions: Vec<Shader>,
    /// Functions of each interval, with how often each was dispatched.
    pub mixes: FunctionMixes,
    /// Number of intervals that the driver made of several encoders.
    pub coalesced: u64,
    /// Number of encoders in those coalesced intervals.
    pub coalesced_encoders: u64,
}

/// Number of recent labels that are looked up without a map.
const RECENT: usize = 64;

/// Result of the lookup of an interval's sources.
struct KernelOfSources {
    group: usize,
    /// Number of encoders, if the driver coalesced several.
    coalesced: Option<u64>,
}

/// Kernel: a name on a channel.
struct NamedKernel {
    name: String,
    named_by: NamedBy,
    channel: Option<Symbol>,
}

impl NamedIntervals {
    /// Returns the number of kernels.
    pub(crate) fn count(&self) -> usize {
        self.groups.len()
    }

    /// Names intervals. Few labels are distinct, so each is named once.
    pub(crate) fn new<'a>(
        mine: impl IntoIterator<Item = &'a Interval>,
        kernels: &KernelNames<'_>,
    ) -> Self {
        let hints = kernels.hints();
        let mut groups: Vec<NamedKernel> = Vec::new();
        let mut by_sources: FxHashMap<NameSources, KernelOfSources> = FxHashMap::default();
        let mut by_name: FxHashMap<(String, NamedBy, Option<Symbol>), usize> = FxHashMap::default();
        let (mut coalesced, mut coalesced_encoders) = (0, 0);

        let mut recent = [None; RECENT];
        let group_of = mine.into_iter().enumerate().map(|(index, interval)| {
            let sources = hints.sources(index, interval);
            let place = sources.label.map_or(0, Symbol::index) % RECENT;
            let place = recent.get_mut(place);
            if let Some((_, group)) = place
                .as_deref()
                .copied()
                .flatten()
                .filter(|&(recent, _)| recent == sources)
            {
                return group;
            }

            let known = by_sources.entry(sources).or_insert_with(|| {
                let channel = sources.channel;
                let (name, named_by) = kernels.name(sources);
                let group = *by_name
                    .entry((name.clone(), named_by, channel))
                    .or_insert_with(|| {
                        groups.push(NamedKernel {
                            name,
                            named_by,
                            channel,
                        });
                        groups.len() - 1
                    });
                KernelOfSources {
                    group,
                    coalesced: kernels.coalesced(sources.label),
                }
            });

            coalesced += u64::from(known.coalesced.is_some());
            coalesced_encoders += known.coalesced.unwrap_or(0);
            // Coalesced intervals stay out of the cache, because their encoders must be counted.
            if let Some(place) = place.filter(|_| known.coalesced.is_none()) {
                *place = Some((sources, known.group));
            }
            known.group
        });

        // A machine has memory for fewer than four billion names.
        let group_of: Vec<u32> = group_of
            .map(|group| u32::try_from(group).unwrap_or(u32::MAX))
            .collect();
        let covered_ns = sums(&group_of, &hints.shaders.covered_ns, groups.len());
        Self {
            functions: hints.dispatched.inventory.clone(),
            mixes: hints.dispatched.mixes.clone(),
            dispatches: sums(&group_of, &hints.dispatched.counts, groups.len()),
            group_of,
            covered_ns,
            groups,
            coalesced,
            coalesced_encoders,
        }
    }

    /// Returns the name of an interval's kernel.
    pub(crate) fn name_of(&self, interval: usize) -> Option<String> {
        Some(self.name(self.number_of(interval)?).to_owned())
    }

    /// Returns the number of an interval's kernel.
    pub(crate) fn number_of(&self, interval: usize) -> Option<usize> {
        self.group_of.get(interval).map(|&group| group as usize)
    }

    /// Returns the number of each interval's kernel, from 0.
    pub(crate) fn numbers(&self) -> impl ExactSizeIterator<Item = usize> + Clone {
        self.group_of.iter().map(|&group| group as usize)
    }

    /// Returns a value of the intervals of each kernel, in their order.
    pub(crate) fn by_kernel(
        &self,
        mine: &[Interval],
        value: impl Fn(&Interval) -> u64,
    ) -> Vec<Vec<u64>> {
        let mut values = vec![Vec::new(); self.count()];
        for (interval, kernel) in mine.iter().zip(self.numbers()) {
            if let Some(values) = values.get_mut(kernel) {
                values.push(value(interval));
            }
        }
        values
    }

    /// Returns the name of a kernel.
    pub(crate) fn name(&self, kernel: usize) -> &str {
        self.groups.get(kernel).map_or("", |group| &group.name)
    }

    /// Returns the source of a kernel's name.
    pub(crate) fn named_by(&self, kernel: usize) -> NamedBy {
        let group = self.groups.get(kernel);
        group.map_or(NamedBy::None, |group| group.named_by)
    }

    /// Returns the channel of a kernel.
    pub(crate) fn channel(&self, kernel: usize) -> Option<Symbol> {
        self.groups.get(kernel)?.channel
    }

    /// Returns the time of a kernel that samples of shaders cover; `None` if there are no samples.
    pub(crate) fn covered_ns(&self, kernel: usize) -> Option<u64> {
        self.covered_ns.get(kernel).copied()
    }

    /// Returns the number of a kernel's dispatches; `None` if they are not recorded.
    pub(crate) fn dispatches(&self, kernel: usize) -> Option<u64> {
        self.dispatches.get(kernel).copied()
    }
}

/// Returns the sums of a value of each interval by its group; empty if there are no values.
fn sums(group_of: &[u32], values: &[u64], groups: usize) -> Vec<u64> {
    if values.is_empty() {
        return Vec::new();
    }
    let mut sums = vec![0; groups];
    for (&group, value) in group_of.iter().zip(values) {
        if let Some(sum) = sums.get_mut(group as usize) {
            *sum += value;
        }
    }
    sums
}
