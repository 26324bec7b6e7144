//! `report.html`: one file with everything in it, filled into `templates/report.html`.
//!
//! It loads nothing from anywhere. Without its script all is there but the
//! timeline and sorting. Every text is escaped unless the template wrote it.

use anyhow::Context;
use metalens_analyzer::{Analysis, Report};
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;

use super::redact::redacted;
use super::timeline::{short, timeline};
use super::words::{add_words, contents};

const TEMPLATE: &str = include_str!("../../../../templates/report.html");
const STYLE: &str = include_str!("../../../../templates/report.css");
const SCRIPT: &str = include_str!("../../../../templates/report.js");

/// A report as a page of its own. The target's names alone are in it, unless
/// others' may be shown.
pub(crate) fn html(analysis: &Analysis, show_names: bool) -> anyhow::Result<String> {
    let timeline = script_json(&timeline(analysis))?;
    match show_names {
        true => fill(&analysis.report, &timeline),
        false => fill(&redacted(&analysis.report), &timeline),
    }
}

fn fill(report: &Report, timeline: &str) -> anyhow::Result<String> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| AutoEscape::Html);
    pages.set_keep_trailing_newline(true);
    pages.set_trim_blocks(true);
    pages.set_lstrip_blocks(true);
    add_words(&mut pages);
    pages.add_filter("verdict", |verdict: &str| match verdict {
        "pass" => "pass",
        "fail" => "FAIL",
        _ => "not measurable",
    });
    pages.add_filter("width", width);
    pages.add_filter("shortened", |name: &str| short(name));
    pages
        .add_template("report.html", TEMPLATE)
        .context("templates/report.html is broken")?;
    let context = context! {
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        timeline => Value::from_safe_string(timeline.to_owned()),
        ..contents(report)
    };
    let page = pages
        .get_template("report.html")
        .and_then(|page| page.render(context));
    page.context("cannot fill templates/report.html")
}

/// A part of a whole as a width in CSS.
#[expect(clippy::cast_precision_loss, reason = "a screen has few pixels")]
fn width(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    format!("{:.3}%", percent.min(100.0))
}

/// JSON that can stand in a script element: nothing in it ends that, or a line.
fn script_json(data: &impl Serialize) -> anyhow::Result<String> {
    let json = serde_json::to_string(data).context("cannot write the timeline")?;
    Ok(json
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_in_its_script() {
        let hostile = "</script><!--<script>&amp;\u{2028}\u{2029}\"'\\";
        let json = script_json(&hostile).unwrap();
        assert!(
            !json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']),
            "{json}"
        );
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn widths() {
        assert_eq!(width(1, 3), "33.333%");
        assert_eq!(width(0, 0), "0.000%");
        assert_eq!(width(5, 3), "100.000%");
    }

    /// What the page itself has must not end its elements early, or load anything.
    #[test]
    fn style_and_script_are_closed_and_alone() {
        for part in [STYLE, SCRIPT] {
            assert!(!part.contains("</") && !part.contains("<!--"), "{part}");
            assert!(!part.contains("//cdn") && !part.contains("http"), "{part}");
            assert!(!part.contains("@import") && !part.contains("innerHTML"));
        }
    }
}
