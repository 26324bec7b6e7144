//! Writes pages of HTML: a report, and the index of a batch. A page is one file that loads nothing
//! from anywhere.
//!
//! Without its script, and on paper, a picture stands for the timeline of a report.

mod bench;
mod blocks;
mod escape;
mod names;
mod timeline;

use metalens_analyzer::message::{counted, time};
use metalens_analyzer::{Analysis, Report, message};
use metalens_batch::Index;
use metalens_charts::{Chart, ChartOptions, alt, draw, svg};

use crate::document::{Document, Section};
use crate::error::{Error, Result};
use crate::index::TrendPicture;
use crate::{index, report};
pub use bench::bench_page;
use blocks::InlineChart;
use escape::{escaped, filled, named, script_json, sentence};

const PAGE: &str = include_str!("../../../../templates/page.html");
const TIMELINE: &str = include_str!("../../../../templates/timeline.html");
const STYLE: &str = include_str!("../../../../templates/report.css");
const INDEX_STYLE: &str = include_str!("../../../../templates/index.css");
const TABLES_SCRIPT: &str = include_str!("../../../../templates/tables.js");
const SCRIPT: &str = include_str!("../../../../templates/report.js");
const INDEX_SCRIPT: &str = include_str!("../../../../templates/index.js");

/// Returns a report as a page, with the timeline of its analysis. All texts are those of the
/// report, which may be redacted; the timeline names only the analyzed process.
pub fn report_page(analysis: &Analysis, report: &Report) -> Result<String> {
    let data = script_json(&timeline::timeline(analysis))?;
    let drawn = ("timeline".to_owned(), timeline_box(analysis, report)?);
    let frame = PageFrame {
        kind: "report",
        style: STYLE.to_owned(),
        data: format!("<script type=\"application/json\" id=\"timeline-data\">{data}</script>"),
        script: format!("{SCRIPT}{TABLES_SCRIPT}"),
    };
    page(&report::document(report), &[drawn], &frame)
}

/// Returns the index of a batch as a page that loads nothing; it links to the reports.
pub fn index_page(index: &Index, pictures: &[TrendPicture], show_names: bool) -> Result<String> {
    let drawn = pictures.iter().map(|picture| {
        let figure = format!(
            "<figure class=\"trend\"><div class=\"on-light\">{}</div><div class=\"on-dark\">{}</div>\
             </figure>\n",
            without_namespace(&picture.svg),
            without_namespace(&picture.dark_svg)
        );
        (picture.path.clone(), figure)
    });
    let drawn: Vec<InlineChart> = drawn.collect();
    let frame = PageFrame {
        kind: "index",
        style: format!("{STYLE}{INDEX_STYLE}"),
        data: String::new(),
        script: format!("{TABLES_SCRIPT}{INDEX_SCRIPT}"),
    };
    page(
        &index::document(index, pictures, show_names),
        &drawn,
        &frame,
    )
}

/// The parts of a page that are not in its document.
struct PageFrame {
    kind: &'static str,
    style: String,
    data: String,
    script: String,
}

/// Returns a page. Sections without a title are at its top.
fn page(document: &Document, drawn: &[InlineChart], frame: &PageFrame) -> Result<String> {
    let is_opening = |section: &&Section| section.title.text.is_empty();
    let opening = document.sections.iter().filter(is_opening);
    let opening: String = opening.map(|one| blocks::blocks(one, drawn)).collect();
    let sections = document.sections.iter().filter(|one| !is_opening(one));
    let sections: String = sections.map(|one| blocks::section(one, drawn)).collect();
    filled(
        PAGE,
        &[
            ("title", &escaped(&names::short(&document.title.text))),
            ("style", &frame.style),
            ("kind", frame.kind),
            ("heading", &named(&document.title)),
            ("opening", opening.trim_end()),
            ("sections", sections.trim_end()),
            ("footer", &sentence(&document.footer)),
            ("data", &frame.data),
            ("script", &frame.script),
        ],
    )
}

/// Returns the timeline as a part of the page; the verdict is already above it. It names only the
/// analyzed process.
fn timeline_box(analysis: &Analysis, report: &Report) -> Result<String> {
    let options = ChartOptions {
        has_header: false,
        ..ChartOptions::default()
    };
    let scene = draw(Chart::Timeline, analysis, &options).map_err(Error::Timeline)?;
    let picture = svg(&scene, &alt(Chart::Timeline, report));
    let summary = message!(
        "Busy {} of {}, in {}; {}. The tables below have the figures.",
        time(report.busy.busy_ns),
        time(report.window.span_ns),
        counted(report.counts.intervals, "interval"),
        counted(report.gaps.count, "gap"),
    );
    filled(
        TIMELINE,
        &[
            ("picture", &without_namespace(&picture)),
            ("summary", &sentence(&summary)),
            ("legend", &legend(report)),
        ],
    )
}

/// Returns the colors of the timeline with their meanings.
fn legend(report: &Report) -> String {
    let key = |class: &str, words: &str| {
        format!("<span class=\"key\"><i class=\"swatch {class}\"></i>{words}</span>")
    };
    let mut keys = vec![key("busy", "busy")];
    if report.busy.others_busy_ns > 0 {
        keys.push(key("others", "other processes"));
    }
    let causes = report.idle.parts.largest_first().into_iter();
    keys.extend(causes.map(|(cause, _)| key(cause.name(), cause.label())));
    keys.join("\n")
}

/// Removes the namespace of an SVG element, which a page does not need.
fn without_namespace(svg: &str) -> String {
    svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

#[cfg(test)]
mod tests {
    use metalens_analyzer::message::path;
    use metalens_analyzer::{Note, NoteDetail, NoteSeverity};
    use metalens_testing::analysis_of;

    use super::*;
    use crate::for_page;

    /// Makes a list as long as one in a hostile recording.
    fn grown<T: Clone>(list: &mut Vec<T>, count: usize, change: impl Fn(&mut T)) {
        if let Some(mut one) = list.first().cloned() {
            list.resize(count, one.clone());
            change(&mut one);
            list.splice(..count.min(300), vec![one; count.min(300)]);
        }
    }

    /// Every list of the report, and every name in it, is longer than in any real report. Other
    /// tests cover the names of the timeline.
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
        let page = report_page(&analysis, &analysis.report).unwrap();
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

    /// The text of the timeline's picture names no folder, either.
    #[test]
    fn a_redacted_page_has_no_text_of_the_whole_report() {
        let mut analysis = analysis_of("eager");
        let secret = message!("work of {}", path("/home/somebody/secret/run.work.json"));
        analysis.report.add_note(Note::loud("work", secret));
        let page = |show_names| {
            let report = for_page(&analysis.report, show_names);
            report_page(&analysis, &report).unwrap()
        };
        assert!(page(true).contains("/home/somebody/secret"));
        assert!(!page(false).contains("/home/somebody"));
    }

    /// Styles and scripts of the page neither end their elements early nor load anything.
    #[test]
    fn style_and_script_are_closed_and_alone() {
        for part in [STYLE, INDEX_STYLE, TABLES_SCRIPT, SCRIPT, INDEX_SCRIPT] {
            assert!(!part.contains("</") && !part.contains("<!--"), "{part}");
            assert!(!part.contains("//cdn") && !part.contains("http"), "{part}");
            assert!(!part.contains("@import") && !part.contains("innerHTML"));
        }
    }
}
