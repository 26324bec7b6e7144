//! Draws collapsed stacks as a flame graph.
//!
//! The picture is drawn by `inferno`: an SVG with a script, which zooms in on a frame on click
//! and searches for a name with Ctrl-F. The picture is also complete without a browser. This crate
//! opens no file and does not print.

mod folded;
mod svg;

pub use svg::{Heading, svg};
