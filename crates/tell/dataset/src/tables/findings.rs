//! Defines `findings`: the findings of the report. Evidence that names another process is left out
//! unless the user requested names, as everywhere in a dataset.

use metalens_analyzer::{Finding, Report};
use metalens_message::Value as ValueKind;

use super::field::{TableField, columns, fill};
use crate::cells::{CellValue, MemoryTable};
use crate::error::Result;

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
    columns! { f:
        "place" COUNT "Position in the report, from 1." = f.place;
        "finding" TEXT "Id of the rule." = f.finding.id.as_str();
        "severity" TEXT "high, medium, low, caveat." = f.finding.severity.name();
        "title" TEXT "Title, in one sentence; names no process." = f.finding.title.as_str();
        "evidence" TEXT "Evidence; null if it names another process." = FindingRow::evidence(f);
        "advice" TEXT "Advice; names no process." = f.finding.advice.as_str();
        "gain_saves_ns" NS "Time that the action saves." = f.finding.gain.map(|gain| gain.saves_ns);
        "gain_speedup" RATIO "Judged time divided by the time that is left."
            = f.finding.gain.map(|gain| gain.speedup);
        "gain_certainty" TEXT "about (predicted by a replay), at most, at least."
            = f.finding.gain.map(|gain| gain.certainty.words());
    }
}
