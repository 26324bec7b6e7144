//! Defines a picture as plain shapes in pixels, in the order in which they are painted.

use crate::palette::Color;

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

/// Formats a number with the fewest digits that are exact to a thousandth of a pixel.
pub(crate) fn number(value: f32) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}
