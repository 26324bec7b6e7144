//! `report.html`: one file with everything in it, filled into `templates/report.html`.
//!
//! It loads nothing from anywhere. Without its script, and on paper, a picture
//! stands for the timeline. Every text is escaped unless the template wrote it,
//! and none is longer than a page can bear: a page has less than 3 MB.

use anyhow::Context;
use metalens_analyzer::{Analysis, Report};
use metalens_charts::{Chart, ChartOptions, alt, draw, svg};
use metalens_text::shown_lines;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment, Error, Output, State, context};
use serde::Serialize;

use super::redact::redacted;
use super::timeline::{cut, short, timeline};
use super::words::{add_words, contents};

const TEMPLATE: &str = include_str!("../../../../templates/report.html");
const STYLE: &str = include_str!("../../../../templates/report.css");
const SCRIPT: &str = include_str!("../../../../templates/report.js");

/// Of a sentence, only so many letters: names in it may be long.
const LONGEST_TEXT: usize = 1_000;

/// A report as a page of its own. The target's names alone are in it, unless
/// others' may be shown.
pub(crate) fn html(analysis: &Analysis, show_names: bool) -> anyhow::Result<String> {
    let timeline = script_json(&timeline(analysis))?;
    let picture = picture(analysis)?;
    match show_names {
        true => fill(&analysis.report, &timeline, &picture),
        false => fill(&redacted(&analysis.report), &timeline, &picture),
    }
}

/// The timeline as a part of the page, which has said the verdict above it. It
/// names no process but the target.
fn picture(analysis: &Analysis) -> anyhow::Result<String> {
    let options = ChartOptions {
        has_header: false,
        ..ChartOptions::default()
    };
    let scene = draw(Chart::Timeline, analysis, &options)
        .context("cannot draw the timeline of the page")?;
    let picture = svg(&scene, &alt(Chart::Timeline, &analysis.report));
    // In a page an SVG element needs no namespace.
    Ok(picture.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1))
}

fn fill(report: &Report, timeline: &str, picture: &str) -> anyhow::Result<String> {
    let mut pages = Environment::new();
    pages.set_auto_escape_callback(|_| AutoEscape::Html);
    pages.set_formatter(shown_in_html);
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
    pages.add_filter("told", |text: &str| cut(text, LONGEST_TEXT));
    pages
        .add_template("report.html", TEMPLATE)
        .context("templates/report.html is broken")?;
    let context = context! {
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        timeline => Value::from_safe_string(timeline.to_owned()),
        picture => Value::from_safe_string(picture.to_owned()),
        ..contents(report)
    };
    let page = pages
        .get_template("report.html")
        .and_then(|page| page.render(context));
    page.context("cannot fill templates/report.html")
}

/// Writes a value so that HTML shows all of it: characters without a width, and those that
/// turn the direction of reading, by name.
pub(super) fn shown_in_html(
    out: &mut Output<'_>,
    state: &State<'_, '_>,
    value: &Value,
) -> Result<(), Error> {
    match value.as_str() {
        Some(text) if !value.is_safe() => {
            let shown = Value::from(shown_lines(text).into_owned());
            minijinja::escape_formatter(out, state, &shown)
        }
        _ => minijinja::escape_formatter(out, state, value),
    }
}

/// A part of a whole as a width in CSS.
#[expect(clippy::cast_precision_loss, reason = "a screen has few pixels")]
fn width(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    format!("{:.3}%", percent.min(100.0))
}

/// JSON that can stand in a script element: nothing in it ends that, or a line.
pub(super) fn script_json(data: &impl Serialize) -> anyhow::Result<String> {
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
    use metalens_analyzer::{NoteDetail, NoteSeverity};

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

    fn analysis_of(scenario: &str) -> Analysis {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("export");
        let scenario = metalens_simulator::Scenario::preset(scenario).unwrap();
        metalens_simulator::write_export(&scenario, &export, false).unwrap();
        let input = metalens_trace::Input::open(&export).unwrap();
        let options = metalens_trace::LoadOptions::default();
        let trace = input.load(&metalens_analyzer::selection(), options);
        let request = metalens_analyzer::Request::default();
        metalens_analyzer::analyze(trace.unwrap(), &request).unwrap()
    }

    /// Makes a list as long as a hostile recording might.
    fn grown<T: Clone>(list: &mut Vec<T>, count: usize, change: impl Fn(&mut T)) {
        if let Some(mut one) = list.first().cloned() {
            list.resize(count, one.clone());
            change(&mut one);
            list.splice(..count.min(300), vec![one; count.min(300)]);
        }
    }

    /// Every list of a report as long, and every name in it as long, as nobody has
    /// them. The names of the timeline are tested from outside.
    #[test]
    fn the_worst_report_fits_into_a_page() {
        let mut analysis = analysis_of("awkward");
        let name = "<\"&é".repeat(2_500);
        let report = &mut analysis.report;
        report.notes = vec![name.clone(); 10_000];
        report.note_details.resize_with(10_000, NoteDetail::default);
        for detail in &mut report.note_details[..5_000] {
            detail.severity = NoteSeverity::Quiet;
        }
        grown(&mut report.not_recorded, 5_000, |one| {
            one.what.clone_from(&name);
            one.why.clone_from(&name);
        });
        grown(&mut report.processes, 100_000, |one| {
            one.name.clone_from(&name);
        });
        grown(&mut report.channels, 5_000, |one| {
            one.name = Some(name.clone());
        });
        grown(&mut report.kernels, 5_000, |one| {
            one.name.clone_from(&name);
            one.channel = Some(name.clone());
        });
        grown(&mut report.findings, 40, |one| {
            one.evidence.clone_from(&name);
            one.look_at = vec![name.clone(); 1_000];
        });
        grown(&mut report.gaps.top, 10, |one| {
            one.before = Some(name.clone());
            one.after = Some(name.clone());
        });
        if let Some(performance) = &mut report.machine.performance {
            grown(&mut performance.states, 1_000, |one| {
                one.state.clone_from(&name);
            });
        }
        report.process.name.clone_from(&name);
        report.source.path.clone_from(&name);
        report.summary.busy.clone_from(&name);
        report.summary.idle.clone_from(&name);
        report.summary.advice.clone_from(&name);
        report.run.template = Some(name.clone());
        let page = html(&analysis, true).unwrap();
        assert!(page.len() < 3_000_000, "{} bytes", page.len());
        for more in [
            "99,980 more",
            "4,950 more",
            "4,980 more",
            "4,800 more",
            "992 more",
            "990 more",
        ] {
            assert!(page.contains(more), "{more}");
        }
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
