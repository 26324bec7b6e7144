//! What a machine says of itself, and whether it can record: facts, then checks,
//! each with what to do. Prints nothing, changes nothing, and starts only programs
//! that are part of macOS; `xctrace` is reached through its own crate.
//!
//! ```text
//! Ask ─> Facts ─┐
//! Tool ─────────┼─> checks ─> Diagnosis
//! Asked ────────┘
//! ```
//!
//! # Laws
//!
//! * What cannot be told has a reason in place of a value; nothing is guessed.
//! * No program can hang it: each gets its time, and is then left out.
//! * Recording is ruled out only by what is certain to be in its way.
//!
//! None of this has been run on a Mac by its authors: the answers of its programs
//! are known from what others published.

mod ask;
mod asked;
mod check;
mod checks;
mod diagnosis;
mod facts;
mod gather;
mod read;
mod recorder;

pub use ask::{Answer, Ask, System};
pub use asked::Asked;
pub use check::{Check, Remedy, TextFile, Verdict};
pub use checks::preflight;
pub use diagnosis::{Diagnosis, SCHEMA, WorksHere, diagnose, elsewhere, json_schema};
pub use facts::{
    Condition, Disk, Fact, Facts, Gpu, GpuUser, LeftOver, Machine, Power, Process, Protection,
    Rights, ThermalPressure, Xcode,
};
