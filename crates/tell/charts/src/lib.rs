//! Draws reports as pictures. Opens no file and starts no process.
//!
//! ```text
//! Analysis → a chart's layout ─┬→ plotters: axes, series → `backend` ─┬→ Scene → PNG
//!                              └→ lanes, bars, words ─────────────────┘        → SVG
//!                                                                             → text, for tests
//! ```
//!
//! # Laws
//!
//! A column of pixels is painted as high as the GPU was busy in it, with two exceptions: any busy
//! time is at least one pixel high, and anything less than all of it leaves at least one pixel
//! free.
//! * Same input, same bytes, on every platform: places are sums, products,
//!   quotients and square roots, which IEEE 754 lays down to the last bit, and
//!   logarithms come from `libm`, not from the system. What tiny-skia and ab_glyph
//!   do to straight lines and glyphs is of the same kind, and no
//!   curve is drawn that would need a cosine.
//! * A label is measured before it is drawn: none leaves the canvas.
//! * Nothing is read from the system: the font is a part of the program.
//!
//! The font is DejaVu Sans, whose license (Bitstream Vera's, and Arev's) allows
//! to embed it. What it lacks is painted as a word, `‹3 CJK›`; SVG and the text for
//! those who cannot see keep the letters.

mod alt;
mod axes;
mod backend;
mod canvas;
mod chart;
mod compare;
mod counters;
mod coverage;
mod embedded_font;
mod font;
mod gaps;
mod idle;
mod kernel_colors;
mod kernels;
mod lanes;
mod missing_glyphs;
mod options;
mod palette;
mod panel;
mod phases;
#[cfg(test)]
mod pixel_tests;
mod pixels;
mod raster;
mod scene;
mod states;
mod strip;
mod svg;
#[cfg(test)]
mod tests;
mod timeline;
mod zoom;

pub use alt::alt;
pub use chart::{Chart, draw};
pub use compare::{alt_comparison, draw_comparison};
pub use kernel_colors::KernelColors;
pub use options::{ChartError, ChartOptions};
pub use palette::Theme;
pub use raster::png;
pub use scene::Scene;
pub use svg::svg;
