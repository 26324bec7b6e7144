//! Writes a scene as SVG.

use std::fmt::Write;

use crate::font::{FAMILY, clean};
use crate::palette::Color;
use crate::pixels::times;
use crate::scene::{Primitive, Scene, number};

/// Writes the picture as SVG, with `alt` as its description.
pub fn svg(scene: &Scene, alt: &str) -> String {
    let (width, height) = (scene.width, scene.height);
    let (shown_width, shown_height) = scene.device_size();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{shown_width}\" \
         height=\"{shown_height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         font-family=\"{FAMILY}\">\n<title>{}</title>\n<desc>{}</desc>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        escaped(&scene.title),
        escaped(alt),
        scene.background.hex(),
    );
    for shape in &scene.shapes {
        out.push_str(&element(shape));
        out.push('\n');
    }
    out.push_str("</svg>\n");
    out
}

fn element(shape: &Primitive) -> String {
    match shape {
        Primitive::Rectangle { at, size, fill } => format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" shape-rendering=\"crispEdges\" {}/>",
            number(at.0),
            number(at.1),
            number(size.0),
            number(size.1),
            paint(*fill),
        ),
        Primitive::Bars {
            left,
            step,
            spans,
            fill,
        } => format!(
            "<path d=\"{}\" {}/>",
            bars(*left, *step, spans),
            paint(*fill)
        ),
        Primitive::Text {
            at,
            size,
            anchor,
            fill,
            text,
        } => format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\" {}>{}</text>",
            number(at.0),
            number(at.1),
            number(*size),
            anchor.name(),
            paint(*fill),
            escaped(text),
        ),
    }
}

/// Returns one path for all bars; neighbors of one height become one rectangle.
fn bars(left: f32, step: f32, spans: &[(f32, f32)]) -> String {
    let mut out = String::new();
    let mut at = 0;
    while let Some(&(top, bottom)) = spans.get(at) {
        let same = spans.iter().skip(at);
        let same = same.take_while(|&&span| span == (top, bottom)).count();
        if bottom > top {
            let (x, width) = (left + step * times(at), step * times(same));
            let _ = write!(
                out,
                "M{} {}h{}v{}h-{}z",
                number(x),
                number(bottom),
                number(width),
                number(top - bottom),
                number(width)
            );
        }
        at += same.max(1);
    }
    out
}

/// Returns the attributes of a color.
fn paint(color: Color) -> String {
    let hex = color.hex();
    match color.alpha {
        255 => format!("fill=\"{hex}\""),
        alpha => format!(
            "fill=\"{hex}\" fill-opacity=\"{}\"",
            number(f32::from(alpha) / 255.0)
        ),
    }
}

/// Escapes text for use between tags and in attributes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in clean(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter => out.push(letter),
        }
    }
    out
}
