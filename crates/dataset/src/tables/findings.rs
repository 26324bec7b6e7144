//! `findings`: the report's findings. Evidence that names another process is left out, as that
//! process's name is everywhere, unless names were asked for.

use metalens_analyzer::message::Value as Kind;
use metalens_analyzer::{Finding, Report};

use super::{Field, count, fill, ns, ratio, text};
use crate::cells::{Table, Value};
use crate::error::Result;
use crate::words::severity;

/// A finding, its place in the report, and whether it may name other processes.
pub(crate) struct Placed<'t> {
    place: u64,
    finding: &'t Finding,
    show_names: bool,
}

impl Placed<'_> {
    fn evidence(&self) -> Value<'_> {
        let mut values = self.finding.evidence_values.iter();
        let is_other = |kind: &Kind| matches!(kind, Kind::Process { is_analyzed: false });
        if !self.show_names && values.any(|one| is_other(&one.value)) {
            Value::Absent
        } else {
            Value::Text(&self.finding.evidence)
        }
    }
}

pub(crate) fn table(report: &Report, show_names: bool) -> Result<Table> {
    let placed = (1..).zip(&report.findings).map(|(place, finding)| Placed {
        place,
        finding,
        show_names,
    });
    fill(&fields(), placed)
}

pub(crate) fn fields<'t>() -> Vec<Field<Placed<'t>>> {
    vec![
        count(
            "place",
            "The finding's place in the report, from 1: the most important first.",
            |f| Value::whole(f.place),
        ),
        text("finding", "The rule that found it.", |f| {
            Value::Text(&f.finding.id)
        }),
        text(
            "severity",
            "How much it matters: high, medium, low, caveat.",
            |f| Value::Text(severity(f.finding.severity)),
        ),
        text(
            "title",
            "The finding in one sentence; it names no process.",
            |f| Value::Text(&f.finding.title),
        ),
        text(
            "evidence",
            "The numbers that it rests on; null if it names another process.",
            |f| f.evidence(),
        ),
        text(
            "advice",
            "The advice that follows; it names no process.",
            |f| Value::Text(&f.finding.advice),
        ),
        ns(
            "gain_at_most_ns",
            "Upper bound of the time that the advice could save; null where it has no number.",
            |f| Value::whole_or_absent(f.finding.gain.map(|gain| gain.at_most_ns)),
        ),
        ratio(
            "gain_speedup",
            "The window divided by the window without that time; null likewise.",
            |f| Value::number(f.finding.gain.map(|gain| gain.speedup)),
        ),
    ]
}
