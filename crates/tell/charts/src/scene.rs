//! Defines a picture as plain shapes in pixels, in the order in which they are painted.

use std::fmt;

use crate::palette::Color;
use crate::pixels::{times, whole_count};

/// A picture, before it is encoded as PNG or SVG.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Number of device pixels per pixel.
    pub(crate) scale: u8,
    pub(crate) background: Color,
    pub(crate) shapes: Vec<Primitive>,
    pub(crate) title: String,
}

/// A shape of a picture. Lengths are in pixels at scale 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Primitive {
    Rectangle {
        at: (f32, f32),
        size: (f32, f32),
        fill: Color,
    },
    /// Columns of one width, side by side. Column i reaches from the first value of `spans[i]` down
    /// to the second.
    Bars {
        left: f32,
        step: f32,
        spans: Vec<(f32, f32)>,
        fill: Color,
    },
    Text {
        /// Horizontal anchor position, and baseline.
        at: (f32, f32),
        size: f32,
        anchor: Anchor,
        fill: Color,
        text: String,
    },
}

/// Part of a text that is at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    /// Returns the name in SVG.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }

    /// Returns the share of the width that lies left of the position.
    pub(crate) const fn share_before(self) -> f32 {
        match self {
            Self::Start => 0.0,
            Self::Middle => 0.5,
            Self::End => 1.0,
        }
    }
}

impl Scene {
    /// Returns width and height in device pixels.
    pub fn device_size(&self) -> (u32, u32) {
        let scale = u32::from(self.scale);
        (self.width * scale, self.height * scale)
    }
}

/// Lists the shapes, one per line, for tests.
impl fmt::Display for Scene {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, height, .. } = self;
        writeln!(out, "{width}x{height} on {}", self.background.hex())?;
        self.shapes.iter().try_for_each(|shape| match shape {
            Primitive::Rectangle { at, size, fill } => writeln!(
                out,
                "rectangle {} {}x{} {}",
                place(*at),
                number(size.0),
                number(size.1),
                fill.hex()
            ),
            Primitive::Bars {
                left,
                step,
                spans,
                fill,
            } => writeln!(
                out,
                "bars from {} step {} {} {}",
                number(*left),
                number(*step),
                fill.hex(),
                spark(spans)
            ),
            Primitive::Text {
                at,
                size,
                anchor,
                fill,
                text,
            } => writeln!(
                out,
                "text {} {} {} {} {text}",
                place(*at),
                number(*size),
                anchor.name(),
                fill.hex()
            ),
        })
    }
}

/// Formats a number with the fewest digits that are exact to a thousandth of a pixel.
pub(crate) fn number(value: f32) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

fn place((x, y): (f32, f32)) -> String {
    format!("{},{}", number(x), number(y))
}

/// Formats bars as a line of characters, each the mean of some neighbors.
fn spark(spans: &[(f32, f32)]) -> String {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let low = spans.iter().map(|span| span.1).fold(0.0, f32::max);
    let high = spans.iter().map(|span| span.0).fold(low, f32::min);
    let chunk = spans.len().div_ceil(80).max(1);
    let level = |some: &[(f32, f32)]| {
        let sum: f32 = some.iter().map(|span| span.1 - span.0).sum();
        let mean = sum / times(some.len());
        let share = if low > high { mean / (low - high) } else { 0.0 };
        let level = whole_count((share * 8.0).ceil().clamp(0.0, 8.0));
        LEVELS.get(level).copied().unwrap_or(' ')
    };
    let text: String = spans.chunks(chunk).map(level).collect();
    format!("{}..{} |{text}|", number(high), number(low))
}
