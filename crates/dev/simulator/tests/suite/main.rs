//! Tests the simulator from outside: its output, and whether its truth is true.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic is the failure report, in the helpers too"
)]

mod bundle;
mod details;
mod findings;
mod folder;
mod grammar;
mod keyed;
mod laws;
mod read_back;
mod real_bundle;
mod real_tables;
mod scenarios;
mod speed;
mod timelines;
mod trace_bundle;
mod xml;
