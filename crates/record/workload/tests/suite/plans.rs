//! Tests plans: counted by hand, and by rules that hold for every plan.

use metalens_failure::{Failure, FailureKind};
use metalens_workload::Workload::{Bandwidth, Eager, Fused, Matmul};
use metalens_workload::{Dispatch, Error, Kernel, Workload, WorkloadPlan, run, workloads};

/// Returns a plan of these sizes.
fn plan(workload: Workload, size: u64, count: u64) -> WorkloadPlan {
    WorkloadPlan::of_size(workload, size, Some(count)).unwrap()
}

/// Checks the work of one step.
fn check(workload: Workload, size: u64, command_buffers: u64, bytes: u64, flops: Option<u64>) {
    let plan = plan(workload, size, 1);
    assert_eq!(plan.command_buffers(), command_buffers);
    let amounts = plan.step.iter().map(Dispatch::amounts);
    let sum: u64 = amounts.clone().map(|amounts| amounts.bytes).sum();
    assert_eq!(sum, bytes, "{workload:?}");
    let operations: Option<u64> = amounts.map(|amounts| amounts.flops).sum();
    assert_eq!(operations, flops, "{workload:?}");
}

#[test]
fn the_work_of_a_step_is_as_counted_by_hand() {
    // An element has 4 bytes. Reads and writes both count.
    check(Eager, 1024, 4, 4 * 2 * 4096, None);
    check(Fused, 1024, 1, 2 * 4096, None);
    // 2 × 32³ operations; three matrices of 32² elements.
    check(Matmul, 32, 1, 3 * 4096, Some(65_536));
    check(Bandwidth, 100, 1, 3 * 400, Some(200));
}

#[test]
fn eager_is_four_times_fused() {
    for count in [Some(1), Some(7), Some(200), None] {
        let [eager, fused] = [Eager, Fused].map(|name| WorkloadPlan::new(name, count).unwrap());
        assert_eq!(eager.command_buffers(), 4 * fused.command_buffers());
        assert_eq!((eager.count, eager.warm_up), (fused.count, fused.warm_up));
        assert_eq!(eager.step[0].size, fused.step[0].size);
    }
}

/// No kernel reads or writes beyond an array, which makes running safe.
#[test]
fn every_access_is_inside_its_array() {
    for workload in workloads() {
        for size in [1, 2, 16, 17, 1000] {
            let plan = plan(workload, size, 1);
            for dispatch in &plan.step {
                let (kernel, size) = (dispatch.kernel, dispatch.size);
                let touched = match kernel {
                    Kernel::Matmul => size * size,
                    _ => size,
                };
                for &array in dispatch.reads.iter().chain([&dispatch.writes]) {
                    assert!(
                        plan.arrays[array].elements >= touched,
                        "{workload:?} {size}"
                    );
                }
                assert!(!dispatch.reads.contains(&dispatch.writes));
                assert_eq!(dispatch.reads.len(), kernel.reads());
                let ((width, height), (wide, high)) = (kernel.group(), kernel.groups(size));
                assert!(width * wide >= size && width * height <= 256);
                assert!(width * (wide - 1) < size);
                assert!(high == 1 || height * high >= size);
            }
        }
    }
}

#[test]
fn defaults_are_modest() {
    for workload in workloads() {
        let plan = WorkloadPlan::new(workload, None).unwrap();
        let bytes: u64 = plan.arrays.iter().map(|array| 4 * array.elements).sum();
        assert!(bytes <= 256 << 20, "{workload:?}");
        assert!(plan.warm_up > 0, "{workload:?}");
        // Assumes an M1's 68 GB/s, and half a millisecond to wait for each command buffer.
        let waits = plan.command_buffers() * 500_000;
        let step: u64 = plan.step.iter().map(|each| each.amounts().bytes).sum();
        let moves = plan.steps() * step / 68;
        assert!(waits + moves < 4_000_000_000, "{workload:?} takes minutes");
    }
}

#[test]
fn impossible_requests_are_refused() {
    let error = Workload::from_name("eeger").unwrap_err();
    assert!(error.kind() == FailureKind::Misuse && error.hint().unwrap().contains("eager, fused"));
    for workload in workloads() {
        for count in [0, 10_000_001, u64::MAX] {
            let error = WorkloadPlan::new(workload, Some(count)).unwrap_err();
            assert!(matches!(error, Error::Count { .. }), "{error}");
        }
        let longest = WorkloadPlan::new(workload, Some(10_000_000)).unwrap();
        assert!(longest.command_buffers() > 10_000_000);
    }
}

/// Every workload runs and is correct on a Mac with a GPU. Elsewhere the error says why it
/// cannot run.
#[test]
fn runs_as_planned_or_says_why_not() {
    for workload in workloads() {
        let plan = plan(workload, 40, 80);
        let run = match run(&plan) {
            Ok(run) => run,
            Err(error) => {
                assert!(
                    error.kind() == FailureKind::Unavailable,
                    "{workload:?}: {error}"
                );
                assert_eq!(cfg!(target_os = "macos"), matches!(error, Error::NoDevice));
                eprintln!("SKIPPED: {error}");
                return;
            }
        };
        assert_eq!(run.buffers.len() as u64, plan.command_buffers());
        assert!(run.buffers.is_sorted_by_key(|buffer| buffer.phase));
        assert!(
            run.buffers
                .iter()
                .all(|buffer| buffer.start_ns <= buffer.end_ns)
        );
        assert!(!run.checked.is_empty() && run.measured_ns > 0);
        eprintln!("{workload:?} ran on {}: {:?}", run.device, run.notes);
    }
}
