//! Benchmarks: records several commands, or one with several parameter values, alternately, and says
//! which one is fastest, by how much, and why. This crate decides what is recorded and when, and
//! what the recordings tell. The caller records and analyzes ([`VariantRunner`]). Nothing here
//! prints.
//!
//! ```text
//! commands, parameters → variants → turns → runs ─┬→ carry_out → Bench → documents (render)
//!                             runs of the folder ─┘      │
//!                                                        └→ VariantRunner: records, analyzes
//! ```
//!
//! # Order
//!
//! Each round has one run of each variant; every second round goes backwards: ABC CBA ABC … So a
//! machine that gets warmer, or busier, favors none of them.
//!
//! # Laws
//!
//! * The amounts of work come before the times. Times are those of whole runs, because commands of
//!   one benchmark are alternatives for one job; if a time limit ended a run they are per unit of
//!   work.
//! * The statistics are those of `metalens-comparison`, and so are the words for changes.
//! * A variant wins only against all others, each with its interval.
//! * A run of the folder counts if it is whole, and only for the same variant, of the same program,
//!   recorded in the same way.
//! * An interrupted run does not count.
//! * What is written about commands is without private data ([`metalens_text::Redactor`]).

mod basis;
mod carry_out;
mod compute;
mod error;
#[cfg(unix)]
mod folder;
mod parameters;
#[cfg(unix)]
mod programs;
mod published;
mod result;
mod sentences;
mod sides;
mod standing;
mod turns;
mod variants;
mod wall_time;
mod warnings;
mod words;

pub use basis::BasisChoice;
pub use carry_out::{BenchOutcome, RunEnd, RunRecord, VariantRunner, carry_out};
pub use compute::{BenchOptions, is_decided};
pub use error::{Error, Result};
#[cfg(unix)]
pub use folder::{BenchFolder, PLAN, RunFile};
pub use parameters::{Parameter, ParameterValue};
pub use result::{Bench, PairResult, Rival, RunResult, SCHEMA, Standing, VariantResult};
pub use turns::{Turn, turns};
pub use variants::{BenchPlan, BenchRequest, CommandTemplate, CommandToRun, Hooks, Variant};
