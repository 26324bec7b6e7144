//! A scene as PNG.

use std::collections::HashMap;

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, Rect, Stroke, Transform,
};

use crate::font;
use crate::options::Error;
use crate::palette::Colour;
use crate::scene::{Scene, Shape};

/// The picture as PNG: opaque, one byte per pixel where 256 colours will do, else
/// three, and with its density where that is not 1.
///
/// # Errors
///
/// If the picture is too large to be held.
pub fn png(scene: &Scene) -> Result<Vec<u8>, Error> {
    let canvas = painted(scene)?;
    let (width, height) = (canvas.width(), canvas.height());
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    let pixels = match indexed(&canvas) {
        Some((colours, pixels)) => {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_palette(colours);
            pixels
        }
        None => {
            encoder.set_color(png::ColorType::Rgb);
            let colours = canvas.data().chunks_exact(4);
            colours
                .flat_map(|pixel| pixel.iter().take(3))
                .copied()
                .collect()
        }
    };
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    // Flat colours: what other filters gain elsewhere they lose here.
    encoder.set_filter(png::Filter::NoFilter);
    if scene.scale > 1 {
        // 72 per inch is what counts as one to one.
        let per_metre = 2_835 * u32::from(scene.scale);
        encoder.set_pixel_dims(Some(png::PixelDimensions {
            xppu: per_metre,
            yppu: per_metre,
            unit: png::Unit::Meter,
        }));
    }
    let encoded = |error: png::EncodingError| Error::Png(error.to_string());
    let mut writer = encoder.write_header().map_err(encoded)?;
    writer.write_image_data(&pixels).map_err(encoded)?;
    writer.finish().map_err(encoded)?;
    Ok(out)
}

/// The colours in the order in which they first appear, and which of them each
/// pixel has; none if there are more than a byte can count.
fn indexed(canvas: &Pixmap) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut colours: Vec<[u8; 3]> = Vec::new();
    let mut numbers: HashMap<[u8; 3], u8> = HashMap::new();
    let mut pixels = Vec::with_capacity(canvas.pixels().len());
    // Most pixels are as the one before, which need not be looked up.
    let mut last: Option<([u8; 3], u8)> = None;
    for pixel in canvas.pixels() {
        let colour = [pixel.red(), pixel.green(), pixel.blue()];
        let known = last.filter(|&(before, _)| before == colour);
        let known = known.map(|(_, number)| number);
        let number = match known.or_else(|| numbers.get(&colour).copied()) {
            Some(number) => number,
            None => {
                let number = u8::try_from(colours.len()).ok()?;
                colours.push(colour);
                numbers.insert(colour, number);
                number
            }
        };
        last = Some((colour, number));
        pixels.push(number);
    }
    Some((colours.concat(), pixels))
}

/// The picture, pixel by pixel.
pub(crate) fn painted(scene: &Scene) -> Result<Pixmap, Error> {
    let (width, height) = scene.device_size();
    let mut canvas = Pixmap::new(width, height).ok_or(Error::TooLarge { width, height })?;
    canvas.fill(skia(scene.background));
    let scale = f32::from(scene.scale);
    for shape in &scene.shapes {
        match shape {
            Shape::Rectangle { at, size, fill } => rectangle(
                &mut canvas,
                (at.0 * scale, at.1 * scale),
                ((at.0 + size.0) * scale, (at.1 + size.1) * scale),
                *fill,
            ),
            Shape::Bars {
                left,
                step,
                spans,
                fill,
            } => bars(
                &mut canvas,
                (left * scale, step * scale),
                spans,
                scale,
                *fill,
            ),
            Shape::Line {
                points,
                width,
                stroke,
            } => line(&mut canvas, points, *width, *stroke, scale),
            Shape::Polygon { points, fill } => polygon(&mut canvas, points, *fill, scale),
            Shape::Text {
                at,
                size,
                anchor,
                fill,
                text,
            } => {
                let size = size * scale;
                let before = anchor.share_before() * font::painted_width(text, size);
                let start = (at.0 * scale - before, (at.1 * scale).round());
                font::paint(text, size, start, |x, y, ink| {
                    // So few shades that a picture can have a palette.
                    let ink = (ink * 15.0).round() / 15.0;
                    blend(&mut canvas, (x, y), *fill, ink);
                });
            }
        }
    }
    Ok(canvas)
}

/// Sharp edges: what is meant to touch leaves no seam.
fn rectangle(canvas: &mut Pixmap, from: (f32, f32), to: (f32, f32), fill: Colour) {
    let (left, top) = (from.0.round(), from.1.round());
    let (right, bottom) = (to.0.round().max(left), to.1.round().max(top));
    let Some(area) = Rect::from_ltrb(left, top, right, bottom) else {
        return;
    };
    canvas.fill_rect(area, &paint(fill, false), Transform::identity(), None);
}

/// Sharp at the sides; the topmost and the lowest pixel of a column have as
/// much ink as the column covers of them.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "places on a canvas"
)]
fn bars(
    canvas: &mut Pixmap,
    (left, step): (f32, f32),
    spans: &[(f32, f32)],
    scale: f32,
    fill: Colour,
) {
    for (at, &(top, bottom)) in spans.iter().enumerate() {
        let (top, bottom) = (top * scale, bottom * scale);
        if bottom <= top {
            continue;
        }
        let from = (left + step * at as f32).round() as i32;
        let to = (left + step * (at + 1) as f32).round() as i32;
        for y in top.floor() as i32..bottom.ceil() as i32 {
            let (above, below) = (y as f32, y as f32 + 1.0);
            let ink = below.min(bottom) - above.max(top);
            for x in from..to {
                blend(canvas, (x, y), fill, ink);
            }
        }
    }
}

fn line(canvas: &mut Pixmap, points: &[(f32, f32)], width: f32, stroke: Colour, scale: f32) {
    let Some(path) = path(points, false) else {
        return;
    };
    let style = Stroke {
        width,
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        ..Stroke::default()
    };
    let transform = Transform::from_scale(scale, scale);
    canvas.stroke_path(&path, &paint(stroke, true), &style, transform, None);
}

fn polygon(canvas: &mut Pixmap, points: &[(f32, f32)], fill: Colour, scale: f32) {
    let Some(path) = path(points, true) else {
        return;
    };
    let transform = Transform::from_scale(scale, scale);
    canvas.fill_path(
        &path,
        &paint(fill, true),
        FillRule::Winding,
        transform,
        None,
    );
}

fn path(points: &[(f32, f32)], closed: bool) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    let (&(x, y), rest) = points.split_first()?;
    builder.move_to(x, y);
    for &(x, y) in rest {
        builder.line_to(x, y);
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn paint(colour: Colour, smooth: bool) -> Paint<'static> {
    let mut paint = Paint {
        anti_alias: smooth,
        ..Paint::default()
    };
    paint.set_color(skia(colour));
    paint
}

fn skia(colour: Colour) -> Color {
    Color::from_rgba8(colour.red, colour.green, colour.blue, colour.alpha)
}

/// Puts ink on a pixel. The canvas is opaque, and stays it.
fn blend(canvas: &mut Pixmap, (x, y): (i32, i32), colour: Colour, ink: f32) {
    let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
        return;
    };
    let (width, height) = (canvas.width() as usize, canvas.height() as usize);
    if x >= width || y >= height {
        return;
    }
    let at = (y * width + x) * 4;
    let Some(pixel) = canvas.data_mut().get_mut(at..at + 3) else {
        return;
    };
    let ink = ink.clamp(0.0, 1.0) * f32::from(colour.alpha) / 255.0;
    for (old, new) in pixel
        .iter_mut()
        .zip([colour.red, colour.green, colour.blue])
    {
        let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * ink;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two bytes"
        )]
        let mixed = mixed.round() as u8;
        *old = mixed;
    }
}
