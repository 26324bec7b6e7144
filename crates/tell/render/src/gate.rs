//! Builds the table of the limits of a gate: kept, missed and by how much, inconclusive, or not
//! measurable.

use metalens_comparison::sentences::{difference, first_few, relative};
use metalens_comparison::{
    GateResult, GateRow, GateSeverity, GateVerdict, KernelFigure, LimitRule, Number, OWN_TIMES,
    is_amount_of_work, metrics,
};
use metalens_message::{Message, kernel, message};
use metalens_text::shorten_all;
use metalens_text::units::counted;

use crate::cells::value;
use crate::document::{Block, Cell, Column, Section, Table, Tone};
use crate::wording::plain;

/// Largest number of limits that screens and pages show.
const LIMITS: usize = 30;
/// Largest number of limits even where there is room, because nobody reads a longer list.
const MOST_LIMITS: usize = 60;
/// Largest length of a name in a line.
const LONGEST_NAME: usize = 80;
/// Largest number of limits that the verdict names.
const DECIDING: usize = 3;

/// Returns the verdict of the gate in one line, for the top of a page.
pub(crate) fn verdict_line(gate: &GateResult) -> Block {
    let verdict = verdict_text(&with_short_names(gate));
    if gate.missed {
        Block::Failure(verdict)
    } else {
        Block::Lead(verdict)
    }
}

/// Returns a gate whose names are short enough for a line.
fn with_short_names(gate: &GateResult) -> GateResult {
    let mut gate = gate.clone();
    let names: Vec<&str> = gate.rows.iter().map(|row| row.what.as_str()).collect();
    let short = shorten_all(&names, &|name| name.chars().count() <= LONGEST_NAME);
    for (row, name) in gate.rows.iter_mut().zip(short) {
        row.what = name;
    }
    gate
}

/// Returns the verdict of a gate with the limits that decided it, and the origin of all limits, such as
/// `Gate failed: GPU idle +12.0 %; 4 limits passed, 1 failed ([gate] of metalens.toml)`.
fn verdict_text(gate: &GateResult) -> Message {
    let source = gate.source.clone();
    let decided = gate.rows.iter().filter(|row| {
        let verdict = if gate.inconclusive {
            GateVerdict::Inconclusive
        } else {
            GateVerdict::Miss
        };
        gate.missed && row.severity == GateSeverity::Error && row.verdict == verdict
    });
    let decided: Vec<&GateRow> = decided.collect();
    // A kernel that is gone has no figure at all, and is named once.
    let mut named: Vec<Message> = Vec::new();
    for row in &decided {
        let name = plainly(row);
        if named.iter().all(|other| other.text != name.text) {
            named.push(name);
        }
    }
    let named = (!named.is_empty()).then(|| message!("{}; ", first_few(named, DECIDING)));
    let other_work = decided.iter().any(|row| is_of_work(row)).then(|| {
        Message::from(". Other work: if it was meant to change, --per step judges the step")
    });
    message!(
        "Gate {}: {}{} ({}){}",
        word([gate]),
        named,
        plain(tally(gate)),
        source,
        other_work
    )
}

/// Returns whether a limit is about an amount of work that has to stay the same.
fn is_of_work(row: &GateRow) -> bool {
    let is_gone = row.of.is_some() && row.value.is_none();
    let is_count = match row.of {
        Some(figure) => figure == KernelFigure::Instances,
        None => is_amount_of_work(&row.what),
    };
    is_gone || is_count && matches!(row.rule, LimitRule::Grow | LimitRule::Shrink)
}

/// Returns the plain name of a limit's figure and what was found, such as `GPU idle +12.0 %`.
fn plainly(row: &GateRow) -> Message {
    if row.of.is_some() && row.value.is_none() {
        return message!("{} missing", kernel(&row.what));
    }
    let name = plain_name(row);
    // A part is judged as a share of the whole.
    let of = (row.rule == LimitRule::Slower && OWN_TIMES.contains(&row.what.as_str()))
        .then_some(" of a step");
    let found = row
        .value
        .map(|_| message!(" {}{}", found(row), of.unwrap_or("")));
    let found = found.unwrap_or_else(|| " not measured".into());
    message!("{}{}", name, found)
}

/// Returns the name of a limit's figure as tables of figures have it, instead of its id.
fn plain_name(row: &GateRow) -> Message {
    let metric = metrics().find(|metric| row.of.is_none() && metric.id == row.what);
    metric.map_or_else(|| name(row), |metric| plain(metric.name))
}

/// Returns the verdict of gates in a word: the worst one.
pub fn word<'a>(gates: impl IntoIterator<Item = &'a GateResult>) -> &'static str {
    gates.into_iter().fold("passed", |worst, gate| {
        match (gate.missed, gate.inconclusive) {
            (true, false) => "failed",
            (true, true) if worst != "failed" => "inconclusive",
            _ => worst,
        }
    })
}

/// Returns a line for each limit that failed or is inconclusive, also as a warning, and then the
/// verdict.
pub fn lines_of(gate: &GateResult) -> Vec<String> {
    let gate = &with_short_names(gate);
    let is_open = |verdict| matches!(verdict, GateVerdict::Miss | GateVerdict::Inconclusive);
    let rows = gate.rows.iter().filter(|row| is_open(row.verdict));
    let open = rows.map(|row| {
        let word = match (row.verdict, row.severity) {
            (GateVerdict::Inconclusive, _) => "inconclusive",
            (_, GateSeverity::Warn) => "warning",
            (_, GateSeverity::Error) => "failed",
        };
        let (name, limit) = (name(row).text, limit(row).text);
        format!("{word}: {name} {limit}: {}", row.why)
    });
    open.chain([verdict_text(gate).text]).collect()
}

/// Returns the section with the limits that were not kept.
pub(crate) fn section(gate: &GateResult) -> Section {
    let title = title([gate]);
    let open: Vec<(Option<&str>, &GateRow)> = open_limits(gate).map(|row| (None, row)).collect();
    // The first line of the page says how many limits passed.
    Section::new("gate", title, 1).with(if open.is_empty() {
        Block::Text(message!("{}: {}", plain(tally(gate)), gate.source.clone()))
    } else {
        Block::Table(table(&open))
    })
}

/// Returns the title of the section on gates.
pub(crate) fn title<'a>(gates: impl IntoIterator<Item = &'a GateResult>) -> Message {
    plain(format!("Gate: {}", word(gates).to_uppercase()))
}

/// Returns the limits that were not kept.
pub(crate) fn open_limits(gate: &GateResult) -> impl Iterator<Item = &GateRow> {
    let rows = gate.rows.iter();
    rows.filter(|row| row.verdict != GateVerdict::Pass)
}

/// Returns the table of limits, each with the name of what it is about if there are several.
pub(crate) fn table(open: &[(Option<&str>, &GateRow)]) -> Table {
    let has_names = open.iter().any(|(of, _)| of.is_some());
    let mut columns = vec![
        Column::name("limit of"),
        Column::words("limit"),
        Column::number("found"),
        Column::number("missed by").spare(1),
        Column::words("verdict").headed(""),
        Column::sentence("reason"),
    ];
    if has_names {
        columns.insert(0, Column::name("variant"));
    }
    let table = Table::new(
        "gate",
        "Limits that failed, are inconclusive or were not measurable",
        columns,
    );
    let mut table = table.limited(LIMITS, MOST_LIMITS).of(open.len());
    table.has_preview = true;
    for (of, row) in open.iter().take(MOST_LIMITS) {
        let of = of.map(|of| Cell::from(metalens_message::name(of)));
        let cells = [
            plain_name(row).into(),
            limit(row).into(),
            found(row).into(),
            beyond(row).into(),
            verdict(row),
            row.why.clone().into(),
        ];
        table.row(of.into_iter().chain(cells));
    }
    table
}

/// Returns `4 limits passed, 1 failed, 3 inconclusive, 2 warnings, 5 not measurable`, and the reason if the gate
/// fails although no limit does.
pub(super) fn tally(gate: &GateResult) -> String {
    let number = |verdict: GateVerdict, severity: Option<GateSeverity>| {
        let rows = gate.rows.iter().filter(|row| {
            row.verdict == verdict && severity.is_none_or(|severity| row.severity == severity)
        });
        rows.count() as u64
    };
    let failed = number(GateVerdict::Miss, Some(GateSeverity::Error));
    let warnings = number(GateVerdict::Miss, Some(GateSeverity::Warn));
    let inconclusive = number(GateVerdict::Inconclusive, None);
    let unmeasured = number(GateVerdict::NotMeasurable, None);

    let mut said = vec![format!(
        "{} passed",
        counted(number(GateVerdict::Pass, None), "limit")
    )];
    said.extend((failed > 0).then(|| format!("{failed} failed")));
    said.extend((inconclusive > 0).then(|| format!("{inconclusive} inconclusive")));
    said.extend((warnings > 0).then(|| counted(warnings, "warning")));
    said.extend((unmeasured > 0).then(|| format!("{unmeasured} not measurable")));
    let mut said = said.join(", ");
    if gate.missed && failed == 0 && !gate.inconclusive {
        said.push_str("; no limit was measurable, so the gate fails");
    }
    said
}

/// Returns the name of the figure that the limit is for.
pub(crate) fn name(row: &GateRow) -> Message {
    match row.of {
        Some(figure) => message!("{}, {}", kernel(&row.what), figure.name()),
        None => metalens_message::name(&row.what),
    }
}

/// Returns the limit in words: `at most 200.0 µs`, `grows by at most 5.0 %`.
pub(crate) fn limit(row: &GateRow) -> Message {
    message!(
        "{} {}",
        row.rule.name(),
        value(Some(row.limit), row.unit, "")
    )
}

/// Returns the value in the terms of the limit: as it is, or as a change.
fn found(row: &GateRow) -> Message {
    match (row.value, row.rule) {
        (None, _) => "–".into(),
        (Some(value), LimitRule::Grow | LimitRule::Slower | LimitRule::Range) => {
            relative(value.get())
        }
        (Some(value), LimitRule::Shrink) => relative(-value.get()),
        (Some(found), LimitRule::Max | LimitRule::Min) => value(Some(found), row.unit, ""),
    }
}

/// Returns the distance of the value from the limit: negative if the value is below it.
fn beyond(row: &GateRow) -> Message {
    let is_below = matches!(row.rule, LimitRule::Min | LimitRule::Shrink);
    let signed = |by: Number| Number::new(if is_below { -by.get() } else { by.get() });
    let by = row.by.and_then(signed);
    by.map_or_else(Message::default, |by| difference(by, row.unit))
}

/// Returns the verdict on a limit, in color.
fn verdict(row: &GateRow) -> Cell {
    match (row.verdict, row.severity) {
        (GateVerdict::Miss, GateSeverity::Error) => Cell::verdict("FAILED", Tone::Bad),
        (GateVerdict::Miss, GateSeverity::Warn) => Cell::verdict("WARNING", Tone::Doubtful),
        (GateVerdict::Inconclusive, _) => Cell::verdict("INCONCLUSIVE", Tone::Doubtful),
        (GateVerdict::NotMeasurable, _) => Cell::verdict("NOT MEASURABLE", Tone::Doubtful),
        (GateVerdict::Pass, _) => Cell::verdict("PASSED", Tone::Good),
    }
}

#[cfg(test)]
mod tests {
    use metalens_comparison::Unit;

    use super::*;

    /// Names may have any length, and differ in the middle alone.
    #[test]
    fn lines_have_room_for_names() {
        let long = |middle: &str| "x".repeat(2_000) + middle + &"y".repeat(2_000);
        let row = |what: String| GateRow {
            what,
            channel: None,
            of: Some(KernelFigure::Total),
            rule: LimitRule::Max,
            limit: Number::new(1.0).unwrap(),
            value: Number::new(2.0),
            unit: Unit::Ns,
            by: Number::new(1.0),
            severity: GateSeverity::Error,
            verdict: GateVerdict::Miss,
            why: "it is 2 ns".into(),
        };
        let gate = GateResult {
            source: "a test".into(),
            missed: true,
            inconclusive: false,
            rows: vec![row(long("a")), row(long("b")), row("short".to_owned())],
        };
        let lines = lines_of(&gate);
        assert!(
            lines.iter().all(|line| line.chars().count() < 400),
            "{lines:?}"
        );
        assert_ne!(lines[0], lines[1]);
        assert!(lines[2].starts_with("failed: short, total"), "{lines:?}");
        assert!(lines[3].starts_with("Gate failed: "), "{lines:?}");
    }

    /// A value below a lower limit misses it downward.
    #[test]
    fn misses_have_the_sign_of_their_side() {
        let check = |rule: LimitRule, unit: Unit, by: f64, expected: &str| {
            let row = GateRow {
                what: "x".to_owned(),
                channel: None,
                of: None,
                rule,
                limit: Number::new(0.6).unwrap(),
                value: None,
                unit,
                by: Number::new(by),
                severity: GateSeverity::Error,
                verdict: GateVerdict::Miss,
                why: Message::default(),
            };
            assert_eq!(beyond(&row).text, expected, "{rule:?}");
        };
        check(LimitRule::Min, Unit::Ratio, 0.575, "−57.5 pts");
        check(LimitRule::Shrink, Unit::Ratio, 0.1, "−10.0 pts");
        check(LimitRule::Grow, Unit::Ratio, 0.1, "+10.0 pts");
        check(LimitRule::Range, Unit::Ratio, 0.1, "+10.0 pts");
        check(LimitRule::Max, Unit::Ns, 2_000_000.0, "+2.000 ms");
        check(LimitRule::Min, Unit::Count, 3.0, "−3");
    }
}
