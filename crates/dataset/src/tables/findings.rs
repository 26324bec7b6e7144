//! `findings`: the report's findings. A text that names another process is left out, as that
//! process's name is everywhere, unless names were asked for.

use metalens_analyzer::{Finding, Report};

use super::{Field, count, fill, ns, ratio, text};
use crate::cells::{Table, Value};
use crate::error::Result;
use crate::words::severity;

/// A finding, its place in the report, and the names that its texts may not have.
pub(crate) struct Placed<'t> {
    place: u64,
    finding: &'t Finding,
    hidden: &'t [&'t str],
}

impl Placed<'_> {
    fn text<'t>(&self, text: &'t str) -> Value<'t> {
        if self.hidden.iter().any(|name| text.contains(name)) {
            Value::Absent
        } else {
            Value::Text(text)
        }
    }
}

pub(crate) fn table(report: &Report, show_names: bool) -> Result<Table> {
    let others = report
        .processes
        .iter()
        .filter(|process| !process.is_target && !show_names);
    let hidden: Vec<&str> = others.map(|process| process.name.as_str()).collect();

    let placed = (1..).zip(&report.findings).map(|(place, finding)| Placed {
        place,
        finding,
        hidden: &hidden,
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
            "The finding in one sentence; null if it names another process.",
            |f| f.text(&f.finding.title),
        ),
        text(
            "evidence",
            "The numbers that it rests on; null likewise.",
            |f| f.text(&f.finding.evidence),
        ),
        text("advice", "The advice that follows; null likewise.", |f| {
            f.text(&f.finding.advice)
        }),
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
