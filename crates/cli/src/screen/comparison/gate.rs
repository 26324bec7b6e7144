//! Which limits were kept, and by how much the others were missed.

use metalens_analyzer::units::counted;
use metalens_comparison::{
    Comparison, GateResult, GateRow, GateSeverity, GateVerdict, LimitRule, Unit, format,
};
use metalens_text::shown;

use super::Lines;
use crate::screen::columns::{Align, Columns, shorten};
use crate::screen::style::{BAD, FAINT, GOOD, LOUD};

/// Rows beyond this many are counted.
const ROWS: usize = 20;

pub(super) fn gate(comparison: &Comparison, lines: &mut Lines) {
    let Some(gate) = &comparison.gate else {
        return;
    };
    lines.section("Gate");
    let (style, word) = match gate.missed {
        true => (BAD, "MISSED"),
        false => (GOOD, "KEPT"),
    };
    lines.line(format!("  {style}{word}{style:#}: {}", shown(&gate.source)));
    let open = gate
        .rows
        .iter()
        .filter(|row| row.verdict != GateVerdict::Pass);
    let open: Vec<&GateRow> = open.collect();
    if !open.is_empty() {
        let mut columns = Columns::new(&[
            ("", Align::Left),
            ("limit", Align::Right),
            ("found", Align::Right),
            ("beyond by", Align::Right),
            ("", Align::Left),
        ]);
        for row in open.iter().take(ROWS) {
            let limit = limit(row, str::to_owned);
            columns.row([name(row), limit, found(row), beyond(row), verdict(row)]);
        }
        lines.columns(&columns);
        for row in open.iter().take(ROWS) {
            lines.fact("", &format!("{}: {}", row.what, row.why));
        }
    }
    if let more @ 1.. = open.len().saturating_sub(ROWS) {
        lines.line(format!("  … and {more} more"));
    }
    lines.line(format!("  {FAINT}{}{FAINT:#}", tally(gate)));
}

/// `4 limits kept, 1 missed, 5 not measurable`, and why the gate is missed if none is.
pub(crate) fn tally(gate: &GateResult) -> String {
    let of = |verdict: GateVerdict| {
        let rows = gate.rows.iter().filter(|row| row.verdict == verdict);
        rows.count() as u64
    };
    let mut said = format!("{} kept", counted(of(GateVerdict::Pass), "limit"));
    for (verdict, word) in [
        (GateVerdict::Miss, "missed"),
        (GateVerdict::NotMeasurable, "not measurable"),
    ] {
        if let number @ 1.. = of(verdict) {
            said.push_str(&format!(", {number} {word}"));
        }
    }
    let is_error =
        |row: &GateRow| row.verdict == GateVerdict::Miss && row.severity == GateSeverity::Error;
    if gate.missed && !gate.rows.iter().any(is_error) {
        said.push_str("; nothing was measured, and a gate that measures nothing is not kept");
    }
    said
}

/// What the limit is for.
pub(crate) fn name(row: &GateRow) -> String {
    let of = row
        .of
        .map_or_else(String::new, |of| format!(", {}", of.name()));
    format!("{}{of}", shorten(&shown(&row.what), 32))
}

/// `at most 200.0 µs`, `grows by at most 5.0 %`.
pub(crate) fn limit(row: &GateRow, number: fn(&str) -> String) -> String {
    let limit = number(&format::value(row.limit, row.unit));
    format!("{} {limit}", row.rule.name())
}

/// The value in the limit's terms.
pub(crate) fn found(row: &GateRow) -> String {
    match (row.value, row.rule) {
        (None, _) => "–".to_owned(),
        (Some(value), LimitRule::Grow | LimitRule::Range) => format::relative(value.get()),
        (Some(value), LimitRule::Shrink) => format::relative(-value.get()),
        (Some(value), LimitRule::Max | LimitRule::Min) => format::value(value, row.unit),
    }
}

/// How far it is beyond.
pub(crate) fn beyond(row: &GateRow) -> String {
    match (row.by, row.unit) {
        (None, _) => String::new(),
        (Some(by), Unit::Ratio) => format::difference(by, Unit::Ratio),
        (Some(by), unit) => format::value(by, unit),
    }
}

fn verdict(row: &GateRow) -> String {
    match (row.verdict, row.severity) {
        (GateVerdict::Miss, GateSeverity::Error) => format!("{BAD}MISSED{BAD:#}"),
        (GateVerdict::Miss, GateSeverity::Warn) => format!("{LOUD}WARNING{LOUD:#}"),
        (GateVerdict::NotMeasurable, _) => format!("{LOUD}NOT MEASURABLE{LOUD:#}"),
        (GateVerdict::Pass, _) => format!("{GOOD}KEPT{GOOD:#}"),
    }
}
