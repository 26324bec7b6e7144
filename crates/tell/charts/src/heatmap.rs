//! Draws times by two parameters as a table of colored cells. A longer time stands out more.

use crate::canvas::{Area, Canvas, MARGIN};
use crate::font::{self, SMALL};
use crate::options::{ChartError, ChartOptions, check};
use crate::scene::{Anchor, Scene};

/// Least and largest height of a row.
const ROW: (f32, f32) = (28.0, 60.0);
/// Largest share of the width that the names of rows take.
const NAMES: f32 = 0.3;
const GAP: f32 = 2.0;

/// Contents of a heat map.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeatMapView {
    /// Headline of the picture.
    pub headline: String,
    /// Sentences below the headline.
    pub lines: Vec<String>,
    /// Notes that must not be overlooked.
    pub loud: Vec<String>,
    /// Name of the parameter whose values are the rows.
    pub row_name: String,
    /// Name of the parameter whose values are the columns.
    pub column_name: String,
    /// Values of the rows, from top to bottom.
    pub rows: Vec<String>,
    /// Values of the columns, from left to right.
    pub columns: Vec<String>,
    /// Value of each cell, and its text. None if there is none.
    pub cells: Vec<Vec<Option<(f64, String)>>>,
}

impl HeatMapView {
    fn values(&self) -> impl Iterator<Item = f64> {
        let cells = self.cells.iter().flatten().flatten();
        cells.map(|(value, _)| *value)
    }

    fn least(&self) -> Option<f64> {
        self.values().reduce(f64::min)
    }

    fn most(&self) -> Option<f64> {
        self.values().reduce(f64::max)
    }

    /// Returns the strength of a value: 0 for the least and 1 for the most, by their logarithms,
    /// because times of different sizes differ by factors.
    #[must_use]
    pub fn strength(&self, value: f64) -> f64 {
        let (Some(least), Some(most)) = (self.least(), self.most()) else {
            return 0.0;
        };
        if least <= 0.0 || most <= least {
            return 0.0;
        }
        let share = libm::log(value / least) / libm::log(most / least);
        share.clamp(0.0, 1.0)
    }
}

/// Draws times by two parameters.
///
/// # Errors
///
/// If the options leave too little room.
#[expect(clippy::cast_precision_loss, reason = "numbers of rows and columns")]
pub fn draw_heat_map(view: &HeatMapView, options: &ChartOptions) -> Result<Scene, ChartError> {
    check(options)?;
    let canvas = Canvas::new(options, &view.headline);
    let lines: Vec<&str> = view.lines.iter().map(String::as_str).collect();
    let top = canvas.header_lines(&view.headline, &lines, &view.loud) + 8.0;

    let room = canvas.width - 2.0 * MARGIN;
    let widest = view.rows.iter().chain([&view.row_name]);
    let widest = widest.map(|name| font::width(name, SMALL));
    let names = widest.fold(0.0, f32::max).min(room * NAMES).ceil() + 10.0;
    let columns = view.columns.len().max(1) as f32;
    let width = ((room - names) / columns).floor();
    if width < 24.0 {
        let why = format!("{} columns are too many for this width", view.columns.len());
        return Err(ChartError::Layout(why));
    }
    let rows = view.rows.len().max(1) as f32;
    let spare = options
        .height
        .map_or(0.0, |height| height as f32 - top - 44.0 - MARGIN);
    let height = (spare / rows).clamp(ROW.0, ROW.1).floor();

    let palette = &canvas.palette;
    let left = MARGIN + names;
    let middle = left + columns * width / 2.0;
    let title = font::shorten(&view.column_name, SMALL, columns * width);
    let write = |at, anchor, fill, text: &str| canvas.text(at, SMALL, anchor, fill, text);
    write((middle, top + 12.0), Anchor::Middle, palette.faint, &title);
    let heading = top + 30.0;
    let row_title = font::shorten(&view.row_name, SMALL, names - 10.0);
    write((MARGIN, heading), Anchor::Start, palette.faint, &row_title);
    let headings = font::shorten_all(
        &view.columns.iter().map(String::as_str).collect::<Vec<_>>(),
        SMALL,
        width - 4.0,
    );
    for (at, text) in headings.iter().enumerate() {
        let x = left + (at as f32 + 0.5) * width;
        write((x, heading), Anchor::Middle, palette.text, text);
    }

    let first = heading + 8.0;
    let row_names = font::shorten_all(
        &view.rows.iter().map(String::as_str).collect::<Vec<_>>(),
        SMALL,
        names - 10.0,
    );
    for (at, (text, cells)) in row_names.iter().zip(&view.cells).enumerate() {
        let place = Area {
            left,
            top: first + at as f32 * height,
            width,
            height,
        };
        let baseline = (place.top + height / 2.0 + 4.0).round();
        write((MARGIN, baseline), Anchor::Start, palette.text, text);
        for (column, cell) in cells.iter().enumerate() {
            let place = Area {
                left: left + column as f32 * width,
                ..place
            };
            draw_cell(&canvas, view, place, cell.as_ref());
        }
    }
    canvas.finish(first + rows * height + MARGIN, options)
}

/// Draws a cell; the least of all has a frame.
fn draw_cell(canvas: &Canvas, view: &HeatMapView, place: Area, cell: Option<&(f64, String)>) {
    let palette = &canvas.palette;
    let inner = |by: f32| Area {
        left: place.left + by,
        top: place.top + by,
        width: place.width - 2.0 * by,
        height: place.height - 2.0 * by,
    };
    let at = (
        place.left + place.width / 2.0,
        (place.top + place.height / 2.0 + 4.0).round(),
    );
    let Some((value, text)) = cell else {
        canvas.rectangle(inner(GAP / 2.0), palette.panel);
        canvas.text(at, SMALL, Anchor::Middle, palette.faint, "–");
        return;
    };

    let fill = palette.state(view.strength(*value));
    if view.least() == Some(*value) {
        canvas.rectangle(inner(GAP / 2.0), palette.mark);
        canvas.rectangle(inner(GAP / 2.0 + 2.0), fill);
    } else {
        canvas.rectangle(inner(GAP / 2.0), fill);
    }
    let text = font::shorten(text, SMALL, place.width - 8.0);
    canvas.text(at, SMALL, Anchor::Middle, fill.ink_on_it(), &text);
}

/// Describes the picture in words, for people who cannot see it.
#[must_use]
pub fn alt_heat_map(view: &HeatMapView) -> String {
    let place = |wanted: Option<f64>| {
        let wanted = wanted?;
        let rows = view.rows.iter().zip(&view.cells);
        let mut cells = rows.flat_map(|(row, cells)| {
            let columns = view.columns.iter().zip(cells);
            columns.filter_map(move |(column, cell)| Some((row, column, cell.as_ref()?)))
        });
        let (row, column, (_, text)) = cells.find(|(_, _, (value, _))| *value == wanted)?;
        Some(format!(
            "{text} with {} {row} and {} {column}",
            view.row_name, view.column_name
        ))
    };
    let ends = place(view.least()).zip(place(view.most()));
    let ends = ends.map_or_else(String::new, |(least, most)| {
        format!(" From {least} to {most}.")
    });
    let sentences = view.lines.iter().chain(&view.loud);
    let sentences: String = sentences.map(|text| format!(" {text}.")).collect();
    font::clean(&format!("Heat map: {}.{ends}{sentences}", view.headline))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Primitive;

    fn view() -> HeatMapView {
        let cell = |ms: f64| Some((ms * 1e6, format!("{ms} ms")));
        HeatMapView {
            headline: "Wall time by mode and size".to_owned(),
            lines: vec!["fused 1 is the fastest of 6".to_owned()],
            loud: vec!["SYNTHETIC".to_owned()],
            row_name: "mode".to_owned(),
            column_name: "size".to_owned(),
            rows: ["eager", "fused"].map(str::to_owned).to_vec(),
            columns: ["1", "4", "16"].map(str::to_owned).to_vec(),
            cells: vec![
                vec![cell(8.0), cell(16.0), cell(32.0)],
                vec![cell(2.0), cell(4.0), None],
            ],
        }
    }

    #[test]
    fn heat_map_layout() {
        insta::assert_snapshot!(draw_heat_map(&view(), &ChartOptions::default()).unwrap());
        assert_eq!(
            alt_heat_map(&view()),
            "Heat map: Wall time by mode and size. From 2 ms with mode fused and size 1 to 32 ms \
             with mode eager and size 16. fused 1 is the fastest of 6. SYNTHETIC."
        );
    }

    /// A factor of four of sixteen is half of the way.
    #[test]
    fn strengths_follow_factors() {
        let view = view();
        let check = |ms: f64, expected: f64| {
            let found = view.strength(ms * 1e6);
            assert!((found - expected).abs() < 1e-9, "{ms}: {found}");
        };
        check(2.0, 0.0);
        check(8.0, 0.5);
        check(32.0, 1.0);
        assert_eq!(HeatMapView::default().strength(1.0), 0.0);
    }

    #[test]
    fn nothing_leaves_the_canvas() {
        for (width, height) in [(400, None), (830, None), (830, Some(600))] {
            let options = ChartOptions {
                width,
                height,
                ..ChartOptions::default()
            };
            let mut view = view();
            view.rows[0] = "a long name ".repeat(20);
            view.columns[0] = "a long name ".repeat(20);
            let scene = draw_heat_map(&view, &options).unwrap();
            for shape in &scene.shapes {
                if let Primitive::Rectangle { at, size, .. } = shape {
                    assert!(at.0 >= 0.0 && at.0 + size.0 <= width as f32, "{shape:?}");
                    assert!(at.1 + size.1 <= scene.height as f32, "{shape:?}");
                }
            }
        }
        let many = HeatMapView {
            columns: vec!["x".to_owned(); 60],
            ..view()
        };
        assert!(draw_heat_map(&many, &ChartOptions::default()).is_err());
    }
}
