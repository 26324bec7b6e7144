//! Writes pages of HTML: a report, a comparison, and the index of a batch. A page is one file that loads nothing
//! from anywhere.
//!
//! Without its script, and on paper, a picture stands for the timeline of a report.

mod bench;
mod blocks;
pub(crate) mod escape;
mod inputs;
mod names;
mod tiles;
mod time_bars;
mod timeline;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use metalens_analyzer::{Analysis, Report};
use metalens_batch::Index;
use metalens_charts::{Chart, ChartOptions, KernelColors, alt, draw, svg};
use metalens_comparison::{Comparison, KernelChange};
use metalens_files::sha256_of_bytes;
use metalens_message::{Ns, counted, message};
use metalens_text::shorten_all;

use crate::document::{Block, Document, Section, Table};
use crate::error::{Error, Result};
use crate::{index, report};
pub use bench::bench_page;
use blocks::PageExtras;
use escape::{escaped, filled, name, named, script_json, sentence};
pub use inputs::{comparison_page_of, stored_report_page};
use time_bars::{TIMES_STYLE, time_bars};

/// Largest number of letters of a kernel's name in the legend.
const LEGEND: usize = 60;

const PAGE: &str = include_str!("../../../../../templates/page.html");
const TIMELINE: &str = include_str!("../../../../../templates/timeline.html");
const STYLE: &str = include_str!("../../../../../templates/report.css");
const INDEX_STYLE: &str = include_str!("../../../../../templates/index.css");
const TABLES_SCRIPT: &str = include_str!("../../../../../templates/tables.js");
const SCRIPT: &str = include_str!("../../../../../templates/report.js");
const INDEX_SCRIPT: &str = include_str!("../../../../../templates/index.js");

/// Returns a report as a page, with the timeline of its analysis. All texts are those of the
/// report, which may be redacted; the timeline names only the analyzed process.
pub fn report_page(analysis: &Analysis, report: &Report) -> Result<String> {
    let colors = KernelColors::of(&analysis.report);
    let data = script_json(&timeline::timeline(analysis, &colors)?)?;
    let timeline = timeline_box(analysis, report, &colors)?;
    let frame = PageFrame {
        kind: "report",
        style: STYLE.to_owned(),
        tiles: tiles::tiles(report, "timeline"),
        data: format!("<script type=\"application/json\" id=\"timeline-data\">{data}</script>"),
        script: format!("{SCRIPT}{TABLES_SCRIPT}"),
    };
    let extras = PageExtras {
        drawn: &[("timeline".to_owned(), timeline)],
        colors: Some(&colors),
    };
    page(&beside_tiles(report), &extras, &frame)
}

/// Returns the document of a report without the sentences of which the tiles have the figures.
fn beside_tiles(report: &Report) -> Document {
    let mut document = report::document(report);
    let opening = document.sections.iter_mut();
    for section in opening.filter(|section| section.id == "verdict") {
        section.blocks.retain(|block| match block {
            Block::Text(_) => false,
            Block::Lead(text) => *text != report.summary.busy,
            _ => true,
        });
    }
    document
}

/// Returns a comparison as a page that loads nothing, with its pictures for light and dark screens.
/// The comparison may be redacted.
pub fn comparison_page(
    document: &Document,
    compared: &Comparison,
    pictures: &[String],
) -> Result<String> {
    let sum = |kernel: &KernelChange| {
        let sides = [kernel.total_ns.base_value(), kernel.total_ns.new_value()];
        sides
            .into_iter()
            .flatten()
            .map(|ns| Ns(ns.to_whole()))
            .sum()
    };
    let kernels = compared.kernels.iter();
    let colors = KernelColors::by_time(kernels.map(|kernel| (kernel.name.as_str(), sum(kernel))));
    let drawn = match pictures {
        [light, dark] => vec![("compare".to_owned(), on_both(light, dark))],
        // A stored baseline or report has figures, and no intervals to draw.
        _ => {
            let sides = ["base", "new"].into_iter().zip(compared.time_parts());
            let known = sides.filter_map(|(name, parts)| Some((name.to_owned(), parts?)));
            vec![("compare".to_owned(), time_bars(&known.collect::<Vec<_>>()))]
        }
    };
    let extras = PageExtras {
        drawn: &drawn,
        colors: Some(&colors),
    };
    let frame = PageFrame {
        kind: "comparison",
        style: format!("{STYLE}{INDEX_STYLE}{TIMES_STYLE}"),
        tiles: String::new(),
        data: String::new(),
        script: TABLES_SCRIPT.to_owned(),
    };
    page(document, &extras, &frame)
}

/// Returns a picture for light screens and one for dark ones, of which one is shown.
fn on_both(light: &str, dark: &str) -> String {
    format!(
        "<figure class=\"themed\"><div class=\"on-light\">{}</div><div class=\"on-dark\">{}</div>\
         </figure>\n",
        without_namespace(light),
        without_namespace(dark)
    )
}

/// Returns the index of a batch as a page that loads nothing; it links to the reports.
pub fn index_page(all: &Index, show_names: bool) -> Result<String> {
    let document = index::document(all, show_names);
    let tables = document.sections.iter().flat_map(Section::tables);
    let narrow: String = tables
        .filter(|table| table.id == "recordings")
        .map(narrow)
        .collect();
    let frame = PageFrame {
        kind: "index",
        style: format!("{STYLE}{INDEX_STYLE}{narrow}"),
        tiles: String::new(),
        data: String::new(),
        script: format!("{TABLES_SCRIPT}{INDEX_SCRIPT}"),
    };
    page(&document, &PageExtras::default(), &frame)
}

/// Returns the style that hides the columns for which a narrow screen has no room: those that a terminal
/// drops first.
fn narrow(table: &Table) -> String {
    /// Widths of screens in pixels, each with the least rank of a column that it hides.
    const HIDDEN: [(u32, u8); 3] = [(1400, 6), (1000, 4), (640, 1)];
    let rules = HIDDEN.map(|(width, least)| {
        let columns = table.columns.iter().zip(1..);
        let hidden = columns.filter(|(column, _)| column.spare >= least);
        let cells = hidden.map(|(_, at)| format!("#{}-table tr > :nth-child({at})", table.id));
        let cells = cells.collect::<Vec<_>>().join(", ");
        if cells.is_empty() {
            return cells;
        }
        format!("@media screen and (max-width: {width}px) {{ {cells} {{ display: none; }} }}\n")
    });
    rules.concat()
}

/// The parts of a page that are not in its document.
struct PageFrame {
    kind: &'static str,
    style: String,
    /// Figures below the first sentence.
    tiles: String,
    data: String,
    script: String,
}

/// Returns a page. Sections without a title are at its top.
fn page(document: &Document, extras: &PageExtras<'_>, frame: &PageFrame) -> Result<String> {
    let is_opening = |section: &&Section| section.title.text.is_empty();
    let opening = document.sections.iter().filter(is_opening);
    let opening: String = opening
        .map(|section| blocks::blocks(section, extras))
        .collect();
    let opening = match opening.split_once("</p>\n") {
        Some((first, rest)) => format!("{first}</p>\n{}{rest}", frame.tiles),
        None => opening + &frame.tiles,
    };
    let sections = document.sections.iter();
    let shown: Vec<(&Section, String)> = sections
        .filter(|section| !is_opening(section))
        .map(|section| (section, blocks::section(section, extras)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let contents = contents(shown.iter().map(|(section, _)| *section));
    let sections: String = shown.into_iter().map(|(_, text)| text).collect();
    filled(
        PAGE,
        &[
            ("script_hash", &script_hash(&frame.script)),
            ("title", &escaped(&names::short(&document.title.text))),
            ("style", &frame.style),
            ("kind", frame.kind),
            ("heading", &named(&document.title)),
            ("opening", opening.trim_end()),
            ("contents", &contents),
            ("sections", sections.trim_end()),
            ("footer", &sentence(&document.footer)),
            ("data", &frame.data),
            ("script", &frame.script),
        ],
    )
}

/// Returns the hash by which the policy of a page allows its script, and no other one. The frame
/// puts the script into lines of its own.
fn script_hash(script: &str) -> String {
    let hash = sha256_of_bytes(format!("\n{script}\n").as_bytes());
    format!("sha256-{}", STANDARD.encode(hash))
}

/// Returns the list of a page's sections, if it has several.
fn contents<'a>(sections: impl Iterator<Item = &'a Section>) -> String {
    let links = sections.map(|section| {
        let title = named(&section.title);
        format!("<li><a href=\"#{}\">{title}</a></li>\n", section.id)
    });
    let links: Vec<String> = links.collect();
    if links.len() < 2 {
        return String::new();
    }
    let links = links.concat();
    format!("<nav class=\"contents\" aria-label=\"Contents\">\n<ul>\n{links}</ul>\n</nav>")
}

/// Returns the timeline as a part of the page; the verdict is already above it. It names only the
/// analyzed process.
fn timeline_box(analysis: &Analysis, report: &Report, colors: &KernelColors) -> Result<String> {
    let options = ChartOptions {
        has_header: false,
        ..ChartOptions::default()
    };
    let scene = draw(Chart::Timeline, analysis, &options).map_err(Error::Timeline)?;
    let picture = svg(&scene, &alt(Chart::Timeline, report));
    let summary = message!(
        "Busy {} of {}, in {}; {}. The tables below have the figures.",
        report.busy.busy_ns,
        report.window.span_ns,
        counted(report.counts.intervals, "interval"),
        counted(report.gaps.count, "gap"),
    );
    let main = report.steps.first();
    let typical = main.map_or_else(
        || "Around a typical gap".to_owned(),
        |main| format!("The typical {}", escaped(main.noun())),
    );
    filled(
        TIMELINE,
        &[
            ("picture", &without_namespace(&picture)),
            ("summary", &sentence(&summary)),
            ("legend", &legend(report, colors)),
            ("typical", &typical),
        ],
    )
}

/// Returns the colors of the timeline with their meanings: those of the kernels, and those of the
/// causes of idle time.
fn legend(report: &Report, colors: &KernelColors) -> String {
    let key = |class: &str, words: &str| {
        format!("<span class=\"key\"><i class=\"swatch {class}\"></i>{words}</span>")
    };
    let group = |id: &str, title: &str, keys: Vec<String>| {
        let keys = keys.join("\n");
        format!("<p class=\"legend\" id=\"{id}\"><b>{title}</b>\n{keys}\n</p>")
    };
    let own: Vec<&str> = colors.names.iter().map(String::as_str).collect();
    let short = shorten_all(&own, &|name| name.chars().count() <= LEGEND);
    let own = short.iter().enumerate();
    let mut kernels: Vec<String> = own
        .map(|(at, kernel)| key(&format!("kernel-{at}"), &name(kernel)))
        .collect();
    if colors.has_more {
        kernels.push(key(
            &format!("kernel-{}", colors.names.len()),
            "other kernels",
        ));
    }

    if report.busy.others_busy_ns > Some(Ns(0)) {
        kernels.push(key("others", "other processes"));
    }
    let causes = report.idle.parts.largest_first().into_iter();
    let causes: Vec<String> = causes
        .map(|(cause, _)| key(cause.name(), cause.label()))
        .collect();
    let mut groups = vec![group("legend", "GPU busy:", kernels)];
    if !causes.is_empty() {
        groups.push(group("causes", "GPU idle:", causes));
    }
    groups.join("\n")
}

/// Removes the namespace of an SVG element, which a page does not need.
fn without_namespace(svg: &str) -> String {
    svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
}

#[cfg(test)]
mod tests {
    use metalens_analyzer::{Note, NoteSeverity};
    use metalens_message::{Message, path};
    use metalens_testing::{analysis_of, check_policy};

    use super::*;
    use crate::for_page;

    /// Makes a list as long as one in a hostile recording.
    fn grown<T: Clone>(list: &mut Vec<T>, count: usize, change: impl Fn(&mut T)) {
        if let Some(mut first) = list.first().cloned() {
            list.resize(count, first.clone());
            change(&mut first);
            list.splice(..count.min(300), vec![first; count.min(300)]);
        }
    }

    /// A column that is never dropped is on every screen.
    #[test]
    fn narrow_screens_have_fewer_columns() {
        let columns = [0, 1, 6].map(|spare| crate::document::Column::words("").spare(spare));
        let style = narrow(&Table::new("runs", "", columns.to_vec()));
        let hidden: Vec<(&str, usize)> = style
            .lines()
            .filter_map(|rule| {
                let (_, rule) = rule.split_once("max-width: ")?;
                let (width, cells) = rule.split_once("px")?;
                assert!(!cells.contains(":nth-child(1)"), "{cells}");
                Some((width, cells.matches(":nth-child").count()))
            })
            .collect();
        assert_eq!(hidden, [("1400", 1), ("1000", 1), ("640", 2)]);
    }

    /// Every list of the report, and every name in it, is longer than in any real report. Other
    /// tests cover the names of the timeline.
    #[test]
    fn the_worst_report_fits_into_a_page() {
        let mut analysis = analysis_of("awkward");
        let name = "<\"&é".repeat(2_500);
        let report = &mut analysis.report;
        let sentence = Message::words(&name);
        report.notes = vec![Note::loud("", &sentence); 10_000];
        for note in &mut report.notes[..5_000] {
            note.severity = NoteSeverity::Quiet;
        }
        grown(&mut report.not_recorded, 5_000, |part| {
            part.what.clone_from(&name);
            part.why.clone_from(&sentence);
        });
        grown(&mut report.processes, 100_000, |process| {
            process.name.clone_from(&name);
        });
        grown(&mut report.channels, 5_000, |channel| {
            channel.name = Some(name.clone());
        });
        grown(&mut report.kernels, 5_000, |kernel| {
            kernel.name.clone_from(&name);
            kernel.channel = Some(name.clone());
        });
        grown(&mut report.findings, 40, |finding| {
            finding.evidence.clone_from(&sentence);
            finding.look_at = vec![sentence.clone(); 1_000];
        });
        grown(&mut report.gaps.top, 10, |gap| {
            gap.before = Some(name.clone());
            gap.after = Some(name.clone());
        });
        if let Some(performance) = &mut report.machine.performance {
            grown(&mut performance.states, 1_000, |state| {
                state.state.clone_from(&name);
            });
        }
        report.process.name.clone_from(&name);
        report.source.path.clone_from(&name);
        report.summary.busy.clone_from(&sentence);
        report.summary.idle.clone_from(&sentence);
        report.summary.advice.clone_from(&sentence);
        report.run.template = Some(name.clone());
        let page = report_page(&analysis, &analysis.report).unwrap();
        check_policy(&page);
        check_policy(&stored_report_page(&analysis.report).unwrap());
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

    /// A stored report has tiles, too, and no timeline that one of them could lead to.
    #[test]
    fn links_inside_a_page_lead_to_its_parts() {
        let analysis = analysis_of("eager");
        let report = &analysis.report;
        let pages = [report_page(&analysis, report), stored_report_page(report)];
        for page in pages.map(Result::unwrap) {
            let links = page.split("href=\"#").skip(1);
            let links: Vec<&str> = links.filter_map(|rest| rest.split('"').next()).collect();
            assert!(links.len() > 10, "{links:?}");
            for link in links {
                assert!(page.contains(&format!(" id=\"{link}\"")), "{link}");
            }
        }
    }

    /// The text of the timeline's picture names no folder, either.
    #[test]
    fn a_redacted_page_has_no_text_of_the_whole_report() {
        let mut analysis = analysis_of("eager");
        let secret = message!("work of {}", path("/home/somebody/secret/run.work.json"));
        analysis.report.notes.push(Note::loud("work", secret));
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
