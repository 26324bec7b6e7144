//! Whole behaviours of asking.

#![expect(
    clippy::print_stdout,
    reason = "a panic is the failure report, in the helpers too"
)]

mod silence;
