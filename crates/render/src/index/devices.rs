//! Builds the section that puts the same work on several chips side by side.

use metalens_analyzer::message::{Value, count, name, number, percent, time};
use metalens_analyzer::{Cause, IdleTime, Message, message};
use metalens_batch::Index;
use metalens_comparison::Number;
use metalens_comparison::many::{AcrossDevices, DeviceFigures};

use crate::document::{Block, Chart, Column, Drawing, Section, Table};
use crate::time_parts::TimeParts;
use crate::wording::known;

/// Names of the tables of the works that are shown; no two tables of a page have one name.
const TABLES: [&str; 8] = [
    "chips", "chips-2", "chips-3", "chips-4", "chips-5", "chips-6", "chips-7", "chips-8",
];

/// Returns a table for each work that several chips did. Says so if there are several chips and no
/// such work; nothing for a single chip.
pub(super) fn section(index: &Index) -> Option<Section> {
    let section = Section::new("chips", "Same work across chips", 2);
    if index.devices.is_empty() {
        let chips = index.environments.iter();
        let mut chips: Vec<&String> = chips.filter_map(|one| one.gpu.as_ref()).collect();
        chips.sort();
        chips.dedup();
        let text = message!(
            "The recordings are of {} chips, and no two chips did the same work, so none are compared",
            count(chips.len() as u64)
        );
        return (chips.len() > 1).then(|| section.with(Block::Remark(text)));
    }

    let works = index.devices.iter().zip(TABLES);
    let blocks = works.flat_map(|(work, id)| {
        let chart = Block::Chart(Chart {
            id: chart(id),
            drawing: Drawing::None,
        });
        let simulated: Option<Message> =
            work.synthetic.then(|| ", SYNTHETIC: no GPU ran it".into());
        let title = Block::Text(message!("{}{}", name(&work.name), simulated));
        [title, chart, Block::Table(table(work, id))]
    });
    let more = index.devices.len().saturating_sub(TABLES.len()) as u64;
    let more =
        (more > 0).then(|| Block::Remark(message!("{} more works are in index.json", count(more))));
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
pub(crate) fn shown(index: &Index) -> impl Iterator<Item = (&AcrossDevices, String)> {
    let works = index.devices.iter().zip(TABLES);
    works.map(|(work, id)| (work, chart(id)))
}

/// Returns the GPU time and the idle time by cause; none if an earlier version left the causes out.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 ns: 104 days")]
pub(crate) fn parts(device: &DeviceFigures) -> Option<TimeParts> {
    let idle = device.idle?.by_cause().into_iter();
    Some(TimeParts {
        busy: device.busy_ns as f64,
        idle: idle.map(|(cause, ns)| (cause, ns as f64)).collect(),
    })
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

    let mut columns = vec![
        Column::name("chip"),
        Column::number("recordings").spare(3),
        Column::number("window"),
        Column::number("GPU time"),
        Column::number("utilization"),
        Column::number("bandwidth").spare(1),
        Column::number("GPU idle"),
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
