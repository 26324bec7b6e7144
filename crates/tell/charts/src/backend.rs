//! Turns what plotters draws into shapes of a scene.
//!
//! The backends that come with plotters misplace text and smooth edges that should be sharp.

use std::cell::RefCell;
use std::convert::Infallible;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use crate::font;
use crate::palette::Color;
use crate::pixels::{byte, nearest_length, px};
use crate::scene::{Anchor, Primitive, Scene};

/// Drawing target for plotters: a scene, within `size`.
pub(crate) struct SceneBackend<'a> {
    pub(crate) scene: &'a RefCell<Scene>,
    pub(crate) size: (u32, u32),
}

type DrawResult = Result<(), DrawingErrorKind<Infallible>>;

impl SceneBackend<'_> {
    fn add(&self, shape: Primitive) {
        self.scene.borrow_mut().shapes.push(shape);
    }
}

impl DrawingBackend for SceneBackend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> DrawResult {
        Ok(())
    }

    fn present(&mut self) -> DrawResult {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> DrawResult {
        if let Some(fill) = visible(color) {
            self.add(Primitive::Rectangle {
                at: corner(at),
                size: (1.0, 1.0),
                fill,
            });
        }
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> DrawResult {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        let Some(color) = visible(style.color()) else {
            return Ok(());
        };
        let points: Vec<BackendCoord> = path.into_iter().collect();
        let width = px(f64::from(style.stroke_width()));
        // Axes and meshes have vertical and horizontal lines, which are sharp as rectangles.
        for ends in points.windows(2) {
            let &[from, to] = ends else { continue };
            let at = corner((from.0.min(to.0), from.1.min(to.1)));
            let high = corner((from.0.max(to.0), from.1.max(to.1)));
            let size = if from.1 == to.1 {
                (high.0 - at.0, width)
            } else {
                (width, high.1 - at.1)
            };
            self.add(Primitive::Rectangle {
                at,
                size,
                fill: color,
            });
        }
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        at: BackendCoord,
    ) -> DrawResult {
        let Some(fill) = visible(style.color()) else {
            return Ok(());
        };
        let size = size_of(style);
        let anchor = anchor(style.anchor().h_pos);
        let below = baseline_below(style.anchor().v_pos, size);
        let (x, y) = corner(at);

        let text = font::clean(text);
        let canvas = px(f64::from(self.size.0));
        let x = kept_inside(x, font::width(&text, size), anchor, canvas);
        self.add(Primitive::Text {
            at: (x, y + below),
            size,
            anchor,
            fill,
            text,
        });
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = size_of(style);
        let [width, height] = [font::width(text, size), size * 1.2];
        Ok((nearest_length(width.ceil()), nearest_length(height.ceil())))
    }
}

/// Moves a text so that it stays on a canvas of this width.
pub(crate) fn kept_inside(x: f32, width: f32, anchor: Anchor, canvas: f32) -> f32 {
    const MARGIN: f32 = 3.0;
    let before = anchor.share_before() * width;
    let most = canvas - MARGIN - (width - before);
    x.min(most).max(MARGIN + before)
}

const fn anchor(across: HPos) -> Anchor {
    match across {
        HPos::Left => Anchor::Start,
        HPos::Center => Anchor::Middle,
        HPos::Right => Anchor::End,
    }
}

/// Returns the distance from the anchor down to the baseline. Digits are 0.73 em high, so this
/// centers them.
fn baseline_below(up: VPos, size: f32) -> f32 {
    match up {
        VPos::Top => size * 0.85,
        VPos::Center => size * 0.365,
        VPos::Bottom => -size * 0.2,
    }
}

fn size_of<S: BackendTextStyle>(style: &S) -> f32 {
    px(style.size())
}

fn visible(color: BackendColor) -> Option<Color> {
    let (red, green, blue) = color.rgb;
    let alpha = byte((color.alpha * 255.0).round().clamp(0.0, 255.0));
    (alpha > 0).then_some(Color {
        red,
        green,
        blue,
        alpha,
    })
}

fn corner((x, y): BackendCoord) -> (f32, f32) {
    (px(f64::from(x)), px(f64::from(y)))
}
