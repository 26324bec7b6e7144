//! Builds the document of a calibration: the verdicts, then the figures that they rest on.

use std::iter::zip;

use metalens_analyzer::message::{count, counted, name, time};
use metalens_analyzer::{Message, Note, message};
use metalens_comparison::calibration::{Calibration, Cost, Count, TimeSpread, range, signed};
use metalens_comparison::paired::Differences;

use crate::document::{Block, Column, Document, Section, Table};
use crate::wording::plain;

/// Returns the document of a calibration.
#[must_use]
pub fn document(calibration: &Calibration) -> Document {
    let sections = [
        Some(opening(calibration)),
        Some(counts(calibration)),
        costs(calibration),
        notes(calibration),
    ];
    Document {
        title: "Calibration".into(),
        sections: sections.into_iter().flatten().collect(),
        footer: Message::default(),
    }
}

fn opening(calibration: &Calibration) -> Section {
    let loud = Note::joined(&calibration.notes, &calibration.note_details);
    let loud = loud.filter(Note::is_loud);
    let loud = loud.map(|note| Block::Warning(note.message()));
    let workload = &calibration.workload;
    let gpu = workload.gpu.as_deref().unwrap_or("no GPU");
    let program = message!(
        "{}: {} of {} after {}; {} of runs; {}",
        name(&workload.name),
        counted(workload.count, "step"),
        counted(workload.size, "element"),
        counted(workload.warm_up, "warm-up step"),
        counted(calibration.pairs.len() as u64, "pair"),
        plain(gpu),
    );
    let verdicts = zip(&calibration.verdicts, &calibration.verdict_values);
    let verdicts = verdicts.map(|(text, values)| Message::new(text, values));
    Section::new("verdict", "", 0)
        .with_all(loud)
        .with(Block::Lead(program))
        .with_some(Block::list(verdicts))
}

fn counts(calibration: &Calibration) -> Section {
    let counts = &calibration.counts;
    let columns = vec![
        Column::name(""),
        Column::number("issued"),
        Column::number("found"),
        Column::number("intervals"),
        Column::number("dispatches"),
        Column::number("found"),
    ];
    let mut table = Table::new("counts", "Work that was issued and found", columns);
    for label in &counts.labels {
        let cells = [
            count(label.encoders.issued),
            range(&label.encoders.found),
            range(&label.intervals),
            count(label.dispatches.issued),
            range(&label.dispatches.found),
        ];
        let label = name(&label.label);
        table.row([label].into_iter().chain(cells));
    }

    for other in &counts.others {
        let other_name = message!("{} (not issued)", name(&other.name));
        let none = Message::default;
        let intervals = range(&other.intervals);
        table.row([other_name, none(), none(), intervals, none(), none()]);
    }
    let dispatches = Some(&counts.dispatches);
    table.row(all("all encoders", &counts.encoders, dispatches));
    table.row(all("command buffers", &counts.command_buffers, None));
    Section::new("counts", "Issued and found", 1).with(Block::Table(table))
}

fn all(name: &'static str, encoders: &Count, dispatches: Option<&Count>) -> [Message; 6] {
    [
        name.into(),
        count(encoders.issued),
        range(&encoders.found),
        Message::default(),
        dispatches.map(|one| count(one.issued)).into(),
        dispatches.map(|one| range(&one.found)).into(),
    ]
}

fn costs(calibration: &Calibration) -> Option<Section> {
    let costs = [
        ("wall time", &calibration.wall),
        ("GPU time", &calibration.gpu),
    ];
    if costs.iter().all(|(_, cost)| cost.relative.is_none()) {
        return None;
    }
    let columns = vec![
        Column::name(""),
        Column::number("without"),
        Column::number("with"),
        Column::number("difference"),
        Column::number("from"),
        Column::number("to"),
    ];
    let mut table = Table::new("costs", "Times with and without the recorder", columns);
    for (name, cost) in costs {
        table.row(cost_row(name, cost));
    }
    let section = Section::new("costs", "With and without the recorder", 2);
    Some(section.with(Block::Table(table)))
}

fn cost_row(name: &'static str, cost: &Cost) -> [Message; 6] {
    let median = |spread: &Option<TimeSpread>| {
        let spread = spread.as_ref();
        spread.map_or_else(|| "-".into(), |spread| time(spread.median_ns))
    };
    let relative = |part: fn(&Differences) -> f64| {
        let relative = cost.relative.as_ref();
        relative.map_or_else(|| "-".into(), |one| signed(part(one)))
    };
    [
        name.into(),
        median(&cost.without),
        median(&cost.with),
        relative(|one| one.median),
        relative(|one| one.min),
        relative(|one| one.max),
    ]
}

fn notes(calibration: &Calibration) -> Option<Section> {
    let notes = Note::joined(&calibration.notes, &calibration.note_details);
    let quiet = notes.filter(|note| !note.is_loud());
    let quiet = quiet.map(|note| note.message());
    let section = Section::new("notes", "Notes", 3);
    Block::list(quiet).map(|list| section.with(list))
}
#[cfg(test)]
mod tests {
    use metalens_testing::calibration::{ALL, measured, pair, recorded};

    use super::*;

    #[test]
    fn measured_and_simulated_calibrations_are_shown() {
        let calibration = measured(&[
            [1_000_000, 500_000, 1_020_000, 505_000],
            [1_000_000, 500_000, 1_021_000, 495_000],
            [1_000_000, 500_000, 1_022_000, 510_000],
            [1_000_000, 500_000, 1_023_000, 490_000],
            [1_000_000, 500_000, 1_024_000, 500_000],
        ]);
        let plain = |calibration: &Calibration| {
            let text = crate::terminal::text(&document(calibration), None);
            anstream::adapter::strip_str(&text).to_string()
        };
        insta::assert_snapshot!("calibration", plain(&calibration));
        let mut lost = recorded(&[("sin & sin", 2, 2), ("scale", 3, 3)]);
        lost.coalesced = (2, 6);
        let pairs = vec![pair(None, recorded(ALL)), pair(None, lost)];
        let simulated = Calibration::from_pairs(pairs, true, false);
        insta::assert_snapshot!("calibration-simulated", plain(&simulated));
    }
}
