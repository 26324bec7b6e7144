//! Writes the page of a benchmark: its document, with the variants over one another.

use metalens_analyzer::units::time;
use metalens_bench::Bench;
use metalens_charts::HeatMapView;

use super::blocks::{InlineChart, PageExtras};
use super::escape::{escaped, name};
use super::{PageFrame, STYLE, TABLES_SCRIPT, page};
use crate::bench::{
    self, FASTEST, HEAT_MAP, Matrix, NOT_TOLD, RUNS, Spread, SpreadRow, TIMES, TimeParts, heat_map,
    time_parts,
};
use crate::document::Block;
use crate::error::Result;
use crate::wording::NO_BREAK;

const BENCH_STYLE: &str = include_str!("../../../../templates/bench.css");
/// Largest number of variants that are drawn.
const MOST: usize = 30;

/// Returns a benchmark as a page that loads nothing; it links to the reports of its runs.
pub fn bench_page(result: &Bench) -> Result<String> {
    let drawn = [
        bench::spread(result).map(|spread| (RUNS.to_owned(), runs(&spread))),
        Some((TIMES.to_owned(), times(result))),
        Matrix::from_bench(result).map(|matrix| (HEAT_MAP.to_owned(), heat(result, &matrix))),
    ];
    let drawn: Vec<InlineChart> = drawn.into_iter().flatten().collect();
    let frame = PageFrame {
        kind: "bench",
        style: format!("{STYLE}{BENCH_STYLE}"),
        data: String::new(),
        script: TABLES_SCRIPT.to_owned(),
    };

    let mut document = bench::document(result);
    // The cells of the heat map are the table.
    let matrix = document.sections.iter_mut().find(|one| one.id == "matrix");
    if let Some(matrix) = matrix {
        matrix
            .blocks
            .retain(|block| !matches!(block, Block::Table(_)));
    }

    let extras = PageExtras {
        drawn: &drawn,
        colors: None,
    };
    page(&document, &extras, &frame)
}

/// Returns all runs as points on one axis, a line for each variant.
fn runs(spread: &Spread) -> String {
    let rows: String = spread.rows.iter().map(row).collect();
    let (from, to) = (unbroken(&spread.ends.0), unbroken(&spread.ends.1));
    format!(
        "<div class=\"runs\">\n{rows}<div class=\"ends\"><span>{from}</span><span>{to}</span></div>\n\
         </div>\n<p class=\"faint\">Each point is a run; the line is their median.</p>\n"
    )
}

/// Returns the runs of a variant as a line.
fn row(row: &SpreadRow) -> String {
    let points = row.runs.iter().map(|place| {
        let place = percent(*place);
        format!("<i style=\"left:{place}\"></i>")
    });
    let points: String = points.collect();
    let (place, median) = (percent(row.median.0), unbroken(&row.median.1));
    let label = format!("{} runs, median {}", row.runs.len(), row.median.1);
    format!(
        "<div class=\"row\"><span class=\"who\">{}</span><div class=\"axis\" role=\"img\" \
         aria-label=\"{}\"><span class=\"inside\">{points}<b style=\"left:{place}\"></b></span></div>\
         <span class=\"value\">{median}</span></div>\n",
        name(&row.name),
        escaped(&label)
    )
}

/// A part of a bar: its class, its name, and its length in nanoseconds.
type BarPiece = (&'static str, &'static str, f64);

/// Returns busy time and idle time by cause as bars on one scale.
fn times(result: &Bench) -> String {
    let variants = result.variants.iter().take(MOST);
    let all = variants.filter_map(|one| Some((one.name.as_str(), time_parts(one)?)));
    let all: Vec<(&str, TimeParts)> = all.collect();
    let longest = all.iter().map(|(_, parts)| parts.total());
    let longest = longest.fold(0.0, f64::max);
    if longest <= 0.0 {
        return String::new();
    }

    let mut seen: Vec<(&str, &str)> = Vec::new();
    let mut rows = String::new();
    for (variant, parts) in &all {
        let pieces = bar_pieces(parts);
        for &(class, label, _) in &pieces {
            if !seen.contains(&(class, label)) {
                seen.push((class, label));
            }
        }
        rows.push_str(&time_row(variant, &pieces, parts.total(), longest));
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

/// Returns the parts of a variant's wall time that are not zero.
fn bar_pieces(parts: &TimeParts) -> Vec<BarPiece> {
    let idle = parts.idle.iter();
    let idle = idle.map(|(cause, ns)| (cause.name(), cause.label(), *ns));
    let pieces = [("busy", "GPU busy", parts.busy)].into_iter().chain(idle);
    pieces.filter(|(_, _, ns)| *ns > 0.0).collect()
}

/// Returns the bar of a variant.
fn time_row(variant: &str, pieces: &[BarPiece], total: f64, longest: f64) -> String {
    let label = |label: &str, ns: f64| format!("{label} {}", whole_time(ns));
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
        name(variant),
        escaped(&words.join(", ")),
        unbroken(&whole_time(total))
    )
}

/// Returns a time, rounded to whole nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole nanoseconds, not negative"
)]
fn whole_time(ns: f64) -> String {
    time(ns.max(0.0).round() as u64)
}

/// Returns the matrix as a table of colored cells.
fn heat(result: &Bench, matrix: &Matrix<'_>) -> String {
    let Some(view) = heat_map(result) else {
        return String::new();
    };
    let known = view.cells.iter().flatten().flatten();
    let least = known.map(|(value, _)| *value).reduce(f64::min);

    let headings = view.columns.iter();
    let headings: String = headings
        .map(|one| format!("<th scope=\"col\">{}</th>", name(one)))
        .collect();
    let rows = view.rows.iter().zip(&view.cells).map(|(row, cells)| {
        let cells = cells
            .iter()
            .map(|cell| heat_cell(cell.as_ref(), &view, least));
        let cells: String = cells.collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", name(row))
    });
    let rows: String = rows.collect();
    let fastest = matrix.fastest(result).into_iter();
    let fastest: String = fastest
        .map(|row| format!("<td>{}</td>", row.map_or_else(|| NOT_TOLD.to_owned(), name)))
        .collect();
    let corner = format!(
        "{} \\ {}",
        name(&matrix.rows.name),
        name(&matrix.columns.name)
    );
    format!(
        "<div class=\"wide\"><table class=\"heat\">\n<thead><tr><th class=\"corner\">{corner}</th>\
         {headings}</tr></thead>\n<tbody>\n{rows}</tbody>\n<tfoot><tr><th \
         scope=\"row\">{FASTEST}</th>{fastest}</tr></tfoot></table></div>\n<p \
         class=\"faint\">Median wall times; the shortest has a frame.</p>\n"
    )
}

/// Returns a cell of the heat map. The least value has a frame.
fn heat_cell(cell: Option<&(f64, String)>, view: &HeatMapView, least: Option<f64>) -> String {
    let Some((value, text)) = cell else {
        return "<td>–</td>".to_owned();
    };
    let best = if least == Some(*value) {
        " class=\"best\""
    } else {
        ""
    };
    let strength = percent(view.strength(*value));
    format!(
        "<td{best} style=\"--strength:{strength}\">{}</td>",
        unbroken(text)
    )
}

/// Returns a text that is not broken at its spaces.
fn unbroken(text: &str) -> String {
    escaped(&text.replace(' ', &NO_BREAK.to_string()))
}

/// Returns a share as a length in CSS.
fn percent(share: f64) -> String {
    format!("{:.3}%", share.clamp(0.0, 1.0) * 100.0)
}
