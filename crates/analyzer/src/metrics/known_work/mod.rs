//! How fast known work went.
//!
//! A trace tells time, never how much was done in it. A file beside it may: then
//! operations per second, GB/s and TFLOP/s follow, and their shares of what the
//! chip can do. Without it they are not measurable, and nothing is guessed.

mod chips;
mod rates;
mod timings;

#[cfg(test)]
mod tests;

use self::chips::Chip;
use self::rates::{Amounts, share};
use crate::basics::message::{kernel, name, path, ungrouped};
use crate::message;
use crate::report::{
    ChipFacts, ChipLimits, ChipNamedBy, Kernel, NotRecorded, Note, Report, Work, WorkRow,
};
use crate::request::sidecar::{KnownWork, Per, Sidecar};
use crate::subject::buffers::Buffer;

/// Every kernel that no other entry names.
const ANY: &str = "*";

/// What follows from a file of known work for a report that is else complete.
/// `buffers` are the target's command buffers in the whole recording.
pub(crate) fn work(file: &Sidecar, report: &Report, buffers: &[Buffer]) -> Work {
    let told = message!(
        "how much work kernels do is told by {}, not measured; only their time is",
        path(&file.file)
    );
    let mut notes = vec![Note::quiet("work-told", told)];
    let chip = chip(file, report.run.device.gpu.as_deref(), &mut notes);
    let matches = Matches::of(file, &report.kernels);
    let known = known(file, &matches, report, &mut notes);
    let all = known
        .iter()
        .fold(Amounts::default(), |sum, one| sum.plus(one.amounts));
    let span_ns = report.window.span_ns;
    let mut rows: Vec<WorkRow> = known
        .into_iter()
        .map(|one| one.row(chip.as_ref(), span_ns))
        .collect();
    rows.sort_by(|a, b| {
        let name = |row: &WorkRow| (row.label.clone(), row.kernels.clone(), row.channel.clone());
        b.total_ns
            .cmp(&a.total_ns)
            .then_with(|| name(a).cmp(&name(b)))
    });
    notes.extend(split_or_coalesced(file, report));
    notes.extend(beyond_the_chip(&rows));
    let (notes, note_details) = Note::lists(notes);
    Work {
        file: file.file.clone(),
        chip,
        rows,
        all: all.over(span_ns),
        kernels_without: matches.kernels_without(&report.kernels),
        labels_without: matches.labels_without(file),
        timings: (!file.timings.is_empty())
            .then(|| timings::check(&file.timings, &timings::in_order_of_commit(buffers)))
            .flatten(),
        notes,
        note_details,
    }
}

/// What a reader of a report must know of a file that tells of a simulation.
/// None if the recording is a synthetic one, too, which says so itself.
#[must_use]
pub(crate) fn simulated(file: &Sidecar, is_synthetic: bool) -> Option<Note> {
    (file.is_simulated() && !is_synthetic).then(|| {
        let text = message!(
            "SIMULATED: {} says that no GPU ran its work, so it is not of this recording: rates \
             that follow from it are not true of anything",
            path(&file.file)
        );
        Note::loud("simulated-work", text)
    })
}

/// Why there are no rates.
#[must_use]
pub(crate) fn unavailable() -> NotRecorded {
    NotRecorded::new(
        "work",
        "operations/s, GB/s and TFLOP/s are not measurable: a trace has the time of kernels, not \
         their work, and no work.json tells how many operations, bytes and flops a kernel has; \
         --work FILE names one",
    )
}

/// Which entry of the file is about which kernel of the report.
struct Matches {
    /// Of each kernel, its entry.
    entry_of: Vec<Option<usize>>,
}

impl Matches {
    /// The label decides before the channel, and either before `*`.
    fn of(file: &Sidecar, kernels: &[Kernel]) -> Self {
        let fits = |entry: &KnownWork, kernel: &Kernel| {
            let label = entry.label == kernel.name || entry.label == ANY;
            label && (entry.channel.is_none() || entry.channel == kernel.channel)
        };
        let entry_of = kernels.iter().map(|kernel| {
            let entries = file.work.iter().enumerate();
            let fitting = entries.filter(|(_, entry)| fits(entry, kernel));
            let best = fitting
                .max_by_key(|(_, entry)| (entry.label == kernel.name, entry.channel.is_some()));
            best.map(|(at, _)| at)
        });
        Self {
            entry_of: entry_of.collect(),
        }
    }

    /// The kernels of an entry.
    fn kernels<'a>(&self, entry: usize, kernels: &'a [Kernel]) -> Vec<&'a Kernel> {
        let pairs = kernels.iter().zip(&self.entry_of);
        let mine = pairs.filter(|&(_, &of)| of == Some(entry));
        mine.map(|(kernel, _)| kernel).collect()
    }

    fn kernels_without(&self, kernels: &[Kernel]) -> Vec<String> {
        let pairs = kernels.iter().zip(&self.entry_of);
        let without = pairs.filter(|(_, of)| of.is_none());
        without.map(|(kernel, _)| kernel.name.clone()).collect()
    }

    fn labels_without(&self, file: &Sidecar) -> Vec<String> {
        let entries = file.work.iter().enumerate();
        let without = entries.filter(|(at, _)| !self.entry_of.contains(&Some(*at)));
        without.map(|(_, entry)| entry.label.clone()).collect()
    }
}

/// Kernels and how much they did.
struct Known<'a> {
    label: &'a str,
    kernels: Vec<&'a Kernel>,
    amounts: Amounts,
}

/// Per entry: each kernel by itself if the amounts are per instance, all of
/// them together if the amounts are theirs together.
fn known<'a>(
    file: &'a Sidecar,
    matches: &Matches,
    report: &'a Report,
    notes: &mut Vec<Note>,
) -> Vec<Known<'a>> {
    let mut all = Vec::new();
    for (at, entry) in file.work.iter().enumerate() {
        let kernels = matches.kernels(at, &report.kernels);
        let amounts = Amounts {
            operations: entry.operations.map(u128::from),
            bytes: entry.bytes.map(u128::from),
            flops: entry.flops.map(u128::from),
        };
        let label = entry.label.as_str();
        match entry.per {
            _ if kernels.is_empty() => {}
            Per::Instance => all.extend(kernels.into_iter().map(|kernel| Known {
                label,
                amounts: amounts.times(kernel.instances),
                kernels: vec![kernel],
            })),
            Per::Total if report.window.excluded.is_empty() => all.push(Known {
                label,
                kernels,
                amounts,
            }),
            Per::Total => {
                let text = message!(
                    "the work of `{}` is told for the whole recording, and the window is a part of \
                     it: its rates are unknown",
                    kernel(label)
                );
                notes.push(Note::quiet("work-of-the-whole", text));
                all.push(Known {
                    label,
                    kernels,
                    amounts: Amounts::default(),
                });
            }
        }
    }
    all
}

impl Known<'_> {
    fn row(self, chip: Option<&ChipFacts>, span_ns: u64) -> WorkRow {
        let total_ns = self.kernels.iter().map(|kernel| kernel.total_ns).sum();
        let gpu_time = self.amounts.over(total_ns);
        let channel = self
            .kernels
            .first()
            .and_then(|kernel| kernel.channel.clone());
        let one_channel = self.kernels.iter().all(|kernel| kernel.channel == channel);
        WorkRow {
            label: self.label.to_owned(),
            kernels: self
                .kernels
                .iter()
                .map(|kernel| kernel.name.clone())
                .collect(),
            channel: channel.filter(|_| one_channel),
            instances: self.kernels.iter().map(|kernel| kernel.instances).sum(),
            total_ns,
            bandwidth_share: share(gpu_time.gb_per_s, chip.and_then(|c| c.bandwidth_gb_s)),
            peak_share: share(gpu_time.tflop_per_s, chip.and_then(|c| c.peak_tflops)),
            gpu_time,
            window: self.amounts.over(span_ns),
        }
    }
}

/// The recording knows best what ran it; the file may know its size.
fn chip(file: &Sidecar, recorded: Option<&str>, notes: &mut Vec<Note>) -> Option<ChipFacts> {
    if let (Some(recorded), Some(told)) = (recorded, file.device.as_deref())
        && Chip::of(recorded) != Chip::of(told)
    {
        let text = message!(
            "{} says that the GPU is `{}`, the recording says `{}`: the recording is believed",
            path(&file.file),
            name(told),
            name(recorded)
        );
        notes.push(Note::quiet("work-of-another-chip", text));
    }
    let (chip_name, named_by) = match recorded {
        Some(name) => (name, ChipNamedBy::Recording),
        None => (file.device.as_deref()?, ChipNamedBy::WorkFile),
    };
    let told = |value: Option<f64>| {
        value.map(|value| ChipLimits {
            min: value,
            max: value,
        })
    };
    let Some(chip) = Chip::of(chip_name) else {
        let text = message!(
            "no bandwidth or peak of the GPU `{}` is known here: bandwidth_gb_s and peak_tflops in \
             the file tell them",
            name(chip_name)
        );
        notes.push(Note::quiet("chip-unknown", text));
        return (file.bandwidth_gb_s.is_some() || file.peak_tflops.is_some()).then(|| ChipFacts {
            name: chip_name.to_owned(),
            named_by,
            gpu_cores: file.gpu_cores.into_iter().collect(),
            bandwidth_gb_s: told(file.bandwidth_gb_s),
            peak_tflops: told(file.peak_tflops),
        });
    };
    if let Some(cores) = file.gpu_cores.filter(|cores| !chip.cores().contains(cores)) {
        let text = message!(
            "an {} with {} GPU cores is unknown here, so no share of it is told",
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
        bandwidth_gb_s: told(file.bandwidth_gb_s).or_else(|| chip.bandwidth(file.gpu_cores)),
        peak_tflops: told(file.peak_tflops).or_else(|| chip.peak(file.gpu_cores)),
    })
}

/// An instance is an interval. Where those are not one to one with encoders, an
/// amount per instance may be meant for another thing.
fn split_or_coalesced(file: &Sidecar, report: &Report) -> Option<Note> {
    let (intervals, encoders) = (report.counts.intervals, report.counts.encoders);
    let per_instance = file.work.iter().any(|entry| entry.per == Per::Instance);
    (per_instance && encoders > 0 && encoders != intervals).then(|| {
        let text = message!(
            "amounts per instance are amounts per interval, and there are {} intervals of {} \
             encoders: the GPU ran some in several parts, so their work counts double; tell totals \
             to be exact",
            ungrouped(intervals),
            ungrouped(encoders)
        );
        Note::quiet("work-split", text)
    })
}

/// Rates that the chip cannot have: the reader is told, the figure stays.
fn beyond_the_chip(rows: &[WorkRow]) -> Vec<Note> {
    let mut notes = Vec::new();
    for row in rows {
        if row
            .bandwidth_share
            .is_some_and(|share| share.at_least > 1.0)
        {
            let text = message!(
                "`{}` moves more bytes per second than the chip's memory can: caches served part \
                 of them, or the file tells too many",
                kernel(&row.label)
            );
            notes.push(Note::quiet("beyond-bandwidth", text));
        }
        if row.peak_share.is_some_and(|share| share.at_least > 1.0) {
            let text = message!(
                "`{}` does more flops per second than the chip's FP32 units can: matrix units did \
                 them, or the file tells too many",
                kernel(&row.label)
            );
            notes.push(Note::quiet("beyond-peak", text));
        }
    }
    notes
}
