//! Converts numbers to and from lengths and positions in pixels.

use metalens_text::number::{Float, whole};

/// Returns a position, a length or a factor of one in the precision of shapes.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a picture needs no more digits"
)]
pub(crate) const fn px(value: f64) -> f32 {
    value as f32
}

/// Returns a number of lines, columns or letters as a factor of a length.
pub(crate) fn times(count: usize) -> f32 {
    px((count as u64).float())
}

/// Returns the whole part of a position; the nearest position there is if it is far away.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
pub(crate) fn whole_px(position: impl Into<f64>) -> i32 {
    position.into() as i32
}

/// Returns the nearest whole position.
pub(crate) fn nearest_px(position: impl Into<f64>) -> i32 {
    whole_px(position.into().round())
}

/// Returns the nearest whole length; 0 of one that is negative.
pub(crate) fn nearest_length(length: f32) -> u32 {
    u32::try_from(nearest_px(length)).unwrap_or(0)
}

/// Returns the whole part of a number of columns, ticks or digits; 0 of one that is negative.
pub(crate) fn whole_count(count: impl Into<f64>) -> usize {
    usize::try_from(whole(count.into())).unwrap_or(usize::MAX)
}

/// Returns the whole part of a number between 0 and 255.
pub(crate) fn byte(value: impl Into<f64>) -> u8 {
    u8::try_from(whole_px(value)).unwrap_or(u8::MAX)
}
