//! Checks whether a machine can record: gathers facts, then derives checks, each with what to
//! do. Prints nothing, changes nothing, and starts only programs of macOS; `metalens_xctrace`
//! runs `xctrace`.
//!
//! ```text
//! CommandRunner ─> Facts ─┐
//! Tool ───────────────────┼─> checks ─> Diagnosis
//! PlannedRecording ───────┘
//! ```
//!
//! # Rules
//!
//! * An unknown fact has a reason in place of a value; nothing is guessed.
//! * No program can block the diagnosis: each has a time limit.
//! * A check is a problem only if it is certain that recording fails.
//!
//! The authors have not run this on a Mac: the output of the programs is known from
//! publications of others.

mod check;
mod checks;
mod command;
mod diagnosis;
mod facts;
mod gather;
mod guarded;
mod parse;
mod planned_recording;
mod scratch;
mod xctrace_status;

pub use check::{Check, CheckVerdict, Remedy};
pub use checks::{preflight, refuses_libraries};
pub use command::{CommandOutput, CommandRunner, SystemCommands};
pub use diagnosis::{Diagnosis, SCHEMA, diagnose, elsewhere};
pub use facts::{Condition, Disk, Fact, Facts, MacFacts, Power, Process, ThermalPressure, Xcode};
pub use gather::developer_mode;
pub use guarded::guarded;
pub use planned_recording::PlannedRecording;
pub use scratch::{OpenState, ScratchFile, removal, scratch_files, temporary_folders};
