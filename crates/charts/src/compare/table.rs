//! The figures of both, and what became of them. What sums up is drawn to scale.

use metalens_analyzer::Report;
use metalens_analyzer::units::{count, percent, short_time, time};

use super::words::{causes, change_of_time, relative, signed};
use crate::canvas::{Canvas, MARGIN, Place};
use crate::font::{self, SMALL};
use crate::palette::Colour;
use crate::scene::Anchor;

const ROW: f32 = 18.0;
/// Between the rows that sum up and the others.
const SPACE: f32 = 6.0;
/// Narrower than this there is no room for bars.
const BARS_FROM: f32 = 700.0;

/// A line of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    /// What it is.
    pub(crate) name: String,
    /// Its colour in the bars above, if it has one.
    colour: Option<Colour>,
    /// How far it is set in.
    depth: u8,
    /// Base, new, difference, ratio.
    pub(crate) cells: [String; 4],
    /// What is drawn to scale: both in ns.
    pub(crate) scale: Option<(u64, u64)>,
}

impl Row {
    fn of_time(name: &str, before: u64, now: u64, say: fn(u64) -> String) -> Self {
        Self {
            scale: Some((before, now)),
            ..Self::of(name, Some(before), Some(now), say, "")
        }
    }

    /// Makes a row of two values; a side without one shows the word `absent`.
    fn of(
        name: &str,
        before: Option<u64>,
        now: Option<u64>,
        say: fn(u64) -> String,
        absent: &str,
    ) -> Self {
        let said = |value: Option<u64>| value.map_or_else(|| absent.to_owned(), say);
        let (change, ratio) = match (before, now) {
            (Some(before), Some(now)) => (signed(before, now, say), relative(before, now)),
            _ => ("–".to_owned(), "–".to_owned()),
        };
        Self {
            name: name.to_owned(),
            colour: None,
            depth: 0,
            cells: [said(before), said(now), change, ratio],
            scale: None,
        }
    }

    /// A share: its change is in points, not in percent of percent.
    fn of_share(name: &str, before: Option<f64>, now: Option<f64>) -> Self {
        let said = |value: Option<f64>| value.map_or_else(|| "unknown".to_owned(), percent);
        let change = match (before, now) {
            (Some(before), Some(now)) => points(now - before),
            _ => "–".to_owned(),
        };
        Self {
            name: name.to_owned(),
            colour: None,
            depth: 0,
            cells: [said(before), said(now), change, String::new()],
            scale: None,
        }
    }

    fn coloured(self, colour: Colour, depth: u8) -> Self {
        Self {
            colour: Some(colour),
            depth,
            ..self
        }
    }
}

/// `+3.4 pts`.
fn points(change: f64) -> String {
    let size = change.abs() * 100.0;
    match size {
        _ if size == 0.0 => "±0".to_owned(),
        _ if size < 0.05 => format!("{}<0.1 pts", if change < 0.0 { '−' } else { '+' }),
        _ => format!("{}{size:.1} pts", if change < 0.0 { '−' } else { '+' }),
    }
}

/// The rows that sum up, and the others.
pub(crate) fn rows(canvas: &Canvas, base: &Report, new: &Report) -> (Vec<Row>, Vec<Row>) {
    let palette = &canvas.palette;
    let say = if is_wide(canvas) { time } else { short_time };
    let sum = |name: &str, before: u64, now: u64| Row::of_time(name, before, now, say);
    let mut sums = vec![
        sum(
            "first to last GPU work",
            base.window.span_ns,
            new.window.span_ns,
        ),
        sum("GPU busy", base.busy.busy_ns, new.busy.busy_ns).coloured(palette.target, 1),
        Row {
            depth: 1,
            ..sum("GPU idle", base.gaps.total_ns, new.gaps.total_ns)
        },
    ];
    sums.extend(causes(base, new).map(|(cause, before, now)| {
        let name = cause.label();
        let row = match (before, now) {
            (Some(before), Some(now)) => sum(name, before, now),
            _ => Row::of(name, before, now, say, "unknown"),
        };
        row.coloured(palette.cause(cause), 2)
    }));
    let row = |name: &str, say: fn(u64) -> String, of: fn(&Report) -> Option<u64>| {
        Row::of(name, of(base), of(new), say, "unknown")
    };
    let gap = |report: &Report| report.gaps.median_ns;
    let others = vec![
        Row::of_share("busy share", base.busy.ratio, new.busy.ratio),
        row("gaps", count, |report| Some(report.gaps.count)),
        Row::of("median gap", gap(base), gap(new), say, "none"),
        row("GPU intervals", count, |report| {
            Some(report.counts.intervals)
        }),
        row("command buffers", count, |report| {
            report.counts.known_command_buffers()
        }),
        row("kernel names", count, |report| Some(report.counts.kernels)),
        row("kernels' times, summed", say, |report| {
            Some(report.busy.sum_ns)
        }),
    ];
    (sums, others)
}

/// How high the table is.
#[expect(clippy::cast_precision_loss, reason = "a few rows")]
pub(crate) fn height(sums: &[Row], others: &[Row]) -> f32 {
    (sums.len() + others.len() + 1) as f32 * ROW + SPACE
}

/// Draws it from `top` down.
pub(crate) fn draw(canvas: &Canvas, top: f32, sums: &[Row], others: &[Row]) {
    let columns = Columns::of(canvas);
    columns.heads(canvas, top);
    let mut line = top + ROW;
    columns.rule(canvas, line - 2.0);
    let bars = columns.bars(sums);
    for row in sums {
        columns.row(canvas, line, row);
        if let (Some(bars), Some((before, now))) = (&bars, row.scale) {
            bars.draw(canvas, line, row.colour, (before, now));
        }
        line += ROW;
    }
    if let Some(bars) = &bars {
        let zero = Place {
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

/// Where the columns end; the last is for bars.
struct Columns {
    name: f32,
    width: f32,
    bars: Option<(f32, f32)>,
    right: f32,
}

impl Columns {
    fn of(canvas: &Canvas) -> Self {
        let inner = canvas.width - 2.0 * MARGIN;
        let right = canvas.width - MARGIN;
        match is_wide(canvas) {
            true => {
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
            false => {
                let width = (inner * 0.165).min(84.0).floor();
                Self {
                    name: inner - 4.0 * width,
                    width,
                    bars: None,
                    right,
                }
            }
        }
    }

    fn cell(&self, canvas: &Canvas, at: u8, baseline: f32, text: &str, ink: Colour) {
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
        let rule = Place {
            left: MARGIN,
            top,
            width: self.right - MARGIN,
            height: 1.0,
        };
        canvas.rectangle(rule, canvas.palette.grid);
    }

    fn row(&self, canvas: &Canvas, top: f32, row: &Row) {
        let palette = &canvas.palette;
        let baseline = top + 13.0;
        let step = if is_wide(canvas) { 12.0 } else { 5.0 };
        let mut left = MARGIN + step * f32::from(row.depth);
        if let Some(colour) = row.colour {
            let square = Place {
                left,
                top: top + 4.0,
                width: 10.0,
                height: 10.0,
            };
            canvas.rectangle(square, colour);
            left = square.right() + 6.0;
        }
        let name = font::shorten(&row.name, SMALL, MARGIN + self.name - left);
        canvas.text((left, baseline), SMALL, Anchor::Start, palette.text, &name);
        let filled = (0..).zip(&row.cells).filter(|(_, text)| !text.is_empty());
        for (at, text) in filled {
            self.cell(canvas, at, baseline, text, palette.text);
        }
    }

    /// Room for the most that anything shrank, and for the most that it grew.
    fn bars(&self, sums: &[Row]) -> Option<Bars> {
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

/// Changes to scale, on both sides of nothing.
struct Bars {
    zero: f32,
    width: f32,
    all: u64,
}

impl Bars {
    #[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
    fn draw(&self, canvas: &Canvas, top: f32, fill: Option<Colour>, (before, now): (u64, u64)) {
        let length = self.width * crate::canvas::ratio(before.abs_diff(now), self.all) as f32;
        let length = (length / canvas.pixel).round() * canvas.pixel;
        let left = match now < before {
            true => self.zero - length,
            false => self.zero + 1.0,
        };
        let bar = Place {
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

/// One line for those who do not see the table.
pub(crate) fn in_words(base: &Report, new: &Report) -> String {
    let share = |report: &Report| {
        report
            .busy
            .ratio
            .map_or_else(|| "unknown".to_owned(), percent)
    };
    let gap = |report: &Report| {
        report
            .gaps
            .median_ns
            .map_or_else(|| "none".to_owned(), time)
    };
    format!(
        "Busy share {} (was {}), {} gaps (was {}), median gap {} (was {}), summed kernel times {}",
        share(new),
        share(base),
        count(new.gaps.count),
        count(base.gaps.count),
        gap(new),
        gap(base),
        change_of_time(base.busy.sum_ns, new.busy.sum_ns),
    )
}
