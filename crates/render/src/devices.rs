//! Puts the same work on several chips side by side: a section of an index, and a document of its own
//! for the recordings of datasets.

use metalens_analyzer::message::{Value, count, counted, name, number, percent, time};
use metalens_analyzer::{Cause, IdleTime, Message, message};
use metalens_comparison::many::{AcrossDevices, DeviceFigures};
use metalens_comparison::{Environment, Number};

use crate::document::{Block, Chart, Column, Document, Drawing, Section, Table};
use crate::environment;
use crate::time_parts::TimeParts;
use crate::wording::{known, plain};

/// Names of the tables of the works that are shown; no two tables of a page have one name.
const TABLES: [&str; 8] = [
    "chips", "chips-2", "chips-3", "chips-4", "chips-5", "chips-6", "chips-7", "chips-8",
];

/// The recordings of datasets, with the same work on several chips side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleetChips {
    /// Number of recordings.
    pub recordings: u64,
    /// Number of recordings that a simulator wrote.
    pub synthetic: u64,
    /// Number of recordings that do not name their chip.
    pub unnamed: u64,
    /// Names of the chips.
    pub chips: Vec<String>,
    /// Works that several chips did.
    pub works: Vec<AcrossDevices>,
    /// Environments of the recordings.
    pub environments: Vec<Environment>,
}

/// Returns the document of the recordings of datasets.
#[must_use]
pub fn document(fleet: &FleetChips) -> Document {
    let environment = environment::section(&fleet.environments, environment::Of::Runs);
    let view = WorksView {
        chips: fleet.chips.len() as u64,
        is_all_synthetic: fleet.synthetic == fleet.recordings,
        rest: "left out",
    };
    let sections = [
        Some(opening(fleet)),
        section(&fleet.works, &view),
        environment,
    ];
    Document {
        title: "GPU work across chips".into(),
        sections: sections.into_iter().flatten().collect(),
        footer: plain(format!(
            "metalens {}. Another query answers other questions about these recordings, with SQL.",
            env!("CARGO_PKG_VERSION")
        )),
    }
}

fn opening(fleet: &FleetChips) -> Section {
    let works = counted(fleet.works.len() as u64, "work");
    let works = (fleet.chips.len() > 1).then(|| message!(", {} on several of them", works));
    let lead = message!(
        "{} of {}{}",
        counted(fleet.recordings, "recording"),
        counted(fleet.chips.len() as u64, "chip"),
        works
    );
    let synthetic: Option<Message> = match fleet.synthetic {
        0 => None,
        all if all == fleet.recordings => {
            Some("SYNTHETIC: a simulator wrote all recordings; no GPU ran any of them".into())
        }
        some => Some(message!(
            "SYNTHETIC: a simulator wrote {} of the recordings; no GPU ran any of these",
            count(some)
        )),
    };

    let devices = fleet.works.iter().flat_map(|work| &work.devices);
    let compared: u64 = devices.map(|one| one.reports.len() as u64).sum();
    let alone = fleet.recordings.saturating_sub(compared + fleet.unnamed);
    let alone = (alone > 0).then(|| {
        let alone = counted(alone, "recording");
        let text = message!(
            "{} did work that no other chip did: compared with none",
            alone
        );
        Block::Remark(text)
    });
    let unnamed = (fleet.unnamed > 0).then(|| {
        let unnamed = counted(fleet.unnamed, "recording");
        let text = message!("{} without the name of a chip: compared with none", unnamed);
        Block::Remark(text)
    });
    Section::new("verdict", "", 0)
        .with(Block::Lead(lead))
        .with_some(synthetic.map(Block::Warning))
        .with_some(alone)
        .with_some(unnamed)
}

/// Facts that the page around the works has.
pub(crate) struct WorksView {
    /// Number of chips of all recordings.
    pub(crate) chips: u64,
    /// True if the top of the page says that all recordings are synthetic.
    pub(crate) is_all_synthetic: bool,
    /// Place of the works that have no room.
    pub(crate) rest: &'static str,
}

/// Returns a table for each work that several chips did. Says so if there are several chips and no
/// such work; nothing for a single chip.
pub(crate) fn section(works: &[AcrossDevices], view: &WorksView) -> Option<Section> {
    let section = Section::new("chips", "Same work across chips", 2);
    if works.is_empty() {
        let text = message!(
            "The recordings are of {} chips, and no two chips did the same work, so none are compared",
            count(view.chips)
        );
        return (view.chips > 1).then(|| section.with(Block::Remark(text)));
    }

    let shown = works.iter().zip(TABLES);
    let blocks = shown.flat_map(|(work, id)| {
        let chart = Block::Chart(Chart {
            id: chart(id),
            drawing: Drawing::None,
        });
        let is_marked = work.synthetic && !view.is_all_synthetic;
        let simulated: Option<Message> = is_marked.then(|| ", SYNTHETIC: no GPU ran it".into());
        let title = Block::Text(message!("{}{}", name(&work.name), simulated));
        [title, chart, Block::Table(table(work, id))]
    });
    let more = works.len().saturating_sub(TABLES.len()) as u64;
    let more =
        (more > 0).then(|| Block::Remark(message!("{} more works are {}", count(more), view.rest)));
    let remark = "Each line is the recording with the median window of its chip, so that its times sum \
                  to the window. Only recordings with the same kernels as often, in as many command \
                  buffers, are side by side. Systems and frameworks may differ: see Environment";
    let section = section.with_all(blocks).with_some(more);
    Some(section.with(Block::Remark(remark.into())))
}

/// Returns the name of the drawing of a work.
fn chart(table: &str) -> String {
    format!("{table}-times")
}

/// Returns the works that are shown, each with the name of its drawing.
pub(crate) fn shown(works: &[AcrossDevices]) -> impl Iterator<Item = (&AcrossDevices, String)> {
    let works = works.iter().zip(TABLES);
    works.map(|(work, id)| (work, chart(id)))
}

/// Returns the GPU time and the idle time by cause; none if an earlier version left the causes out.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 ns: 104 days")]
pub(crate) fn parts(device: &DeviceFigures) -> Option<TimeParts> {
    let idle = device.idle?.by_cause().into_iter();
    let idle = idle.map(|(cause, ns)| (cause, ns as f64)).collect();
    Some(TimeParts::of_sum(device.busy_ns as f64, idle))
}

fn table(work: &AcrossDevices, id: &'static str) -> Table {
    let idle = |device: &DeviceFigures| {
        device.idle.map(|parts| IdleTime {
            total_ns: parts.total_ns(),
            parts,
            ..IdleTime::default()
        })
    };
    let is_there = |cause: &Cause| {
        let mut all = work.devices.iter().filter_map(|one| one.idle);
        all.any(|parts| parts.get(*cause) > 0)
    };
    let causes: Vec<Cause> = Cause::ALL.into_iter().filter(is_there).collect();

    let mut bandwidths = work.devices.iter().map(|one| one.bandwidth_gb_per_s);
    let has_bandwidth = bandwidths.any(|one| one.is_some());
    let mut columns = vec![
        Column::name("chip"),
        Column::number("recordings").spare(3),
        Column::number("window"),
        Column::number("GPU time"),
        Column::number("utilization"),
        if has_bandwidth {
            Column::number("bandwidth")
        } else {
            Column::number("bandwidth").spare(5)
        },
        Column::number("GPU idle").spare(2),
    ];
    columns.extend(causes.iter().map(|cause| Column::number(cause.label())));
    columns.push(Column::words("all windows").spare(4));
    let caption = "GPU time, utilization, bandwidth and idle time by cause of each chip";
    let mut table = Table::new(id, caption, columns);
    for device in &work.devices {
        let idle = idle(device);
        let by_cause = causes.iter().map(|cause| {
            let ns = idle.and_then(|idle| idle.known(*cause));
            known(ns, time)
        });
        let first = [
            name(&device.gpu),
            count(device.reports.len() as u64),
            time(device.span_ns),
            time(device.busy_ns),
            known(device.busy_ratio, percent),
            known(device.bandwidth_gb_per_s, bandwidth),
            known(idle, |idle| time(idle.total_ns)),
        ];
        table.row(first.into_iter().chain(by_cause).chain([windows(device)]));
    }
    table
}

/// Returns the range of the windows of all recordings.
fn windows(device: &DeviceFigures) -> Message {
    let (least, most) = device.span_range_ns;
    if least == most {
        time(least)
    } else {
        message!("{} to {}", time(least), time(most))
    }
}

fn bandwidth(value: Number) -> Message {
    number(format!("{:.1} GB/s", value.get()), value.get(), |number| {
        Value::Bandwidth { gb_per_s: number }
    })
}
