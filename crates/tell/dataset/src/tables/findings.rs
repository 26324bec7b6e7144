//! Defines `findings`: the findings of the report. Evidence that names another process is left out
//! unless the user requested names, as everywhere in a dataset.

use metalens_analyzer::{Finding, Report};
use metalens_message::Value as ValueKind;

use super::field::{TableField, count, fill, ns, ratio, text};
use crate::cells::{CellValue, MemoryTable};
use crate::error::Result;
use crate::report_names::severity;

/// A finding with its position in the report, and whether it may name other processes.
pub(crate) struct FindingRow<'t> {
    place: u64,
    finding: &'t Finding,
    show_names: bool,
}

impl FindingRow<'_> {
    fn evidence(&self) -> CellValue<'_> {
        let mut values = self.finding.evidence.values.iter();
        let names_other =
            |kind: &ValueKind| matches!(kind, ValueKind::Process { is_analyzed: false });
        if !self.show_names && values.any(|value| names_other(&value.value)) {
            CellValue::Absent
        } else {
            self.finding.evidence.text.as_str().into()
        }
    }
}

pub(crate) fn table(report: &Report, show_names: bool) -> Result<MemoryTable> {
    let rows = (1..)
        .zip(&report.findings)
        .map(|(place, finding)| FindingRow {
            place,
            finding,
            show_names,
        });
    fill(&fields(), rows)
}

pub(crate) fn fields<'t>() -> Vec<TableField<FindingRow<'t>>> {
    vec![
        count("place", "Position in the report, from 1.", |f| {
            f.place.into()
        }),
        text("finding", "Id of the rule.", |f| {
            f.finding.id.as_str().into()
        }),
        text("severity", "high, medium, low, caveat.", |f| {
            severity(f.finding.severity).into()
        }),
        text("title", "Title, in one sentence; names no process.", |f| {
            f.finding.title.as_str().into()
        }),
        text(
            "evidence",
            "Evidence; null if it names another process.",
            FindingRow::evidence,
        ),
        text("advice", "Advice; names no process.", |f| {
            f.finding.advice.as_str().into()
        }),
        ns("gain_saves_ns", "Time that the action saves.", |f| {
            f.finding.gain.map(|gain| gain.saves_ns).into()
        }),
        ratio(
            "gain_speedup",
            "Judged time divided by the time that is left.",
            |f| f.finding.gain.map(|gain| gain.speedup).into(),
        ),
        text(
            "gain_certainty",
            "about (predicted by a replay), at most, at least.",
            |f| f.finding.gain.map(|gain| gain.certainty.words()).into(),
        ),
    ]
}
