//! The simulator from outside: what it writes, and whether its truth is true.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic is the failure report, in the helpers too"
)]

mod folder;
mod grammar;
mod laws;
mod read_back;
mod real_tables;
mod scenarios;
mod speed;
mod timelines;
mod xml;
