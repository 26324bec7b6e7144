//! Turns an input, as a user names it, into its analysis or its stored report. Programs themselves
//! open inputs, show progress and write results.
//!
//! ```text
//! recording ─ known work beside it ─ read ─ analyze ─┬─ analysis
//!                                     ▲              │
//!                                     └─ again, if ──┘
//!                                        rows lack
//! report.json, or the folder with it ──────────────── stored report
//! ```

mod analysis;
mod error;
mod run;
mod work;

pub use analysis::analysis;
pub use error::{Error, Result};
pub use run::{AnyRun, middle_run, parse_report, refuse_different, side, stored_report};
pub use work::{default_work, with_work};
