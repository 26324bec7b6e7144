//! Takes the time from first to last GPU work apart into busy time and the causes of idle time, each
//! with its change: the legend of the picture.

use metalens_analyzer::Cause;
use metalens_comparison::{Comparison, Number};
use metalens_text::units::time;

use crate::palette::{Color, Palette};

/// A part of the time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// Name of the part, as in tables.
    name: &'static str,
    /// Color of the part in the bars.
    color: Color,
    /// Time of base in nanoseconds; `None` if it is not recorded.
    pub(crate) base_ns: Option<u64>,
    /// Time of new in nanoseconds; `None` if it is not recorded.
    pub(crate) new_ns: Option<u64>,
}

impl Part {
    /// Returns the part with its change, such as `host work −3.100 ms`.
    pub(crate) fn label(&self) -> String {
        let change = match (self.base_ns, self.new_ns) {
            (Some(base_ns), Some(new_ns)) => signed(base_ns, new_ns),
            _ => "not recorded on both sides".to_owned(),
        };
        format!("{} {change}", self.name)
    }
}

/// Returns busy time, then the causes of idle time that a side has.
pub(crate) fn parts(comparison: &Comparison, palette: &Palette) -> Vec<Part> {
    let busy = part(comparison, "busy.busy_ns", "GPU busy", palette.process);
    let causes = Cause::ALL.into_iter().map(|cause| {
        part(
            comparison,
            &cause.figure(),
            cause.label(),
            palette.cause(cause),
        )
    });
    let is_nothing = |part: &Part| part.base_ns.unwrap_or(0) == 0 && part.new_ns.unwrap_or(0) == 0;
    let causes = causes.filter(|part| !is_nothing(part));
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
        base_ns: change.and_then(|change| whole(change.base_value())),
        new_ns: change.and_then(|change| whole(change.new_value())),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, not negative, and `as` saturates"
)]
fn whole(value: Option<Number>) -> Option<u64> {
    value.map(|value| value.get().max(0.0).round() as u64)
}

/// Returns the parts as entries of a legend.
pub(crate) fn legend(parts: &[Part]) -> Vec<(Color, String)> {
    parts
        .iter()
        .map(|part| (part.color, part.label()))
        .collect()
}

/// Formats a difference of times with its sign.
fn signed(before: u64, now: u64) -> String {
    match now.cmp(&before) {
        std::cmp::Ordering::Less => format!("−{}", time(before - now)),
        std::cmp::Ordering::Equal => "±0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", time(now - before)),
    }
}
