//! Writes the page of a benchmark: its document, with the variants over one another.

use metalens_bench::Bench;
use metalens_charts::HeatMapView;

use super::blocks::{InlineChart, PageExtras};
use super::escape::{escaped, name};
use super::time_bars::{TIMES_STYLE, percent, time_bars, unbroken};
use super::{PageFrame, STYLE, TABLES_SCRIPT, page};
use crate::bench::{
    self, FASTEST, HEAT_MAP, Matrix, NOT_TOLD, RUNS, Spread, SpreadRow, TIMES, heat_map, time_parts,
};
use crate::document::Block;
use crate::error::Result;

const BENCH_STYLE: &str = include_str!("../../../../../templates/bench.css");
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
        style: format!("{STYLE}{TIMES_STYLE}{BENCH_STYLE}"),
        tiles: String::new(),
        data: String::new(),
        script: TABLES_SCRIPT.to_owned(),
    };

    let mut document = bench::document(result);
    // The cells of the heat map are the table.
    let matrix = document
        .sections
        .iter_mut()
        .find(|section| section.id == "matrix");
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

/// Returns busy time and idle time by cause as bars on one scale.
fn times(result: &Bench) -> String {
    let variants = result.variants.iter().take(MOST);
    let all = variants
        .filter_map(|variant| Some((variant.name.clone(), time_parts(variant, result.basis)?)));
    time_bars(&all.collect::<Vec<_>>())
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
        .map(|heading| format!("<th scope=\"col\">{}</th>", name(heading)))
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
        name(matrix.rows.name),
        name(matrix.columns.name)
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
