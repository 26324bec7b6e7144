//! Text that came from outside, written so that nothing obeys it.
//!
//! A label, a path or a process's name is whatever its author made it. A terminal would
//! obey its control characters, a reader is deceived by characters that have no width or
//! turn the direction of reading, and a spreadsheet would run it as a formula.
//!
//! | where it is written | how |
//! | --- | --- |
//! | a line for people | [`shown`] |
//! | a message for people | [`shown_message`] |
//! | all that people see | [`Door::page`], whatever was done to it before |
//! | JSON | [`Door::json`]: the same value, with more of it escaped |
//! | CSV | [`csv::Writer`], through [`Door::data`] where it goes to standard output |
//!
//! Depends on no other crate.

pub mod csv;
mod door;
mod hostile;
mod letters;
mod style;

pub use door::Door;
pub use hostile::HOSTILE;
pub use letters::{in_json, is_hidden, name, shown, shown_lines, shown_message};
pub use style::Style;
