//! The one door to Apple's `xctrace`: find it, build its command lines, run it,
//! name what its answers mean. Reads no trace and prints nothing.
//!
//! ```text
//! Surroundings → Tool ──────────────┐
//! Record, Export, List → arguments ─┼→ Running → Said, line by line → Transcript
//!                                   │                                  + exit code → meaning
//!                                   └→ Streaming: what it writes, as bytes
//! ```
//!
//! # What is known, and how
//!
//! There was no Mac where this was written. Everything here rests on what others
//! published: Apple's manual pages, and the transcripts, exit codes and scripts of
//! people who record in earnest. [`meaning`] says of each message and each code
//! where it was seen. Two things follow from all of them:
//!
//! * The exit code alone decides nothing: 54 is the usual end of good recordings.
//! * What it prints comes on either stream.

pub mod command;
mod error;
mod find;
mod listing;
pub mod meaning;
mod program;
mod run;
mod said;
mod stream;
mod tool;
mod version;

pub use error::{Error, Result};
pub use find::Surroundings;
pub use listing::{Devices, Templates, devices, instruments, templates};
pub use program::{FoundProgram, resolve};
pub use run::{Answer, Piece, Running, Stdin, Stream};
pub use said::{Said, Transcript};
pub use stream::Streaming;
pub use tool::Tool;
pub use version::{Feature, Version};
