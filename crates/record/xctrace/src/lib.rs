//! Runs Apple's `xctrace`: finds it, builds its command lines, and interprets its output. Reads
//! no recording and prints nothing. All other crates use `xctrace` through this one.
//!
//! ```text
//! ToolSource → Tool ────────────────┐
//! Record, Export, List → arguments ─┴→ RunningTool → OutputLine → Transcript
//!                                                             + exit code → meaning
//! ```
//!
//! # Sources
//!
//! The authors had no Mac. Everything here rests on publications: Apple's manual pages, and the
//! transcripts, exit codes and scripts of users. [`meaning`] names the source of each message
//! and each code. Two rules follow from all of them:
//!
//! * The exit code alone is not enough: good recordings usually end with 54.
//! * The output may come on either stream.

pub mod command;
mod error;
mod find;
mod listing;
pub mod meaning;
mod output_line;
mod output_streams;
mod program;
mod run;
mod tool;
mod version;

pub use error::{Error, Result};
pub use find::ToolSource;
pub use listing::{Templates, templates};
pub use output_line::{OutputLine, Transcript};
pub use output_streams::{LineEnd, Stream, StreamLine};
pub use program::{FoundProgram, is_part_of_macos, resolve};
pub use run::{RunningTool, Stdin, ToolOutput};
pub use tool::Tool;
pub use version::{Feature, Version};
