//! Which part of the overview is enlarged: a frame around it, and a funnel from
//! there to its panel.

use crate::canvas::{Canvas, Place};
use crate::coverage::Grid;
use crate::palette::Colour;
use crate::scene::Shape;

/// A frame is at least this wide inside, or nobody would see it.
const LEAST: f32 = 3.0;

/// Draws both: `lanes` are the overview's, `below` is where the panel begins.
pub(crate) fn draw(canvas: &Canvas, window: &Grid, span: (u64, u64), lanes: Place, below: f32) {
    let x = |time: u64| window.x(time, lanes).round();
    let (mut left, mut right) = (x(span.0), x(span.1));
    if right - left < LEAST {
        left = (left - 1.0).clamp(lanes.left, lanes.right() - LEAST);
        right = left + LEAST;
    }
    let mark = canvas.palette.mark;
    let faint = Colour { alpha: 26, ..mark };
    let bottom = lanes.bottom();
    canvas.add(Shape::Polygon {
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
        let place = Place {
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
