//! Tests the plans, the kernels' source, the files, and the program as its users run it.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a panic is the failure report, and a test that cannot run says so"
)]

mod kernels;
mod plans;
mod program;
mod work_file;

use metalens_workload::{WorkloadPlan, WorkloadSettings};

/// Returns a plan of these sizes.
fn plan(name: &str, size: u64, count: u64, warm_up: u64) -> WorkloadPlan {
    let settings = WorkloadSettings {
        size: Some(size),
        count: Some(count),
        warm_up: Some(warm_up),
    };
    WorkloadPlan::new(name, &settings).unwrap()
}
