//! Draws busy time and idle time by cause as bars.

use metalens_analyzer::units::time;

use super::escape::{escaped, name};
use crate::time_parts::TimeParts;
use crate::wording::NO_BREAK;

/// Style of the bars.
pub(super) const TIMES_STYLE: &str = include_str!("../../../../templates/times.css");

/// Returns busy time and idle time by cause as bars on one scale, each with its name; nothing if all
/// are empty.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole nanoseconds, not negative"
)]
pub(super) fn time_bars(all: &[(String, TimeParts)]) -> String {
    let longest = all.iter().map(|(_, parts)| parts.total());
    let longest = longest.fold(0.0, f64::max);
    if longest <= 0.0 {
        return String::new();
    }

    let shown = |ns: f64| time(ns.max(0.0).round() as u64);
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let rows = all.iter().map(|(label_of_row, parts)| {
        let idle = parts.idle.iter();
        let idle = idle.map(|(cause, ns)| (cause.name(), cause.label(), *ns));
        let pieces = [("busy", "GPU busy", parts.busy)].into_iter().chain(idle);
        let pieces: Vec<_> = pieces.filter(|(_, _, ns)| *ns > 0.0).collect();
        for (class, label, _) in &pieces {
            if !seen.contains(&(*class, *label)) {
                seen.push((class, label));
            }
        }
        let label = |label: &str, ns: f64| format!("{label} {}", shown(ns));
        let spans = pieces.iter().map(|(class, words, ns)| {
            let width = percent(ns / longest);
            let title = escaped(&label(words, *ns));
            format!("<span class=\"{class}\" style=\"width:{width}\" title=\"{title}\"></span>")
        });
        let spans: String = spans.collect();
        let words = pieces.iter().map(|(_, words, ns)| label(words, *ns));
        let words: Vec<String> = words.collect();
        format!(
            "<div class=\"row\"><span class=\"who\">{}</span><div class=\"bar\" role=\"img\" \
             aria-label=\"{}\">{spans}</div><span class=\"value\">{}</span></div>\n",
            name(label_of_row),
            escaped(&words.join(", ")),
            unbroken(&shown(parts.total()))
        )
    });
    let rows: String = rows.collect();
    let keys = seen.iter().map(|(class, label)| {
        format!("<span class=\"key\"><i class=\"swatch {class}\"></i>{label}</span>")
    });
    let keys: Vec<String> = keys.collect();
    format!(
        "<div class=\"times\">\n{rows}</div>\n<p class=\"legend\">{}</p>\n",
        keys.join("\n")
    )
}

/// Returns a text that is never broken into lines.
pub(super) fn unbroken(text: &str) -> String {
    escaped(&text.replace(' ', &NO_BREAK.to_string()))
}

/// Returns a share as a length in CSS.
pub(super) fn percent(share: f64) -> String {
    format!("{:.3}%", share.clamp(0.0, 1.0) * 100.0)
}
