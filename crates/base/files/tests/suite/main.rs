//! Tests complete behaviors of reading, writing and changing owners.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a panic is the failure report, in the helpers too"
)]

mod ownership;
mod writing;
