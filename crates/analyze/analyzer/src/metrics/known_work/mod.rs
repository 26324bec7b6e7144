//! Computes the throughput of kernels whose amount of work is known.
//!
//! A trace tells time, not the amount of work. A work file may give that: then operations per
//! second, GB/s and TFLOP/s follow, and their shares of the chip's limits. Without it they are
//! not measurable, and nothing is guessed.

use metalens_message::Share;

mod chips;
mod rates;
mod roof;

#[cfg(test)]
mod tests;

use metalens_message::{Message, Ns, kernel, message, name, path, ungrouped};

pub(crate) use self::chips::Chip;
use self::rates::Amounts;
pub(crate) use self::rates::share_range;
use crate::report::{
    ChipFacts, ChipLimits, ChipNamedBy, Kernel, NotRecorded, Note, Report, WorkRow, WorkThroughput,
};
use crate::request::work_file::{AmountScope, KnownWork, WorkFile};

/// Label that stands for every kernel that no other entry names.
const ANY: &str = "*";

/// Returns the throughput that follows from a work file, for a report that is otherwise
/// complete.
pub(crate) fn work(file: &WorkFile, report: &Report) -> WorkThroughput {
    let source = message!(
        "the amounts of work are from {}; only the time of the kernels is measured",
        path(&file.file)
    );
    let mut notes = vec![Note::quiet("work-told", source)];
    let chip = chip(file, report.run.device.gpu.as_deref(), &mut notes);
    let matches = EntryByKernel::new(file, &report.kernels);
    let known = with_amounts(file, &matches, report, &mut notes);

    let whole = known
        .iter()
        .fold(Amounts::default(), |sum, work| sum.plus(work.amounts));
    let span_ns = report.window.span_ns;
    let mut rows: Vec<WorkRow> = known
        .into_iter()
        .map(|work| work.row(chip.as_ref(), span_ns))
        .collect();
    rows.sort_by_cached_key(|row| {
        let name = (row.label.clone(), row.kernels.clone(), row.channel.clone());
        (std::cmp::Reverse(row.total_ns), name)
    });

    let labels_without = matches.labels_without(file);
    let kernels_without = matches.kernels_without(&report.kernels);
    notes.extend(unmatched(&labels_without, &kernels_without));
    notes.extend(split_or_coalesced(file, report));
    notes.extend(beyond_the_chip(&rows));
    let step = roof::roof(file, chip.as_ref(), report, &mut notes);
    WorkThroughput {
        file: file.file.clone(),
        chip,
        rows,
        all: whole.over(span_ns),
        step,
        kernels_without,
        labels_without,
        notes,
    }
}

/// Returns a note if the work file is from a simulation, and none if the recording is synthetic
/// as well, which says so itself.
pub(crate) fn simulated(file: &WorkFile, is_synthetic: bool) -> Option<Note> {
    (file.is_simulated() && !is_synthetic).then(|| {
        let text = message!(
            "SIMULATED: {} is from a run without a GPU, so it does not belong to this recording: \
             rates computed from it mean nothing",
            path(&file.file)
        );
        Note::loud("simulated-work", text)
    })
}

/// Returns the reason why there are no rates.
pub(crate) fn not_recorded() -> NotRecorded {
    NotRecorded::new(
        "work",
        "operations/s, GB/s and TFLOP/s need the amount of work of each kernel, which a recording \
         does not have: give a work file with --work FILE",
    )
}

/// Assignment of the file's entries to the kernels of the report.
struct EntryByKernel {
    /// Index of the entry of each kernel.
    entry_of: Vec<Option<usize>>,
}

impl EntryByKernel {
    /// Assigns the entries: a kernel's own label has priority over `*`, then an entry with a
    /// channel over one without.
    fn new(file: &WorkFile, kernels: &[Kernel]) -> Self {
        let entry_of = kernels.iter().map(|kernel| {
            let entries = file.work.iter().enumerate();
            let fitting = entries.filter(|(_, entry)| fits(entry, kernel));
            let best = fitting
                .max_by_key(|(_, entry)| (entry.label == kernel.name, entry.channel.is_some()));
            best.map(|(index, _)| index)
        });
        Self {
            entry_of: entry_of.collect(),
        }
    }

    /// Returns the kernels of an entry.
    fn kernels<'a>(&self, entry: usize, kernels: &'a [Kernel]) -> Vec<&'a Kernel> {
        let pairs = kernels.iter().zip(&self.entry_of);
        let mine = pairs.filter(|&(_, &assigned)| assigned == Some(entry));
        mine.map(|(kernel, _)| kernel).collect()
    }

    fn kernels_without(&self, kernels: &[Kernel]) -> Vec<String> {
        let pairs = kernels.iter().zip(&self.entry_of);
        let without = pairs.filter(|(_, assigned)| assigned.is_none());
        without.map(|(kernel, _)| kernel.name.clone()).collect()
    }

    fn labels_without(&self, file: &WorkFile) -> Vec<String> {
        let entries = file.work.iter().enumerate();
        let entries = entries.filter(|(_, entry)| entry.per != AmountScope::Step);
        let without = entries.filter(|(index, _)| !self.entry_of.contains(&Some(*index)));
        without.map(|(_, entry)| entry.label.clone()).collect()
    }
}

/// Returns whether an entry is about a kernel.
fn fits(entry: &KnownWork, kernel: &Kernel) -> bool {
    let has_label = entry.label == kernel.name || entry.label == ANY;
    has_label
        && entry.per != AmountScope::Step
        && (entry.channel.is_none() || entry.channel == kernel.channel)
}

/// Kernels with the amounts of their work.
struct KernelsWithAmounts<'a> {
    label: &'a str,
    kernels: Vec<&'a Kernel>,
    amounts: Amounts,
}

/// Returns the kernels of each entry: one by one if the amounts are per instance, together if
/// the amounts are a total.
fn with_amounts<'a>(
    file: &'a WorkFile,
    matches: &EntryByKernel,
    report: &'a Report,
    notes: &mut Vec<Note>,
) -> Vec<KernelsWithAmounts<'a>> {
    let mut kernels_with_amounts = Vec::new();
    for (index, entry) in file.work.iter().enumerate() {
        let kernels = matches.kernels(index, &report.kernels);

        let amounts = Amounts::of(entry);
        let label = entry.label.as_str();
        match entry.per {
            _ if kernels.is_empty() => {}
            AmountScope::Step => {}
            AmountScope::Instance => {
                kernels_with_amounts.extend(kernels.into_iter().map(|kernel| KernelsWithAmounts {
                    label,
                    amounts: amounts.times(kernel.instances),
                    kernels: vec![kernel],
                }));
            }
            AmountScope::Total if report.window.excluded.is_empty() => {
                kernels_with_amounts.push(KernelsWithAmounts {
                    label,
                    kernels,
                    amounts,
                });
            }
            AmountScope::Total => {
                let text = message!(
                    "the work of `{}` is given for the whole recording, and the window is only a \
                     part of it: its rates are unknown",
                    kernel(label)
                );
                notes.push(Note::quiet("work-of-the-whole", text));
                kernels_with_amounts.push(KernelsWithAmounts {
                    label,
                    kernels,
                    amounts: Amounts::default(),
                });
            }
        }
    }
    kernels_with_amounts
}

impl KernelsWithAmounts<'_> {
    fn row(self, chip: Option<&ChipFacts>, span_ns: Ns) -> WorkRow {
        let total_ns: Ns = self.kernels.iter().map(|kernel| kernel.total_ns).sum();
        let gpu_time = self.amounts.over(total_ns);
        let channel = self
            .kernels
            .first()
            .and_then(|kernel| kernel.channel.clone());
        let is_one_channel = self.kernels.iter().all(|kernel| kernel.channel == channel);

        WorkRow {
            label: self.label.to_owned(),
            kernels: self
                .kernels
                .iter()
                .map(|kernel| kernel.name.clone())
                .collect(),
            channel: channel.filter(|_| is_one_channel),
            instances: self.kernels.iter().map(|kernel| kernel.instances).sum(),
            total_ns,
            bandwidth_share: share_range(gpu_time.gb_per_s, chip.and_then(|c| c.bandwidth_gb_s)),
            peak_share: share_range(gpu_time.tflop_per_s, chip.and_then(|c| c.peak_tflops)),
            gpu_time,
            window: self.amounts.over(span_ns),
        }
    }
}

/// Returns the chip: its name is the recording's if that has one, its size is the file's.
fn chip(file: &WorkFile, recorded: Option<&str>, notes: &mut Vec<Note>) -> Option<ChipFacts> {
    if let (Some(recorded), Some(in_file)) = (recorded, file.device.as_deref())
        && Chip::by_name(recorded) != Chip::by_name(in_file)
    {
        let text = message!(
            "{} names the GPU `{}`, the recording names it `{}`; the recording's name is used",
            path(&file.file),
            name(in_file),
            name(recorded)
        );
        notes.push(Note::quiet("work-of-another-chip", text));
    }

    let (chip_name, named_by) = match recorded {
        Some(name) => (name, ChipNamedBy::Recording),
        None => (file.device.as_deref()?, ChipNamedBy::WorkFile),
    };

    let Some(chip) = Chip::by_name(chip_name) else {
        let text = message!(
            "bandwidth and peak of the GPU `{}` are unknown: give bandwidth_gb_s and peak_tflops in \
             the work file",
            name(chip_name)
        );
        notes.push(Note::quiet("chip-unknown", text));
        return (file.bandwidth_gb_s.is_some() || file.peak_tflops.is_some()).then(|| ChipFacts {
            name: chip_name.to_owned(),
            named_by,
            gpu_cores: file.gpu_cores.into_iter().collect(),
            bandwidth_gb_s: exactly(file.bandwidth_gb_s),
            peak_tflops: exactly(file.peak_tflops),
        });
    };

    if let Some(cores) = file.gpu_cores.filter(|cores| !chip.cores().contains(cores)) {
        let text = message!(
            "no {} with {} GPU cores is known, so its shares are unknown",
            name(&chip.full_name()),
            ungrouped(u64::from(cores))
        );
        notes.push(Note::quiet("chip-cores-unknown", text));
    }

    Some(ChipFacts {
        name: chip.full_name(),
        named_by,
        gpu_cores: file
            .gpu_cores
            .map_or_else(|| chip.cores(), |cores| vec![cores]),
        bandwidth_gb_s: exactly(file.bandwidth_gb_s).or_else(|| chip.bandwidth(file.gpu_cores)),
        peak_tflops: exactly(file.peak_tflops).or_else(|| chip.peak(file.gpu_cores)),
    })
}

fn exactly(value: Option<f64>) -> Option<ChipLimits> {
    value.map(|value| ChipLimits {
        min: value,
        max: value,
    })
}

/// Returns a note on labels of the file that no kernel has, with the kernels that the file does not
/// describe: one may be the other, spelled differently.
fn unmatched(labels: &[String], kernels: &[String]) -> Option<Note> {
    // Beside entries for every kernel, the one for all others may have none left.
    let labels: Vec<&String> = labels.iter().filter(|&label| label != ANY).collect();
    let without = (!kernels.is_empty()).then(|| {
        message!(
            "; kernels without an amount: {}",
            listed(kernels.iter().map(|name| kernel(name)))
        )
    });
    (!labels.is_empty()).then(|| {
        let text = message!(
            "no kernel in the window matches {}{}",
            listed(labels.iter().map(|label| name(label))),
            without
        );
        Note::quiet("work-unmatched", text)
    })
}

/// Returns the first names, and the number of the others: `a, b, … and 3 more`.
fn listed(names: impl ExactSizeIterator<Item = Message>) -> Message {
    const SHOWN: usize = 5;
    let hidden = names.len().saturating_sub(SHOWN) as u64;
    let more = (hidden > 0).then(|| message!("… and {} more", ungrouped(hidden)));
    Message::joined(names.take(SHOWN).chain(more), ", ")
}

/// Returns a note if GPU intervals are not one to one with encoders: then an amount per
/// instance may be meant for something else.
fn split_or_coalesced(file: &WorkFile, report: &Report) -> Option<Note> {
    let (intervals, encoders) = (report.counts.intervals, report.counts.encoders);
    let has_instances = file
        .work
        .iter()
        .any(|entry| entry.per == AmountScope::Instance);
    (has_instances && encoders > 0 && encoders != intervals).then(|| {
        let text = message!(
            "amounts per instance count once per GPU interval, and there are {} intervals of {} \
             encoders: the GPU ran some encoders in several parts, so their work counts more than \
             once; give totals to be exact",
            ungrouped(intervals),
            ungrouped(encoders)
        );
        Note::quiet("work-split", text)
    })
}

/// Returns notes on rates that the chip cannot reach; the figures stay as they are.
fn beyond_the_chip(rows: &[WorkRow]) -> Vec<Note> {
    let mut notes = Vec::new();
    for row in rows {
        if row
            .bandwidth_share
            .is_some_and(|share| share.at_least > Share(1.0))
        {
            let text = message!(
                "`{}` moves more bytes per second than the chip's memory can: caches served part \
                 of them, or the amount in the work file is too high",
                kernel(&row.label)
            );
            notes.push(Note::quiet("beyond-bandwidth", text));
        }
        if row
            .peak_share
            .is_some_and(|share| share.at_least > Share(1.0))
        {
            let text = message!(
                "`{}` does more flops per second than the chip's FP32 units can: matrix units did \
                 them, or the amount in the work file is too high",
                kernel(&row.label)
            );
            notes.push(Note::quiet("beyond-peak", text));
        }
    }
    notes
}
