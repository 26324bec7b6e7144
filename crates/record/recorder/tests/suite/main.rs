//! Tests the recorder with fake `xctrace` scripts.

#![expect(
    clippy::unwrap_used,
    reason = "a panic is the failure report, in the helpers too"
)]

mod kept;
