//! Tests the plans, the kernels' source, the files, and the command as its users see it.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a panic is the failure report, and a test that cannot run says so"
)]

mod command;
mod kernels;
mod plans;
mod work_file;
