//! Writes text from outside so that no terminal, reader or spreadsheet is misled by it.
//!
//! The author of a label, a path or a process name can choose any text. A terminal obeys
//! control characters, characters without width or with another reading direction deceive a
//! reader, and a spreadsheet runs a text that looks like a formula.
//!
//! | output | writer |
//! | --- | --- |
//! | a line for people | [`shown`] |
//! | a message for people | [`shown_message`] |
//! | everything that people see | [`SafeWriter::page`], also after the functions above |
//! | JSON | [`SafeWriter::json`]: the same value, with more characters escaped |
//! | CSV | [`csv::Writer`], through [`SafeWriter::data`] if it goes to standard output |
//! | a log of GitHub Actions | [`SafeWriter::on_runner`]: no line is a command |
//! | a standard stream, below all of these | [`UntilClosed`] |
//! | the standard streams of the programs beside `metalens` | [`streams`] |
//!
//! [`Redactor`] leaves private data out of texts that may be published. [`units`] formats numbers for
//! people, and [`number`] converts between whole numbers and floats.
//!
//! Depends on no other crate of the workspace.

pub mod columns;
pub mod csv;
mod hostile;
mod letters;
mod names;
pub mod number;
mod redactor;
mod safe_writer;
pub mod streams;
mod style;
pub mod units;
mod until_closed;

pub use hostile::HOSTILE;
pub use letters::{in_json, is_hidden, name, shown, shown_lines, shown_message, without_commands};
pub use names::{fold_runs, shorten, shorten_all};
pub use redactor::{Redactor, SECRET};
pub use safe_writer::SafeWriter;
pub use style::Style;
pub use until_closed::UntilClosed;
