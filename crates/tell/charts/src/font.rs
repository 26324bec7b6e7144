//! Measures, shortens and paints text.

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use metalens_text::is_hidden;

use crate::embedded_font::font;
use crate::missing_glyphs;
use crate::pixels::{times, whole_px};

/// Text size of axis and lane labels.
pub(crate) const SMALL: f32 = 11.0;

/// Font names that a browser tries in turn, all of nearly the same widths.
pub(crate) const FAMILY: &str = "DejaVu Sans, Verdana, Geneva, sans-serif";

/// Returns the scale of a text size. ab_glyph measures a size from the lowest to the highest point,
/// everything else by the em.
fn scale(font: &FontRef<'static>, size: f32) -> PxScale {
    let em = font.units_per_em().unwrap_or(2_048.0);
    PxScale::from(size * font.height_unscaled() / em)
}

/// Returns the width that a text needs in pixels and in a browser, which has its own fonts for
/// letters that this one lacks.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    let painted = painted_width(text, size);
    let missing = missing_glyphs::count(text);
    if missing == 0 {
        return painted;
    }
    let square = size * times(missing);
    painted.max(square + painted_width(&missing_glyphs::remove(text), size))
}

/// Returns the width of a text as it is painted.
pub(crate) fn painted_width(text: &str, size: f32) -> f32 {
    let Some(font) = font() else {
        return 0.0;
    };
    let mut end = 0.0;
    place(font, &missing_glyphs::substitute(text), size, |_, after| {
        end = after;
    });
    end
}

/// Visits each glyph and the position of the pen after it.
fn place(font: &FontRef<'static>, text: &str, size: f32, mut visit: impl FnMut(Glyph, f32)) {
    let scale = scale(font, size);
    let scaled = font.as_scaled(scale);
    let (mut pen, mut last) = (0.0, None);
    for letter in text.chars() {
        let id = scaled.glyph_id(letter);
        if let Some(last) = last {
            pen += scaled.kern(last, id);
        }
        let glyph = id.with_scale_and_position(scale, point(pen, 0.0));
        pen += scaled.h_advance(id);
        last = Some(id);
        visit(glyph, pen);
    }
}

/// Paints a text that begins at (x, baseline). `pixel` gets each pixel and its share of ink.
pub(crate) fn paint(text: &str, size: f32, at: (f32, f32), mut pixel: impl FnMut(i32, i32, f32)) {
    let Some(font) = font() else {
        return;
    };
    place(
        font,
        &missing_glyphs::substitute(text),
        size,
        |mut glyph, _| {
            glyph.position.x += at.0;
            glyph.position.y += at.1;
            let Some(outline) = font.outline_glyph(glyph) else {
                return;
            };
            let corner = outline.px_bounds().min;
            let (left, top) = (whole_px(corner.x), whole_px(corner.y));
            outline.draw(|x, y, ink| {
                let (Ok(x), Ok(y)) = (i32::try_from(x), i32::try_from(y)) else {
                    return;
                };
                pixel(left.saturating_add(x), top.saturating_add(y), ink.min(1.0));
            });
        },
    );
}

/// Replaces characters without a shape: control characters, and those that change the writing
/// direction, which would confuse readers.
pub(crate) fn clean(text: &str) -> String {
    let visible = |letter: char| match letter {
        letter if is_hidden(letter) => '\u{FFFD}',
        '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    text.chars().map(visible).collect()
}

/// Shortens a text to the available room and keeps its ends: `a_very_long_name` becomes
/// `a_ver…name`.
pub(crate) fn shorten(text: &str, size: f32, room: f32) -> String {
    let short = metalens_text::shorten(&clean(text), &|text| width(text, size) <= room);
    if short == "…" { String::new() } else { short }
}

/// Shortens names to the available room, so that no two different ones look alike.
pub(crate) fn shorten_all(names: &[&str], size: f32, room: f32) -> Vec<String> {
    let names: Vec<String> = names.iter().map(|name| clean(name)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    metalens_text::shorten_all(&names, &|name| width(name, size) <= room)
}

/// Breaks a sentence into lines that are no wider than `room`. The last line loses words at its end if
/// it has too many.
pub(crate) fn wrap(text: &str, size: f32, room: f32, lines: usize) -> Vec<String> {
    let text = clean(text);
    let mut wrapped: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let may_break = wrapped.len() < lines;
        match wrapped.last_mut() {
            Some(line) if !may_break || width(&format!("{line} {word}"), size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => wrapped.push(word.to_owned()),
        }
    }
    wrapped
        .into_iter()
        .map(|line| cut(&line, size, room))
        .collect()
}

/// Leaves as many words of a line as fit. A word that is too long alone keeps its ends.
fn cut(line: &str, size: f32, room: f32) -> String {
    let mut shown = line.to_owned();
    while width(&shown, size) > room
        && let Some((rest, _)) = shown.trim_end_matches(" …").rsplit_once(' ')
    {
        shown = format!("{} …", rest.trim_end_matches([',', ';', ':']));
    }
    shorten(&shown, size, room)
}

/// Breaks a text into at most three lines; into two at a pause of the sentence if both parts fit.
/// Otherwise the last line is not left very short.
pub(crate) fn balanced(text: &str, size: f32, room: f32) -> Vec<String> {
    let lines = wrap(text, size, room, 3);
    if lines.len() == 2
        && let Some(halves) = at_a_pause(text, size, room)
    {
        return halves;
    }

    let short = |line: &String| width(line, size) < room * 0.2;
    if lines.len() > 1 && lines.last().is_some_and(short) {
        let part = if lines.len() == 2 { 0.75 } else { 0.85 };
        return wrap(text, size, room * part, lines.len());
    }
    lines
}

/// Breaks a text at the colon, semicolon or comma that gives the most equal widths.
fn at_a_pause(text: &str, size: f32, room: f32) -> Option<Vec<String>> {
    let text = clean(text);
    let pauses = [": ", ", ", "; "];
    let pauses = pauses.iter().flat_map(|pause| text.match_indices(pause));
    let halves = pauses.filter_map(|(at, pause)| {
        let (first, second) = text.split_at_checked(at + pause.len())?;
        let first = first.trim_end();
        let longer = width(first, size).max(width(second, size));
        (longer <= room).then_some((longer, first, second))
    });

    let (_, first, second) = halves.min_by(|half, other| half.0.total_cmp(&other.0))?;
    Some(vec![first.to_owned(), second.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_text_fits_and_keeps_its_ends() {
        let cases = [
            "short",
            "a_rather_long_kernel_name_with_template<float, 128, 4>",
            "ядро_с_очень_длинным_именем_которое_не_помещается",
            "行列積カーネル行列積カーネル行列積カーネル行列積",
        ];
        for text in cases {
            let short = shorten(text, 12.0, 120.0);
            assert!(width(&short, 12.0) <= 120.0, "{short}");
            assert!(short == text || short.contains('…'), "{short}");
            assert_eq!(short.chars().next(), text.chars().next());
            assert_eq!(short.chars().last(), text.chars().last());
        }
        assert_eq!(shorten("abc", 12.0, 1.0), "");
    }

    #[test]
    fn every_letter_is_painted_or_substituted() {
        for letter in ["µ", "×", "→", "Ω", "Ж", "…", "行", "\u{10FFFF}"] {
            let mut ink = 0.0;
            paint(letter, 20.0, (0.0, 20.0), |_, _, part| ink += part);
            assert!(ink > 10.0, "{letter}");
        }
    }

    #[test]
    fn lines_are_no_wider_than_their_room() {
        let text = "one two three four five six seven eight nine ten eleven twelve";
        let lines = wrap(text, 12.0, 150.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| width(line, 12.0) <= 150.0));
        assert!(lines.concat().contains('…'));
        assert_eq!(wrap(text, 12.0, 1_000.0, 2), [text]);
    }

    #[test]
    fn a_sentence_is_broken_where_it_pauses() {
        let cases = [
            (
                "it kept the GPU busy: 1,000 intervals ran",
                "it kept the GPU busy:|1,000 intervals ran",
            ),
            (
                "aaaa, aaaa, aaaa, aaaa, aaaa, aaaa",
                "aaaa, aaaa, aaaa,|aaaa, aaaa, aaaa",
            ),
            ("too short", "too short"),
        ];
        for (text, expected) in cases {
            assert_eq!(balanced(text, 12.0, 180.0).join("|"), expected);
        }
    }

    #[test]
    fn width_leaves_room_for_browser_fonts() {
        // A letter of these scripts is as wide as it is high.
        assert!(width("行列積カーネル行列積カーネル", 10.0) >= 140.0);
        assert!(painted_width("行列積カーネル行列積カーネル", 10.0) < 80.0);
    }

    #[test]
    fn confusing_characters_are_replaced() {
        assert_eq!(clean("a\u{202E}b\nc\u{1}"), "a\u{FFFD}b c ");
    }
}
