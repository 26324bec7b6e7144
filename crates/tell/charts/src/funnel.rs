//! Draws the frame around the enlarged part of the overview, and a funnel from there to its panel.

use crate::canvas::{Area, Canvas};
use crate::coverage::Grid;
use crate::palette::Color;
use crate::scene::Primitive;

/// Smallest inner width of a frame; a narrower one would be invisible.
const MIN_WIDTH: f32 = 3.0;

/// Draws frame and funnel. `lanes` is the area of the overview, `below` the top of the panel.
pub(crate) fn draw(canvas: &Canvas, window: &Grid, span: (u64, u64), lanes: Area, below: f32) {
    let x = |time: u64| window.x(time, lanes).round();
    let (mut left, mut right) = (x(span.0), x(span.1));
    if right - left < MIN_WIDTH {
        left = (left - 1.0).clamp(lanes.left, lanes.right() - MIN_WIDTH);
        right = left + MIN_WIDTH;
    }

    let mark = canvas.palette.mark;
    let faint = Color { alpha: 26, ..mark };
    let bottom = lanes.bottom();
    canvas.add(Primitive::Polygon {
        points: vec![
            (left, bottom),
            (right, bottom),
            (lanes.right(), below),
            (lanes.left, below),
        ],
        fill: faint,
    });

    let top = lanes.top - 3.0;
    let frame = |left: f32, top: f32, width: f32, height: f32| {
        let place = Area {
            left,
            top,
            width,
            height,
        };
        canvas.rectangle(place, mark);
    };
    frame(left - 1.0, top, 1.0, bottom - top);
    frame(right, top, 1.0, bottom - top);
    frame(left - 1.0, top, right - left + 2.0, 2.0);
}
