//! Tests requests against a server of our own.

#![expect(
    clippy::print_stdout,
    reason = "a panic is the failure report, in the helpers too"
)]

mod silence;
