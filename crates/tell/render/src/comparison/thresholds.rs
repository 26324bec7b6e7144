//! Builds the table of the thresholds that somebody set: how many runs of each side miss them.

use metalens_analyzer::message::count;
use metalens_analyzer::{Message, Wanted, message};
use metalens_comparison::{Comparison, Number, ThresholdComparison, ThresholdRuns};

use crate::document::{Block, Cell, Column, Section, Table, Tone};
use crate::report::threshold_value;
use crate::wording::{known, plain};

/// Returns the thresholds with the values of both sides; nothing if none is set.
pub(super) fn thresholds(comparison: &Comparison) -> Option<Section> {
    if comparison.thresholds.is_empty() {
        return None;
    }
    let columns = vec![
        Column::name("threshold"),
        Column::number("limit"),
        Column::number("base"),
        Column::words(""),
        Column::number("new"),
        Column::words(""),
    ];
    let mut table = Table::new("thresholds", "Thresholds of both sides", columns);
    for one in &comparison.thresholds {
        let [base, base_verdict] = side(one, one.base.as_ref());
        let [new, new_verdict] = side(one, Some(&one.new));
        let (name, limit) = (plain(&one.id).into(), limit(one).into());
        table.row([name, limit, base, base_verdict, new, new_verdict]);
    }
    let section = Section::new("thresholds", "Thresholds", 1);
    Some(section.with(Block::Table(table)))
}

fn limit(threshold: &ThresholdComparison) -> Message {
    let sign = match threshold.wanted {
        Wanted::Below => "<",
        Wanted::Above => ">",
    };
    message!("{} {}", sign, value(threshold, threshold.limit))
}

fn value(threshold: &ThresholdComparison, value: Number) -> Message {
    threshold_value(value.get(), threshold.unit)
}

/// Returns the median of a side, and whether its runs keep the threshold.
fn side(threshold: &ThresholdComparison, runs: Option<&ThresholdRuns>) -> [Cell; 2] {
    let Some(runs) = runs else {
        return ["-".into(), "".into()];
    };
    let median = known(runs.median, |median| value(threshold, median)).into();
    let verdict = match (runs.missed, runs.runs) {
        (0, _) => Cell::verdict("PASS", Tone::Good),
        (_, 1) => Cell::verdict("FAIL", Tone::Bad),
        (missed, all) => {
            let text = message!("FAIL in {} of {}", count(missed), count(all));
            Cell::verdict(text, Tone::Bad)
        }
    };
    [median, verdict]
}
