//! Draws a table of the figures of two recordings and their changes. Figures that sum up are drawn
//! to scale.

use metalens_analyzer::Cause;
use metalens_analyzer::units::{count, percent, short_time, time};
use metalens_comparison::{ChangeClass, Comparison, Number};

use super::sentences::{relative, signed};
use crate::canvas::{Area, Canvas, MARGIN};
use crate::font::{self, SMALL};
use crate::palette::Color;
use crate::scene::Anchor;

const ROW: f32 = 18.0;
/// Space between the figures that sum up and the others.
const SPACE: f32 = 6.0;
/// Smallest width with room for bars.
const BARS_FROM: f32 = 700.0;

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FigureRow {
    /// Name of the figure.
    pub(crate) name: String,
    /// Color of the figure in the bars above, if it has one.
    color: Option<Color>,
    /// Indentation level of the name.
    depth: u8,
    /// Cells: base, new, difference, ratio.
    pub(crate) cells: [String; 4],
    /// Values in nanoseconds of base and new, to draw to scale.
    pub(crate) scale: Option<(u64, u64)>,
}

impl FigureRow {
    fn of_time(name: &str, before: u64, now: u64, format: fn(u64) -> String) -> Self {
        Self {
            scale: Some((before, now)),
            ..Self::of_values(name, Some(before), Some(now), format, "")
        }
    }

    /// Makes a row of two values. A side without a value shows the word `absent`.
    fn of_values(
        name: &str,
        before: Option<u64>,
        now: Option<u64>,
        format: fn(u64) -> String,
        absent: &str,
    ) -> Self {
        let cell = |value: Option<u64>| value.map_or_else(|| absent.to_owned(), format);
        let (change, ratio) = match (before, now) {
            (Some(before), Some(now)) => (signed(before, now, format), relative(before, now)),
            _ => ("–".to_owned(), "–".to_owned()),
        };
        Self {
            name: name.to_owned(),
            color: None,
            depth: 0,
            cells: [cell(before), cell(now), change, ratio],
            scale: None,
        }
    }

    /// Makes a row of a share. Its change is in percentage points, not in percent of percent.
    fn of_share(name: &str, before: Option<f64>, now: Option<f64>) -> Self {
        let cell = |value: Option<f64>| value.map_or_else(|| "not recorded".to_owned(), percent);
        let change = match (before, now) {
            (Some(before), Some(now)) => points(now - before),
            _ => "–".to_owned(),
        };
        Self {
            name: name.to_owned(),
            color: None,
            depth: 0,
            cells: [cell(before), cell(now), change, String::new()],
            scale: None,
        }
    }

    fn colored(self, color: Color, depth: u8) -> Self {
        Self {
            color: Some(color),
            depth,
            ..self
        }
    }
}

/// Formats a change of a share, such as `+3.4 pts`.
fn points(change: f64) -> String {
    let size = change.abs() * 100.0;
    match size {
        _ if size == 0.0 => "±0".to_owned(),
        _ if size < 0.05 => format!("{}<0.1 pts", if change < 0.0 { '−' } else { '+' }),
        _ => format!("{}{size:.1} pts", if change < 0.0 { '−' } else { '+' }),
    }
}

/// Returns the value of a figure on both sides, as the tables of the comparison show it.
fn both(comparison: &Comparison, id: &str) -> (Option<f64>, Option<f64>) {
    let mut metrics = comparison.metrics.iter();
    let change = metrics.find(|metric| metric.id == id);
    let change = change.map(|metric| &metric.change);
    let value = |value: Option<Number>| value.map(Number::get);
    (
        change.and_then(|change| value(change.base_value())),
        change.and_then(|change| value(change.new_value())),
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, not negative, and `as` saturates"
)]
fn whole(value: Option<f64>) -> Option<u64> {
    value.map(|value| value.max(0.0).round() as u64)
}

fn whole_both(comparison: &Comparison, id: &str) -> (Option<u64>, Option<u64>) {
    let (base, new) = both(comparison, id);
    (whole(base), whole(new))
}

/// Returns the rows of the figures that sum up in each run, and the others.
pub(crate) fn rows(canvas: &Canvas, comparison: &Comparison) -> (Vec<FigureRow>, Vec<FigureRow>) {
    let palette = &canvas.palette;
    let format = if is_wide(canvas) { time } else { short_time };
    let sum = |name: &str, id: &str| match whole_both(comparison, id) {
        (Some(before), Some(now)) => FigureRow::of_time(name, before, now, format),
        (before, now) => FigureRow::of_values(name, before, now, format, "not recorded"),
    };
    let mut sums = vec![
        sum("first to last GPU work", "window.span_ns"),
        sum("GPU busy", "busy.busy_ns").colored(palette.process, 1),
        FigureRow {
            depth: 1,
            ..sum("GPU idle", "gaps.total_ns")
        },
    ];
    let causes = Cause::ALL.into_iter().filter_map(|cause| {
        let id = format!("idle.{}_ns", cause.name());
        let (before, now) = whole_both(comparison, &id);
        let is_nothing = before.unwrap_or(0) == 0 && now.unwrap_or(0) == 0;
        (!is_nothing).then(|| sum(cause.label(), &id).colored(palette.cause(cause), 2))
    });
    sums.extend(causes);

    let row = |name: &str, format: fn(u64) -> String, id: &str, absent: &str| {
        let (before, now) = whole_both(comparison, id);
        FigureRow::of_values(name, before, now, format, absent)
    };
    let (before, now) = both(comparison, "busy.ratio");
    let others = vec![
        row("GPU intervals", count, "counts.intervals", "not recorded"),
        row(
            "command buffers",
            count,
            "counts.command_buffers",
            "not recorded",
        ),
        row("kernel names", count, "counts.kernels", "not recorded"),
        FigureRow::of_share("busy share", before, now),
        row("gaps", count, "gaps.count", "not recorded"),
        row("median gap", format, "gaps.median_ns", "none"),
        row("kernel time, summed", format, "busy.sum_ns", "not recorded"),
    ];
    let kernels = changed_kernels(comparison).map(|(name, before, now)| FigureRow {
        depth: 1,
        ..FigureRow::of_values(&name, before, now, format, "none")
    });
    let others = others.into_iter().chain(kernels).collect();
    (sums, others)
}

/// Largest number of kernels in a picture.
const KERNELS: usize = 5;

/// Returns the kernels that changed most, each with a time of both sides: of all its intervals, or
/// the median if it ran more or less often.
fn changed_kernels(
    comparison: &Comparison,
) -> impl Iterator<Item = (String, Option<u64>, Option<u64>)> {
    let changed = comparison.kernels.iter().filter_map(|kernel| {
        let is_in_both = !matches!(kernel.class, ChangeClass::Added | ChangeClass::Removed);
        let (name, change) = if is_in_both && kernel.ran_differently_often() {
            (format!("{}, median", kernel.name), &kernel.med_ns)
        } else {
            (kernel.name.clone(), &kernel.total_ns)
        };
        let is_same = matches!(change.class, ChangeClass::Unchanged | ChangeClass::Unstable);
        let value = |value: Option<Number>| whole(value.map(Number::get));
        (!is_same).then(|| (name, value(change.base_value()), value(change.new_value())))
    });
    changed.take(KERNELS)
}

/// Returns the height of the table.
#[expect(clippy::cast_precision_loss, reason = "a few rows")]
pub(crate) fn height(sums: &[FigureRow], others: &[FigureRow]) -> f32 {
    (sums.len() + others.len() + 1) as f32 * ROW + SPACE
}

/// Draws the table from `top` down.
pub(crate) fn draw(canvas: &Canvas, top: f32, sums: &[FigureRow], others: &[FigureRow]) {
    let columns = TableColumns::for_canvas(canvas);
    columns.heads(canvas, top);

    let mut line = top + ROW;
    columns.rule(canvas, line - 2.0);
    let bars = columns.bars(sums);
    for row in sums {
        columns.row(canvas, line, row);
        if let (Some(bars), Some((before, now))) = (&bars, row.scale) {
            bars.draw(canvas, line, row.color, (before, now));
        }
        line += ROW;
    }

    if let Some(bars) = &bars {
        let zero = Area {
            left: bars.zero,
            top: top + ROW + 1.0,
            width: 1.0,
            height: line - top - ROW - 2.0,
        };
        canvas.rectangle(zero, canvas.palette.axis);
    }

    columns.rule(canvas, line + SPACE / 2.0 - 1.0);
    line += SPACE;
    for row in others {
        columns.row(canvas, line, row);
        line += ROW;
    }
}

fn is_wide(canvas: &Canvas) -> bool {
    canvas.width >= BARS_FROM
}

/// Positions of the columns; the last one holds bars.
struct TableColumns {
    name: f32,
    width: f32,
    bars: Option<(f32, f32)>,
    right: f32,
}

impl TableColumns {
    fn for_canvas(canvas: &Canvas) -> Self {
        let inner = canvas.width - 2.0 * MARGIN;
        let right = canvas.width - MARGIN;
        if !is_wide(canvas) {
            let width = (inner * 0.165).min(84.0).floor();
            return Self {
                name: inner - 4.0 * width,
                width,
                bars: None,
                right,
            };
        }

        let name = (inner * 0.25).min(230.0).round();
        let width = 84.0;
        let left = MARGIN + name + 4.0 * width + 20.0;
        Self {
            name,
            width,
            bars: Some((left, right)),
            right,
        }
    }

    fn cell(&self, canvas: &Canvas, at: u8, baseline: f32, text: &str, ink: Color) {
        let x = MARGIN + self.name + self.width * f32::from(at + 1);
        let text = font::shorten(text, SMALL, self.width - 4.0);
        canvas.text((x, baseline), SMALL, Anchor::End, ink, &text);
    }

    fn heads(&self, canvas: &Canvas, top: f32) {
        let (baseline, ink) = (top + 10.0, canvas.palette.faint);
        for (at, text) in (0..).zip(["base", "new", "change", "relative"]) {
            self.cell(canvas, at, baseline, text, ink);
        }
        if let Some((left, right)) = self.bars {
            let text = font::shorten("change, drawn to scale", SMALL, right - left);
            canvas.text((left, baseline), SMALL, Anchor::Start, ink, &text);
        }
    }

    fn rule(&self, canvas: &Canvas, top: f32) {
        let rule = Area {
            left: MARGIN,
            top,
            width: self.right - MARGIN,
            height: 1.0,
        };
        canvas.rectangle(rule, canvas.palette.grid);
    }

    fn row(&self, canvas: &Canvas, top: f32, row: &FigureRow) {
        let palette = &canvas.palette;
        let baseline = top + 13.0;
        let step = if is_wide(canvas) { 12.0 } else { 5.0 };
        let mut left = MARGIN + step * f32::from(row.depth);

        if let Some(color) = row.color {
            let square = Area {
                left,
                top: top + 4.0,
                width: 10.0,
                height: 10.0,
            };
            canvas.rectangle(square, color);
            left = square.right() + 6.0;
        }

        let name = font::shorten(&row.name, SMALL, MARGIN + self.name - left);
        canvas.text((left, baseline), SMALL, Anchor::Start, palette.text, &name);

        let filled = (0..).zip(&row.cells).filter(|(_, text)| !text.is_empty());
        for (at, text) in filled {
            self.cell(canvas, at, baseline, text, palette.text);
        }
    }

    /// Returns the scale of the bars, with room for the largest decrease and the largest increase.
    fn bars(&self, sums: &[FigureRow]) -> Option<Bars> {
        let (left, right) = self.bars?;
        let changes = || sums.iter().filter_map(|row| row.scale);
        let less = changes()
            .map(|(before, now)| before.saturating_sub(now))
            .max()?;
        let more = changes()
            .map(|(before, now)| now.saturating_sub(before))
            .max()?;
        let all = less.checked_add(more)?;
        let share = crate::canvas::ratio(less, all);
        #[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
        let zero = (left + (right - left - 1.0) * share as f32).round();
        Some(Bars {
            zero,
            width: right - left - 1.0,
            all,
        })
    }
}

/// Changes drawn to scale, on both sides of zero.
struct Bars {
    zero: f32,
    width: f32,
    all: u64,
}

impl Bars {
    #[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
    fn draw(&self, canvas: &Canvas, top: f32, fill: Option<Color>, (before, now): (u64, u64)) {
        let length = self.width * crate::canvas::ratio(before.abs_diff(now), self.all) as f32;
        let length = (length / canvas.pixel).round() * canvas.pixel;
        let left = if now < before {
            self.zero - length
        } else {
            self.zero + 1.0
        };
        let bar = Area {
            left,
            top: top + 4.0,
            width: length,
            height: 10.0,
        };
        if length > 0.0 {
            canvas.rectangle(bar, fill.unwrap_or(canvas.palette.faint));
        }
    }
}

/// Describes the table in one line, for people who cannot see it.
pub(crate) fn in_words(comparison: &Comparison) -> String {
    let figure = |id: &str, format: fn(u64) -> String, absent: &str| {
        let (before, now) = whole_both(comparison, id);
        let shown = |value: Option<u64>| value.map_or_else(|| absent.to_owned(), format);
        format!("{} → {}", shown(before), shown(now))
    };
    let (before, now) = both(comparison, "busy.ratio");
    let share = |value: Option<f64>| value.map_or_else(|| "not recorded".to_owned(), percent);
    let kernels = changed_kernels(comparison).map(|(name, before, now)| {
        let shown = |value: Option<u64>| value.map_or_else(|| "none".to_owned(), time);
        format!(", {name} {} → {}", shown(before), shown(now))
    });
    let kernels: String = kernels.collect();
    format!(
        "Busy share {} → {}, gaps {}, median gap {}, kernel time {}{kernels}",
        share(before),
        share(now),
        figure("gaps.count", count, "not recorded"),
        figure("gaps.median_ns", time, "none"),
        figure("busy.sum_ns", time, "not recorded"),
    )
}
