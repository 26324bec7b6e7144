//! Tests plans: counted by hand, and by rules that hold for every plan.

use std::collections::BTreeMap;

use metalens_failure::{Failure, FailureKind};
use metalens_workload::{
    Error, Options, Task, Totals, WorkloadPlan, WorkloadSettings, run, workloads,
};

use super::plan;

/// Checks the work of one step.
fn check(name: &str, size: u64, expected: [u64; 4], flops: Option<u64>) {
    let [command_buffers, encoders, dispatches, bytes] = expected;
    let expected = Totals {
        command_buffers,
        encoders,
        dispatches,
        bytes,
        flops,
    };
    assert_eq!(plan(name, size, 1, 5).measured(), expected, "{name}");
}

#[test]
fn the_work_of_a_step_is_as_counted_by_hand() {
    // An element has 4 bytes. Reads and writes both count.
    //                  buffers, encoders, dispatches, bytes
    check("eager", 1024, [4, 4, 4, 4 * 2 * 4096], None);
    check("fused", 1024, [1, 1, 1, 2 * 4096], None);
    check("sync", 10, [1, 1, 1, 2 * 40], Some(10));
    check("pipelined", 10, [1, 1, 1, 2 * 40], Some(10));

    // 4 encoders of 8 scalings, 4 of 8 triads.
    check(
        "batched",
        10,
        [1, 8, 64, 32 * 80 + 32 * 120],
        Some(32 * 10 + 32 * 20),
    );

    // 2 × 32³ operations; three matrices of 32² elements.
    check("matmul", 32, [1, 1, 1, 3 * 4096], Some(65_536));
    check("copies", 64, [1, 1, 16, 16 * 2 * 256], None);
    check("bandwidth", 100, [1, 1, 1, 3 * 400], Some(200));

    // 16 copies of 256, the chain over 256, matrices of 16 rows: √256.
    check(
        "mixed",
        256,
        [3, 6, 21, 16 * 2 * 1024 + 4 * 2 * 1024 + 3 * 1024],
        Some(2 * 16 * 16 * 16),
    );
}

#[test]
fn eager_is_four_times_fused() {
    for (size, count) in [(1, 1), (1000, 7), (1 << 20, 800)] {
        let (eager, fused) = (plan("eager", size, count, 3), plan("fused", size, count, 3));
        for (eager, fused) in [
            (eager.measured(), fused.measured()),
            (eager.total(), fused.total()),
        ] {
            assert_eq!(eager.dispatches, 4 * fused.dispatches);
            assert_eq!(eager.command_buffers, 4 * fused.command_buffers);
            assert_eq!(eager.bytes, 4 * fused.bytes);
        }
    }
    // The defaults are equal too.
    let [eager, fused] = ["eager", "fused"]
        .map(|name| WorkloadPlan::new(name, &WorkloadSettings::default()).unwrap());
    assert_eq!((eager.size, eager.count), (fused.size, fused.count));
}

#[test]
fn totals_are_the_sums_over_all_encoders() {
    for workload in workloads() {
        for (size, count, warm_up) in [(1, 1, 0), (17, 3, 2), (4096, 10, 1)] {
            let plan = plan(workload.name(), size, count, warm_up);
            let (measured, total) = (plan.measured(), plan.total());
            // Count by walking, where the plan multiplies.
            let walked = plan.command_buffers().count() as u64;
            assert_eq!(walked, total.command_buffers);
            assert_eq!(walked * count, (count + warm_up) * measured.command_buffers);
            let encoders = plan
                .command_buffers()
                .flat_map(|(_, buffer)| &buffer.encoders);
            let mut by_label: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
            for encoder in encoders {
                let sums = by_label.entry(encoder.task.label()).or_default();
                sums.0 += 1;
                sums.1 += encoder.dispatches;
                sums.2 += encoder.amounts().bytes;
            }
            for label in plan.labels() {
                let encoders = label.encoders_per_step * (count + warm_up);
                let expected = (
                    encoders,
                    encoders * label.dispatches_per_encoder,
                    encoders * label.per_encoder.bytes,
                );
                assert_eq!(by_label.remove(label.label), Some(expected), "{workload:?}");
            }
            assert_eq!(by_label.len(), 0, "labels missing from the plan's list");
        }
    }
}

/// No kernel reads or writes beyond an array, which makes running safe.
#[test]
fn every_access_is_inside_its_array() {
    for workload in workloads() {
        for size in [1, 2, 16, 17, 1000] {
            let plan = plan(workload.name(), size, 1, 0);
            for encoder in plan.step.iter().flat_map(|buffer| &buffer.encoders) {
                let touched = match encoder.task {
                    Task::Copy => encoder.size * encoder.dispatches,
                    Task::Kernel(metalens_workload::Kernel::Matmul) => encoder.size * encoder.size,
                    Task::Kernel(_) => encoder.size,
                };
                for &array in encoder.reads.iter().chain([&encoder.writes]) {
                    assert!(
                        plan.arrays[array].elements >= touched,
                        "{workload:?} {size}"
                    );
                }
                assert!(!encoder.reads.contains(&encoder.writes));
                if let Task::Kernel(kernel) = encoder.task {
                    assert_eq!(encoder.reads.len(), kernel.reads());
                    let ((width, height), (wide, high)) =
                        (kernel.group(), kernel.groups(encoder.size));
                    assert!(width * wide >= encoder.size && width * height <= 256);
                    assert!(width * (wide - 1) < encoder.size);
                    assert!(high == 1 || height * high >= encoder.size);
                }
            }
        }
    }
}

#[test]
fn defaults_are_modest() {
    for workload in workloads() {
        let plan = WorkloadPlan::for_workload(workload, &WorkloadSettings::default()).unwrap();
        assert!(plan.memory_bytes() <= 256 << 20, "{workload:?}");
        assert!(plan.warm_up >= 2, "{workload:?} has no steps to capture");
        // Assumes an M1's 68 GB/s, and half a millisecond to wait for each command buffer, or
        // a fourth of that in flight.
        let waits = plan.total().command_buffers * 500_000 / plan.in_flight;
        let moves = plan.total().bytes / 68;
        assert!(waits + moves < 4_000_000_000, "{workload:?} takes minutes");
    }
}

#[test]
fn impossible_settings_are_refused() {
    let refused =
        |name: &str, settings: WorkloadSettings| WorkloadPlan::new(name, &settings).unwrap_err();
    let error = refused("eeger", WorkloadSettings::default());
    assert!(error.kind() == FailureKind::Misuse && error.hint().unwrap().contains("eager, fused"));
    for (size, count, warm_up) in [
        (Some(0), None, None),
        (Some(u64::MAX), None, None),
        (None, Some(0), None),
        (None, Some(u64::MAX), None),
        (None, None, Some(u64::MAX)),
    ] {
        for workload in workloads() {
            let settings = WorkloadSettings {
                size,
                count,
                warm_up,
            };
            let error = refused(workload.name(), settings);
            assert!(matches!(error, Error::Setting { .. }), "{error}");
        }
    }

    // The largest settings do not overflow the totals.
    for workload in workloads() {
        let greatest = (4..40).rev().find_map(|bits| {
            let settings = WorkloadSettings {
                size: Some(1 << bits),
                count: Some(10_000_000),
                warm_up: Some(10_000_000),
            };
            WorkloadPlan::for_workload(workload, &settings).ok()
        });
        assert!(greatest.unwrap().total().bytes > 0);
    }
}

/// Every workload runs and is correct on a Mac with a GPU. Elsewhere the error says why it
/// cannot run.
#[test]
fn runs_as_planned_or_says_why_not() {
    for workload in workloads() {
        let plan = plan(workload.name(), 40, 3, 2);
        let run = match run(&plan, &Options::default()) {
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
        let planned: Vec<_> = plan.command_buffers().map(|(phase, _)| phase).collect();
        let found: Vec<_> = run.buffers.iter().map(|buffer| buffer.phase).collect();
        assert_eq!(found, planned, "{workload:?}");
        assert!(
            run.buffers
                .iter()
                .all(|buffer| buffer.start_ns <= buffer.end_ns)
        );
        assert!(!run.checked.is_empty() && run.measured_ns > 0);
        eprintln!("{workload:?} ran on {}: {:?}", run.device, run.notes);
    }
}
