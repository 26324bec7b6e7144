//! Whole behaviours of the recorder.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is the failure report, in the helpers too"
)]

mod kept;
