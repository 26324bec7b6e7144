//! Takes the time from first to last GPU work apart into busy time and the causes of idle time, each
//! with its change: the legend of the picture.

use metalens_analyzer::{Cause, id};
use metalens_comparison::sentences::difference;
use metalens_comparison::{Change, Comparison, Number, Unit};

use crate::palette::{Color, Palette};

/// A part of the time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// Name of the part, as in tables.
    name: &'static str,
    /// Color of the part in the bars.
    color: Color,
    /// Time of base in nanoseconds; `None` if it is not recorded.
    pub(crate) base_ns: Option<Number>,
    /// Time of new in nanoseconds; `None` if it is not recorded.
    pub(crate) new_ns: Option<Number>,
    /// Change in nanoseconds; `None` if a time is not recorded.
    change_ns: Option<Number>,
}

impl Part {
    /// Returns the part with its change, such as `host work −3.100 ms`.
    pub(crate) fn label(&self) -> String {
        let change = match self.change_ns {
            Some(change_ns) => difference(change_ns, Unit::Ns).text,
            None => "not compared".to_owned(),
        };
        format!("{} {change}", self.name)
    }
}

/// Returns busy time, then the causes of idle time that a side has, or whose color is drawn.
pub(crate) fn parts(
    comparison: &Comparison,
    palette: &Palette,
    is_drawn: impl Fn(Color) -> bool,
) -> Vec<Part> {
    let busy = part(comparison, id!(busy.busy_ns), "GPU busy", palette.process);
    let causes = Cause::ALL.into_iter().map(|cause| {
        part(
            comparison,
            cause.figure(),
            cause.label(),
            palette.cause(cause),
        )
    });
    let has_time = |time_ns: Option<Number>| time_ns.is_some_and(|time_ns| time_ns.get() > 0.0);
    let causes = causes
        .filter(|part| has_time(part.base_ns) || has_time(part.new_ns) || is_drawn(part.color));
    std::iter::once(busy).chain(causes).collect()
}

/// Returns a part with the times that the tables of the comparison show.
fn part(comparison: &Comparison, id: &str, name: &'static str, color: Color) -> Part {
    let mut metrics = comparison.metrics.iter();
    let change = metrics.find(|metric| metric.id == id);
    let change = change.map(|metric| &metric.change);
    Part {
        name,
        color,
        base_ns: change.and_then(Change::base_value),
        new_ns: change.and_then(Change::new_value),
        change_ns: change.and_then(|change| change.absolute),
    }
}

/// Returns the parts as entries of a legend.
pub(crate) fn legend(parts: &[Part]) -> Vec<(Color, String)> {
    parts
        .iter()
        .map(|part| (part.color, part.label()))
        .collect()
}
