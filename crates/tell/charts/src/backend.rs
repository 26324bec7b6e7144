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
        #[expect(clippy::cast_precision_loss, reason = "a line's width")]
        let width = style.stroke_width() as f32;
        match points.as_slice() {
            // A vertical or horizontal line is drawn as a sharp rectangle.
            &[from, to] if from.0 == to.0 || from.1 == to.1 => {
                let low = corner((from.0.min(to.0), from.1.min(to.1)));
                let high = corner((from.0.max(to.0), from.1.max(to.1)));
                self.add(Primitive::Rectangle {
                    at: low,
                    size: if from.1 == to.1 {
                        (high.0 - low.0, width)
                    } else {
                        (width, high.1 - low.1)
                    },
                    fill: color,
                });
            }
            points => self.add(Primitive::Line {
                points: points.iter().map(|&at| middle(at)).collect(),
                width,
                stroke: color,
            }),
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
        let x = kept_inside(x, font::width(&text, size), anchor, self.size.0);
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
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a text's width and height in pixels"
        )]
        let whole = |length: f32| length.ceil() as u32;
        Ok((whole(font::width(text, size)), whole(size * 1.2)))
    }
}

/// Moves a text so that it stays on a canvas of this width.
pub(crate) fn kept_inside(x: f32, width: f32, anchor: Anchor, canvas: u32) -> f32 {
    const MARGIN: f32 = 3.0;
    let before = anchor.share_before() * width;
    #[expect(clippy::cast_precision_loss, reason = "a canvas's width")]
    let most = canvas as f32 - MARGIN - (width - before);
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

#[expect(clippy::cast_possible_truncation, reason = "a text's size")]
fn size_of<S: BackendTextStyle>(style: &S) -> f32 {
    style.size() as f32
}

fn visible(color: BackendColor) -> Option<Color> {
    let (red, green, blue) = color.rgb;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 255"
    )]
    let alpha = (color.alpha * 255.0).round().clamp(0.0, 255.0) as u8;
    (alpha > 0).then_some(Color {
        red,
        green,
        blue,
        alpha,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a place on a canvas")]
const fn corner((x, y): BackendCoord) -> (f32, f32) {
    (x as f32, y as f32)
}

fn middle(at: BackendCoord) -> (f32, f32) {
    let (x, y) = corner(at);
    (x + 0.5, y + 0.5)
}
