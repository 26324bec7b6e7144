//! Draws collapsed stacks as a flame graph, compares those of two runs, and writes them for
//! <https://www.speedscope.app>.
//!
//! The pictures are drawn by `inferno`: an SVG with a script, which zooms in on a frame on click
//! and searches for a name with Ctrl-F. The picture is also complete without a browser. This crate
//! opens no file and does not print.

mod folded;
mod speedscope;
mod svg;

pub use folded::difference;
pub use speedscope::speedscope;
pub use svg::{Heading, difference_svg, svg};
