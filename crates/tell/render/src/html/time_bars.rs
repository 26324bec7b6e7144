//! Draws busy time and idle time by cause as bars.

use metalens_comparison::{Number, TimeParts};
use metalens_text::units::time;

use super::escape::{escaped, name};
use crate::wording::NO_BREAK;

/// Style of the bars.
pub(super) const TIMES_STYLE: &str = include_str!("../../../../../templates/times.css");

/// A part of a bar: its class, its words and its time.
type BarPiece = (&'static str, &'static str, Number);

/// Returns busy time and idle time by cause as bars on one scale, each with its name; nothing if all
/// are empty.
pub(super) fn time_bars(all: &[(String, TimeParts)]) -> String {
    let longest = all.iter().map(|(_, parts)| parts.sum());
    let longest = longest.fold(0.0, f64::max);
    if longest <= 0.0 {
        return String::new();
    }

    let mut seen: Vec<(&str, &str)> = Vec::new();
    let mut rows = String::new();
    for (label, parts) in all {
        let pieces = bar_pieces(parts);
        for &(class, label, _) in &pieces {
            if !seen.contains(&(class, label)) {
                seen.push((class, label));
            }
        }
        rows.push_str(&time_row(label, &pieces, parts.total, longest));
    }

    let keys = seen.iter().map(|(class, label)| {
        format!("<span class=\"key\"><i class=\"swatch {class}\"></i>{label}</span>")
    });
    let keys: Vec<String> = keys.collect();
    format!(
        "<div class=\"times\">\n{rows}</div>\n<p class=\"legend\">{}</p>\n",
        keys.join("\n")
    )
}

/// Returns the parts of a wall time that are not zero.
fn bar_pieces(parts: &TimeParts) -> Vec<BarPiece> {
    let idle = parts.idle.iter();
    let idle = idle.map(|(cause, ns)| (cause.name(), cause.label(), *ns));
    let pieces = [("busy", "GPU busy", parts.busy)].into_iter().chain(idle);
    pieces.filter(|(_, _, ns)| ns.get() > 0.0).collect()
}

/// Returns a bar with its name and its total.
fn time_row(label_of_row: &str, pieces: &[BarPiece], total: Number, longest: f64) -> String {
    let label = |label: &str, ns: Number| format!("{label} {}", time(ns.to_whole()));
    let spans = pieces.iter().map(|(class, words, ns)| {
        let width = percent(ns.get() / longest);
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
        unbroken(&time(total.to_whole()))
    )
}

fn unbroken(text: &str) -> String {
    escaped(&text.replace(' ', &NO_BREAK.to_string()))
}

/// Returns a share as a length in CSS.
fn percent(share: f64) -> String {
    format!("{:.3}%", share.clamp(0.0, 1.0) * 100.0)
}
