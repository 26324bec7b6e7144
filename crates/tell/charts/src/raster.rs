//! Rasterizes a scene and encodes it as PNG.

use rustc_hash::FxHashMap;
use tiny_skia::{IntSize, Paint, Pixmap, Rect, Transform};

use crate::font;
use crate::options::ChartError;
use crate::palette::Color;
use crate::pixels::{byte, nearest_px, px, times, whole_px};
use crate::scene::{Primitive, Scene};

/// Encodes the picture as PNG: opaque, with one byte per pixel if 256 colors are enough and three
/// otherwise, and with its density if that is not 1.
///
/// # Errors
///
/// If the picture is too large for memory.
pub fn png(scene: &Scene) -> Result<Vec<u8>, ChartError> {
    let canvas = rasterize(scene)?;
    let (width, height) = (canvas.width(), canvas.height());
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);

    let pixels = match indexed(&canvas) {
        Some((colors, pixels)) => {
            encoder.set_color(png::ColorType::Indexed);
            encoder.set_palette(colors);
            pixels
        }
        None => {
            encoder.set_color(png::ColorType::Rgb);
            let colors = canvas.data().chunks_exact(4);
            colors
                .flat_map(|pixel| pixel.iter().take(3))
                .copied()
                .collect()
        }
    };

    encoder.set_depth(png::BitDepth::Eight);
    // Level 6 takes twice as long for a twentieth less, and level 9 ten times for an eighth.
    encoder.set_deflate_compression(png::DeflateCompression::Level(4));
    // Filters make pictures of flat colors larger.
    encoder.set_filter(png::Filter::NoFilter);
    if scene.scale > 1 {
        // One to one means 72 pixels per inch.
        let per_meter = 2_835 * u32::from(scene.scale);
        encoder.set_pixel_dims(Some(png::PixelDimensions {
            xppu: per_meter,
            yppu: per_meter,
            unit: png::Unit::Meter,
        }));
    }

    let encoded = |error: png::EncodingError| ChartError::Png(error.to_string());
    let mut writer = encoder.write_header().map_err(encoded)?;
    writer.write_image_data(&pixels).map_err(encoded)?;
    writer.finish().map_err(encoded)?;
    Ok(out)
}

/// Returns the colors in the order in which they first appear, and the index of each pixel's color.
/// Returns none if there are more than 256 colors.
fn indexed(canvas: &Pixmap) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut colors: Vec<[u8; 3]> = Vec::new();
    let mut numbers: FxHashMap<[u8; 3], u8> = FxHashMap::default();
    let mut pixels = Vec::with_capacity(canvas.pixels().len());
    let width = canvas.width() as usize;
    let mut above: &[u8] = &[];
    let rows = canvas.pixels().chunks_exact(width);
    for (row, bytes) in rows.zip(canvas.data().chunks_exact(width * 4)) {
        // Most rows of a chart are like the one above, and bytes are faster to compare.
        if bytes == above {
            pixels.extend_from_within(pixels.len() - width..);
            continue;
        }
        above = bytes;
        for run in row.chunk_by(|pixel, next| pixel == next) {
            let [pixel, ..] = run else { continue };
            let color = [pixel.red(), pixel.green(), pixel.blue()];
            let number = match numbers.get(&color) {
                Some(&number) => number,
                None => {
                    let number = u8::try_from(colors.len()).ok()?;
                    colors.push(color);
                    numbers.insert(color, number);
                    number
                }
            };
            pixels.resize(pixels.len() + run.len(), number);
        }
    }
    Some((colors.concat(), pixels))
}

/// Draws the scene pixel by pixel.
pub(crate) fn rasterize(scene: &Scene) -> Result<Pixmap, ChartError> {
    let (width, height) = scene.device_size();
    let mut canvas = background(scene, width, height)?;
    let scale = f32::from(scene.scale);
    for shape in &scene.shapes {
        match shape {
            Primitive::Rectangle { at, size, fill } => rectangle(
                &mut canvas,
                (at.0 * scale, at.1 * scale),
                ((at.0 + size.0) * scale, (at.1 + size.1) * scale),
                *fill,
            ),
            Primitive::Bars {
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
            Primitive::Text {
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
                    blend(&mut canvas, (x, y), *fill, ink);
                });
            }
        }
    }
    Ok(canvas)
}

/// Returns a canvas of the background's color. Its pixels are written once: filling a new canvas
/// would write them twice.
fn background(scene: &Scene, width: u32, height: u32) -> Result<Pixmap, ChartError> {
    let too_large = ChartError::TooLarge { width, height };
    let Color {
        red, green, blue, ..
    } = scene.background;
    let size = IntSize::from_wh(width, height);
    let pixels = (width as usize).checked_mul(height as usize);
    let canvas = size.zip(pixels).and_then(|(size, pixels)| {
        Pixmap::from_vec([red, green, blue, u8::MAX].repeat(pixels), size)
    });
    canvas.ok_or(too_large)
}

/// Fills a rectangle with sharp edges, so that touching ones leave no seam.
fn rectangle(canvas: &mut Pixmap, from: (f32, f32), to: (f32, f32), fill: Color) {
    let (left, top) = (from.0.round(), from.1.round());
    let (right, bottom) = (to.0.round().max(left), to.1.round().max(top));
    let Some(area) = Rect::from_ltrb(left, top, right, bottom) else {
        return;
    };
    let mut paint = Paint {
        anti_alias: false,
        ..Paint::default()
    };
    paint.set_color_rgba8(fill.red, fill.green, fill.blue, fill.alpha);
    canvas.fill_rect(area, &paint, Transform::identity(), None);
}

/// Fills columns that are sharp at the sides. The topmost and the lowest pixel of a column have as
/// much ink as the column covers of them.
fn bars(
    canvas: &mut Pixmap,
    (left, step): (f32, f32),
    spans: &[(f32, f32)],
    scale: f32,
    fill: Color,
) {
    for (at, &(top, bottom)) in spans.iter().enumerate() {
        let (top, bottom) = (top * scale, bottom * scale);
        if bottom <= top {
            continue;
        }
        let from = nearest_px(left + step * times(at));
        let to = nearest_px(left + step * times(at + 1));
        for y in whole_px(top.floor())..whole_px(bottom.ceil()) {
            let above = px(f64::from(y));
            let below = above + 1.0;
            let ink = below.min(bottom) - above.max(top);
            for x in from..to {
                blend(canvas, (x, y), fill, ink);
            }
        }
    }
}

/// Puts ink on a pixel, in one of sixteen shades, so that a picture fits a palette. The canvas is
/// opaque, and stays opaque.
fn blend(canvas: &mut Pixmap, (x, y): (i32, i32), color: Color, ink: f32) {
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

    // All values are positive, and `round` is a slow call on processors that must run anywhere.
    let shade = byte(ink.clamp(0.0, 1.0) * 15.0 + 0.5);
    if shade == 15 && color.alpha == u8::MAX {
        return pixel.copy_from_slice(&[color.red, color.green, color.blue]);
    }
    let ink = f32::from(shade) / 15.0 * f32::from(color.alpha) / 255.0;
    for (old, new) in pixel.iter_mut().zip([color.red, color.green, color.blue]) {
        let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * ink;
        *old = byte(mixed + 0.5);
    }
}
