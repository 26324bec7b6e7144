//! Builds the sections on the utilization over time, and on the thresholds that somebody set.

use metalens_analyzer::message::{percent, time};
use metalens_analyzer::{
    Message, Report, ThresholdResult, ThresholdUnit, Verdict, Wanted, message,
};

use crate::document::{Block, Cell, Chart, Column, Section, Table, Tone};
use crate::wording::{known, plain};

/// Returns the utilization over time, and the busy share of each idea of the run time.
pub(super) fn utilization(report: &Report) -> Section {
    Section::new("utilization", "Utilization", 5)
        .with(Chart::picture("busy"))
        .with_some(efficiency(report).map(Block::Remark))
}

/// Returns the values, their limits and the verdicts; nothing if no threshold is set.
pub(super) fn thresholds(report: &Report) -> Option<Section> {
    if report.thresholds.is_empty() {
        return None;
    }
    let mut table = Table::new(
        "thresholds",
        "Thresholds and verdicts",
        vec![
            Column::name("threshold"),
            Column::number("value"),
            Column::number("limit"),
            Column::words("verdict"),
            Column::sentence("compared"),
        ],
    );

    for threshold in &report.thresholds {
        let side = match threshold.wanted {
            Wanted::Below => "<",
            Wanted::Above => ">",
        };
        let limit = value(threshold.limit, threshold.unit);
        let known = known(threshold.value, |known| value(known, threshold.unit));
        table.row([
            plain(&threshold.id).into(),
            known.into(),
            message!("{} {}", side, limit).into(),
            verdict(threshold),
            threshold.why.clone().into(),
        ]);
    }
    let section = Section::new("thresholds", "Thresholds", 0);
    Some(section.with(Block::Table(table)))
}

/// Returns a sentence for each threshold that is missed.
#[must_use]
pub fn missed_thresholds(report: &Report) -> Vec<Message> {
    let missed = report.missed_thresholds().into_iter();
    let missed = missed.map(|threshold| {
        let measured = threshold.value.map(|known| value(known, threshold.unit));
        let limit = value(threshold.limit, threshold.unit);
        match measured {
            Some(measured) => missed_sentence(&threshold.id, measured, threshold.wanted, limit),
            None => message!(
                "{} cannot be measured: {}",
                plain(&threshold.id),
                threshold.why.clone()
            ),
        }
    });
    missed.collect()
}

/// Returns the sentence of a missed threshold whose value is known.
pub(crate) fn missed_sentence(
    id: &str,
    measured: Message,
    wanted: Wanted,
    limit: Message,
) -> Message {
    let side = match wanted {
        Wanted::Below => "below",
        Wanted::Above => "above",
    };
    message!(
        "{} is {}; the threshold is {} {}",
        plain(id),
        measured,
        side,
        limit
    )
}

fn verdict(threshold: &ThresholdResult) -> Cell {
    match threshold.verdict {
        Verdict::Pass => Cell::verdict("PASS", Tone::Good),
        Verdict::Fail => Cell::verdict("FAIL", Tone::Bad),
        Verdict::NotMeasurable => Cell::verdict("NOT MEASURABLE", Tone::Doubtful),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a gap is whole nanoseconds, and not negative"
)]
pub(crate) fn value(value: f64, unit: ThresholdUnit) -> Message {
    match unit {
        ThresholdUnit::Ns => time(value.round() as u64),
        ThresholdUnit::Ratio => percent(value),
    }
}

/// Returns the GPU time as a share of each definition of the run time.
fn efficiency(report: &Report) -> Option<Message> {
    let efficiency = &report.efficiency;
    let part = |share: Option<f64>, ns: Option<u64>, name: &'static str| {
        Some(message!("{} of {} ({})", percent(share?), name, time(ns?)))
    };
    let parts = [
        part(
            efficiency.of_program,
            efficiency.program_ns,
            "the time from first encoding to last completion",
        ),
        part(
            efficiency.of_steady,
            efficiency.steady_ns,
            "the steady part",
        ),
        part(
            efficiency.of_wall,
            efficiency.wall_ns,
            "the whole recording",
        ),
    ];
    let parts: Vec<Message> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| message!("The GPU time is {}", Message::joined(parts, ", ")))
}
