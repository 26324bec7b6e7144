//! Formats sections and blocks as HTML.
//!
//! Every text is escaped, and none is longer than a page can bear: a page has less than 3 MB.

use metalens_analyzer::{Cause, Severity};
use metalens_charts::KernelColors;
use metalens_message::{Message, Ns, Value, ratio};
use metalens_text::units::{capital, count, rough_time};

use super::escape::{escaped, moments, name, named, sentence};
use super::names::{LONGEST, short};
use crate::document::{
    BarPart, Block, Cell, Chart, Column, ColumnKind, Drawing, Fact, FindingEntry, Item, Look,
    Section, StepBar, Table, Tone,
};
use crate::wording;

/// Largest number of items of a list; the others are counted.
const ITEMS: usize = 50;
/// Largest number of places of a finding; the others are counted.
const PLACES: usize = 10;
/// Size of a small picture of busy shares: pixels for the whole window, and for a share of 100 %.
const THUMBNAIL: (usize, usize) = (120, 28);

/// Name of a chart, and its picture as an element of HTML that is not escaped.
pub(super) type InlineChart = (String, String);

/// Pictures and colors that a page has beside its document.
#[derive(Default)]
pub(super) struct PageExtras<'a> {
    /// The pictures of the page.
    pub(super) drawn: &'a [InlineChart],
    /// The colors of kernels, if the page shows them.
    pub(super) colors: Option<&'a KernelColors>,
}

/// Returns a section with its heading.
pub(super) fn section(section: &Section, extras: &PageExtras<'_>) -> String {
    let (id, title) = (section.id, named(&section.title));
    let blocks = blocks(section, extras);
    if blocks.is_empty() {
        String::new()
    } else if section.is_folded {
        format!(
            "<details class=\"fold\" id=\"{id}\">\n<summary>{title}</summary>\n{blocks}</details>\n"
        )
    } else {
        format!("<section id=\"{id}\">\n<h2>{title}</h2>\n{blocks}</section>\n")
    }
}

/// Returns the blocks of a section.
pub(super) fn blocks(section: &Section, extras: &PageExtras<'_>) -> String {
    let blocks = section.blocks.iter();
    blocks.map(|part| block(part, extras)).collect()
}

/// Returns a block as HTML.
fn block(block: &Block, extras: &PageExtras<'_>) -> String {
    let full = |text: &Message| sentence(&wording::sentence(text.clone()));
    match block {
        Block::Lead(text) => format!("<p class=\"verdict\">{}</p>\n", full(text)),
        Block::Text(text) => format!("<p>{}</p>\n", full(text)),
        Block::Remark(text) => format!("<p class=\"faint\">{}</p>\n", full(text)),
        Block::Warning(text) => format!("<p class=\"loud\" role=\"note\">{}</p>\n", sentence(text)),
        Block::Failure(text) => format!(
            "<p class=\"loud failed\" role=\"note\">{}</p>\n",
            full(text)
        ),
        Block::Heading(text) => format!("<h3>{}</h3>\n", escaped(text)),
        Block::List(items) => list(items),
        Block::Facts(facts) => definitions(facts),
        Block::Missing(facts) => {
            let shown = facts.get(..facts.len().min(ITEMS)).unwrap_or_default();
            definitions(shown) + &more(facts.len(), ITEMS)
        }
        Block::Table(found) => table(found, extras.colors),
        Block::Chart(found) => chart(found, extras.drawn),
        Block::Findings(found) | Block::FirstSteps(found) => {
            let first = found.iter().position(is_weighty).unwrap_or(0);
            let numbered = found.iter().enumerate();
            numbered
                .map(|(at, item)| finding(item, at == first))
                .collect()
        }
    }
}

/// Returns a line that counts the items that are not shown.
fn more(all: usize, shown: usize) -> String {
    match all.saturating_sub(shown) as u64 {
        0 => String::new(),
        more => format!("<p class=\"faint\">… and {} more.</p>\n", count(more)),
    }
}

/// Returns items as a list; items with a report are links.
fn list(items: &[Item]) -> String {
    let lines = items.iter().take(ITEMS).map(|item| {
        let text = sentence(&item.text);
        let text = if item.is_strong {
            format!("<b>{text}</b>")
        } else {
            text
        };
        match &item.report {
            Some(report) => {
                let address = escaped(report);
                format!("<li><a href=\"{address}/report.html\">{text}</a></li>\n")
            }
            None => format!("<li>{text}</li>\n"),
        }
    });
    let lines: String = lines.collect();
    format!("<ul>\n{lines}</ul>\n{}", more(items.len(), ITEMS))
}

/// Returns facts as a list of names and values.
fn definitions(facts: &[Fact]) -> String {
    let lines = facts.iter().map(|fact| {
        let name = escaped(&capital(&short(&fact.name)));
        format!("<dt>{name}</dt><dd>{}</dd>\n", named(&fact.value))
    });
    let lines: String = lines.collect();
    format!("<dl>\n{lines}</dl>\n")
}

/// Returns the picture of a chart, if the page has one; else its parts as a bar.
fn chart(chart: &Chart, drawn: &[InlineChart]) -> String {
    let found = drawn.iter().find(|(id, _)| *id == chart.id);
    match (found, &chart.drawing) {
        (Some((_, element)), _) => element.clone(),
        (None, Drawing::Parts(parts)) => stacked(parts),
        (None, Drawing::Step(steps)) => step_bars(steps),
        (None, Drawing::Lines(..) | Drawing::None) => String::new(),
    }
}

/// Returns the parts of a whole as one bar.
pub(super) fn stacked(parts: &[(Cause, Ns)]) -> String {
    let whole = parts.iter().map(|&(_, ns)| ns).sum();
    let told = |&(cause, ns): &(Cause, Ns)| {
        let share = wording::unbroken(&wording::share(ns, whole));
        (
            cause.name(),
            format!("{} {share}", cause.label()),
            width(ns, whole),
        )
    };
    let told: Vec<_> = parts.iter().map(told).collect();
    let label: Vec<&str> = told.iter().map(|(_, label, _)| label.as_str()).collect();
    let spans = told.iter().map(|(class, label, width)| {
        format!("<span class=\"{class}\" style=\"width:{width}\" title=\"{label}\"></span>\n")
    });
    let spans: String = spans.collect();
    let label = label.join(", ");
    format!("<div class=\"bar\" role=\"img\" aria-label=\"{label}\">\n{spans}</div>\n")
}

/// Returns steps as bars on one scale, with the names of their parts where there is room.
fn step_bars(steps: &[StepBar]) -> String {
    let scale = steps
        .iter()
        .map(StepBar::length_ns)
        .max()
        .unwrap_or_default();
    let bars = steps.iter().map(|step| {
        let parts = step.parts.iter().map(|&(part, ns)| {
            let class = class_of(part);
            let label = format!("{} {}", part.label(), rough_time(ns.0));
            // A word needs about a seventh of the bar.
            let word = if 7 * ns >= scale { label.as_str() } else { "" };
            let width = width(ns, scale);
            format!("<span class=\"{class}\" style=\"width:{width}\" title=\"{label}\">{word}</span>\n")
        });
        let parts: String = parts.collect();
        let (name, told) = (escaped(&step.name), escaped(&step.told()));
        format!("<div class=\"step\"><b>{name}</b><div class=\"bar\">\n{parts}</div><small>{told}</small></div>\n")
    });
    let bars: String = bars.collect();
    let parts = steps.first().map_or(&[][..], |step| &step.parts);
    let legend = parts
        .iter()
        .filter(|(_, ns)| *ns * 100 >= scale)
        .map(|&(part, ns)| {
            let (class, label) = (class_of(part), part.label());
            let ns = rough_time(ns.0);
            format!(
                "<span class=\"cause\"><span class=\"swatch {class}\"></span>{label} {ns}</span>\n"
            )
        });
    format!(
        "{bars}<div class=\"legend\">\n{}</div>\n",
        legend.collect::<String>()
    )
}

fn class_of(part: BarPart) -> &'static str {
    match part {
        BarPart::Gpu | BarPart::Roof => "gpu",
        BarPart::AboveRoof => "gpu above",
        BarPart::Idle(cause) => cause.name(),
        BarPart::Rest => "rest",
    }
}

/// Returns a part of a whole as a width in CSS.
fn width(part: Ns, whole: Ns) -> String {
    let percent = 100.0 * ratio(part, whole.max(Ns(1))).unwrap_or(0.0);
    format!("{:.3}%", percent.min(100.0))
}

/// Returns whether a finding may be open from the beginning before all others.
fn is_weighty(finding: &FindingEntry) -> bool {
    matches!(finding.severity, Severity::High | Severity::Medium)
}

/// Returns a finding that unfolds: evidence, places, advice and counter-evidence.
fn finding(finding: &FindingEntry, is_open: bool) -> String {
    let severity = finding.severity.name();
    let open = if is_open { " open" } else { "" };
    let gain = finding.gain.as_ref().map_or_else(String::new, |gain| {
        let (time, factor) = (sentence(&gain.time), &gain.factor.text);
        let certainty = gain.certainty;
        let saved = 100.0 * gain.share.clamp(0.0, 1.0);
        format!(
            " <span class=\"gain\"><span class=\"track\"><i style=\"width:{saved:.1}%\"></i></span>\
             saves {certainty} {time}: {factor}× faster</span>"
        )
    });
    let places = places(&finding.places);
    let by_framework = finding.framework_advice.iter();
    let by_framework: String = by_framework
        .map(|advice| format!("<li>{}</li>\n", sentence(advice)))
        .collect();
    let by_framework = match by_framework.as_str() {
        "" => by_framework,
        lines => format!("<ul>\n{lines}</ul>\n"),
    };

    format!(
        "<details class=\"finding {severity}\" id=\"finding-{id}\"{open}>\n<summary>\
         <span class=\"severity\">{severity}</span> <span class=\"title\">{}</span>{gain}</summary>\n\
         <p>{}</p>\n{places}<p><b>Do:</b> {}</p>\n{by_framework}<p><b>Counter-evidence:</b> {}</p>\n\
         <p class=\"faint\"><code>{id}</code></p>\n</details>\n",
        sentence(&finding.title),
        sentence(&finding.evidence),
        sentence(&finding.advice),
        sentence(&finding.counter_evidence),
        id = escaped(&finding.id),
    )
}

/// Returns the places to look at, as a list.
fn places(places: &[Message]) -> String {
    if places.is_empty() {
        return String::new();
    }

    let lines = places.iter().take(PLACES);
    let lines = lines.map(|place| format!("<li>{}</li>\n", place_of(place)));
    let lines: String = lines.collect();
    let more = match places.len().saturating_sub(PLACES) as u64 {
        0 => String::new(),
        more => format!("<li>… and {} more</li>\n", count(more)),
    };
    format!("<p class=\"label\">Look at</p>\n<ul>\n{lines}{more}</ul>\n")
}

/// Returns a place to look at. Names in it may be long.
fn place_of(place: &Message) -> String {
    if place.text.chars().count() <= LONGEST {
        return moments(place, None);
    }
    escaped(&short(&wording::unbroken(place)))
}

/// Returns a table within its element.
fn table(table: &Table, colors: Option<&KernelColors>) -> String {
    // Colors belong to whole names.
    let color = |cell: &Cell| {
        let is_kernel = cell.only_value() == Some(&Value::Kernel);
        colors
            .filter(|_| is_kernel)
            .map(|all| all.number(&cell.text.text))
    };
    let whole = &table.rows;
    let table = &*table.with_short_names(LONGEST);
    let class = if table.is_sortable {
        " class=\"sortable\""
    } else {
        ""
    };
    let headings = name_first(table, table.columns.iter().map(heading));

    let shown = table.rows.iter().zip(whole).take(table.long);
    let rows = shown.map(|(row, whole)| {
        let length_ns = row.iter().find_map(|shown| match shown.only_value() {
            Some(Value::Time { ns }) => Some(*ns),
            _ => None,
        });
        let cells = row.iter().zip(whole).zip(&table.columns);
        let cells = cells.map(|((shown, whole), column)| match color(whole) {
            Some(color) => kernel_cell(shown, column, color),
            None => cell(shown, column, length_ns),
        });
        format!("<tr>{}</tr>\n", name_first(table, cells))
    });
    let rows: String = rows.collect();

    let mut looks = table.rows.iter().flatten().map(|cell| &cell.look);
    let legend = if looks.any(|look| matches!(look, Look::OverTime(..))) {
        THUMBNAIL_LEGEND
    } else {
        ""
    };
    format!(
        "<div class=\"wide\"><table{class} id=\"{}-table\">\n<caption>{}</caption>\n<thead><tr>\
         {headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{}{legend}",
        table.id,
        escaped(table.caption),
        more(table.total, table.rows.len().min(table.long)),
    )
}

/// Returns the cells of a row. What the row is about comes first: on a phone, the figures scroll.
fn name_first(table: &Table, cells: impl Iterator<Item = String>) -> String {
    let mut cells: Vec<String> = cells.collect();
    let mut columns = table.columns.iter();
    let name = columns.position(|column| column.kind == ColumnKind::Name);
    if let Some(until_name) = name.and_then(|place| cells.get_mut(..=place)) {
        until_name.rotate_right(1);
    }
    cells.concat()
}

const THUMBNAIL_LEGEND: &str = "<p class=\"legend\"><span class=\"key\"><i class=\"swatch busy\">\
    </i>busy</span><span class=\"key\"><i class=\"swatch others\"></i>other processes</span>\
    <span class=\"faint\">each over its own window</span></p>\n";

/// Returns the heading of a column.
fn heading(column: &Column) -> String {
    let class = match column.kind {
        ColumnKind::Number => " class=\"n\"",
        ColumnKind::Bar => " class=\"plain\"",
        _ => "",
    };
    let text = capital(&sentence(&column.heading));
    format!("<th scope=\"col\"{class}>{text}</th>")
}

/// Returns a cell with the name of a kernel and its color. The page's script makes a button of it.
fn kernel_cell(cell: &Cell, column: &Column, color: usize) -> String {
    let name = name(&cell.text.text);
    let text = format!("<i class=\"swatch kernel-{color}\"></i>{name}");
    match column.kind {
        ColumnKind::Name => format!("<th scope=\"row\" class=\"name kernel\">{text}</th>"),
        _ => format!("<td class=\"name kernel\">{text}</td>"),
    }
}

/// Returns a cell. A moment has the length of what its row is about.
fn cell(cell: &Cell, column: &Column, length_ns: Option<u64>) -> String {
    let text = match &cell.look {
        Look::Plain if cell.is_name() => name(&cell.text.text),
        Look::Plain if matches!(cell.only_value(), Some(Value::Moment { .. })) => {
            moments(&cell.text, length_ns)
        }
        Look::Plain | Look::Ranked(_) => sentence(&cell.text),
        Look::Bar(part, whole, cause) => {
            let width = width(*part, *whole);
            let class = cause.map(|cause| format!(" class=\"{}\"", cause.name()));
            let class = class.unwrap_or_default();
            format!("<span class=\"track\"><i{class} style=\"width:{width}\"></i></span>")
        }
        Look::Verdict(tone) => {
            let class = match tone {
                Tone::Good => "pass",
                Tone::Bad => "fail",
                Tone::Doubtful | Tone::Faint | Tone::Strong => "other",
            };
            format!(
                "<span class=\"pill {class}\">{}</span>",
                sentence(&cell.text)
            )
        }
        Look::Cause(cause) => {
            let class = cause.name();
            format!("<i class=\"swatch {class}\"></i>{}", sentence(&cell.text))
        }
        Look::Report(folder) => {
            let (folder, name) = (escaped(folder), name(&cell.text.text));
            format!("<a href=\"{folder}/report.html\">{name}</a>")
        }
        Look::Finding(folder, id, _) => {
            let (folder, id) = (escaped(folder), escaped(id));
            let text = sentence(&cell.text);
            format!("<a href=\"{folder}/report.html#finding-{id}\">{text}</a>")
        }
        Look::OverTime(busy, others) => thumbnail(busy, others),
    };

    let class = class(cell, column);
    let sort = match (column.kind, &cell.look) {
        (ColumnKind::Number, _) | (_, Look::Ranked(_) | Look::Finding(..)) => {
            let by = cell.sort_value().map(|by| by.to_string());
            format!(" data-v=\"{}\"", by.unwrap_or_default())
        }
        _ => String::new(),
    };

    match column.kind {
        ColumnKind::Name => format!("<th scope=\"row\"{class}{sort}>{text}</th>"),
        _ => format!("<td{class}{sort}>{text}</td>"),
    }
}

/// Returns the attribute with the classes of a cell.
fn class(cell: &Cell, column: &Column) -> &'static str {
    match (column.kind, &cell.look) {
        (ColumnKind::Number, _) => " class=\"n\"",
        (ColumnKind::Sentence, _) => " class=\"why\"",
        (ColumnKind::Bar, Look::Bar(..)) => " class=\"bars\"",
        (_, Look::Report(_)) => " class=\"name\"",
        (_, Look::Cause(_)) => " class=\"cause\"",
        _ if cell.is_name() => " class=\"name\"",
        (ColumnKind::Label, _) => " class=\"label\"",
        _ => "",
    }
}

/// Returns busy shares over time as a small picture.
fn thumbnail(busy: &[u16], others: &[u16]) -> String {
    let (width, height) = THUMBNAIL;
    format!(
        "<svg class=\"thumb\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\
         <path class=\"mine\" d=\"{}\"/><path class=\"theirs\" d=\"{}\"/></svg>",
        strip(busy),
        strip(others)
    )
}

/// Returns shares, given in thousandths, as the path of an SVG: steps above a base line.
fn strip(shares: &[u16]) -> String {
    let (width, height) = THUMBNAIL;
    if shares.is_empty() {
        return String::new();
    }
    let mut path = format!("M0 {height}");
    for (at, &share) in shares.iter().enumerate() {
        // The least share is seen.
        let up = (usize::from(share) * height + 500) / 1_000;
        let up = if share > 0 { up.max(1) } else { 0 };
        let right = (at + 1) * width / shares.len();
        path.push_str(&format!("V{}H{right}", height - up));
    }
    path.push_str(&format!("V{height}Z"));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_at_most_the_whole() {
        assert_eq!(width(Ns(1), Ns(3)), "33.333%");
        assert_eq!(width(Ns(0), Ns(0)), "0.000%");
        assert_eq!(width(Ns(5), Ns(3)), "100.000%");
    }

    #[test]
    fn a_strip_has_a_step_for_each_share() {
        assert_eq!(strip(&[]), "");
        assert_eq!(
            strip(&[1_000, 0, 1, 500]),
            "M0 28V0H30V28H60V27H90V14H120V28Z"
        );
    }
}
