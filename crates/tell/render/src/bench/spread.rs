//! Places the runs of all variants on one axis.

use metalens_bench::Bench;
use metalens_comparison::sentences::value;
use metalens_comparison::{Number, Unit};
use metalens_text::number::{Float, rounded};

use super::tables::runs_chart;
use crate::document::{Drawing, Section};

/// Largest number of variants that are drawn.
const MOST: usize = 30;
/// Length of a line of characters.
const LINE: usize = 56;
/// The axis begins at 0 if the longest time is more than this many times the shortest.
const WIDE: f64 = 1.25;

/// The runs of all variants on one axis.
pub(crate) struct Spread {
    /// Texts at both ends of the axis.
    pub(crate) ends: (String, String),
    pub(crate) rows: Vec<SpreadRow>,
}

/// The runs of one variant. Places are shares of the axis.
pub(crate) struct SpreadRow {
    pub(crate) name: String,
    pub(crate) median: (f64, String),
    pub(crate) runs: Vec<f64>,
}

/// Returns the places of all runs; none without a time.
pub(crate) fn spread(bench: &Bench) -> Option<Spread> {
    let variants = bench.variants.iter().take(MOST);
    let all = variants
        .clone()
        .flat_map(|variant| variant.wall.values.iter().flatten());
    let all: Vec<f64> = all.map(|value| value.get()).collect();
    let (least, most) = (
        all.iter().copied().reduce(f64::min)?,
        all.iter().copied().reduce(f64::max)?,
    );
    let from = if most > least * WIDE { 0.0 } else { least };
    let place = |value: f64| {
        if most > from {
            (value - from) / (most - from)
        } else {
            0.5
        }
    };

    let text = |value_ns: f64| Number::new(value_ns).map(|ns| value(ns, Unit::Ns).text);
    let rows = variants.filter_map(|variant| {
        let median = variant.wall.median?.get();
        Some(SpreadRow {
            name: variant.name.clone(),
            median: (place(median), text(median)?),
            runs: variant
                .wall
                .values
                .iter()
                .flatten()
                .map(|value| place(value.get()))
                .collect(),
        })
    });

    let begin = if from == 0.0 {
        "0".to_owned()
    } else {
        text(from)?
    };
    Some(Spread {
        ends: (begin, text(most)?),
        rows: rows.collect(),
    })
}

/// Returns the section with all runs on one axis; nothing with a single run of each.
pub(super) fn section(bench: &Bench) -> Option<Section> {
    let is_spread = bench.variants.iter().any(|variant| variant.runs.len() > 1);
    let spread = spread(bench).filter(|_| is_spread)?;
    let longest = spread.rows.iter().map(|row| row.name.chars().count());
    let longest = longest.max().unwrap_or(0).min(30);
    let lines = spread.rows.iter().map(|row| {
        let label: String = row.name.chars().take(longest).collect();
        let label = format!("{label:<longest$}  {:>8}", row.median.1);
        (label, line(row))
    });
    let ends = format!(
        "each • is a run, from {} to {}; ┃ is the median",
        spread.ends.0, spread.ends.1
    );
    let drawing = Drawing::Lines(lines.collect(), ends);
    let section = Section::new("runs", "Runs", 2);
    Some(section.with(runs_chart(drawing)))
}

fn line(row: &SpreadRow) -> String {
    let mut line = vec!['·'; LINE];
    let mut put = |place: f64, letter: char| {
        let at = rounded(place.clamp(0.0, 1.0) * (LINE - 1).float());
        let at = usize::try_from(at).ok();
        if let Some(cell) = at.and_then(|at| line.get_mut(at)) {
            *cell = letter;
        }
    };
    for &run in &row.runs {
        put(run, '•');
    }
    put(row.median.0, '┃');
    line.into_iter().collect()
}
