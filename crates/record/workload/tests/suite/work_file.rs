//! Tests `work.json`: it matches its schema, and the analyzer can read it.

use std::path::Path;

use metalens_analyzer::WorkFile as ReadWorkFile;
use metalens_workload::{
    BufferTime, CheckedArray, Phase, SIMULATED, WorkFile, WorkloadPlan, WorkloadRun, workloads,
};
use serde_json::Value;

/// Returns a run as on a Mac: each command buffer 10 µs after the one before.
fn run(plan: &WorkloadPlan) -> WorkloadRun {
    let time = |at: u64| BufferTime {
        phase: if at < plan.warm_up * plan.step.len() as u64 {
            Phase::WarmUp
        } else {
            Phase::Measured
        },
        start_ns: 1_000_000_000 + at * 10_000,
        end_ns: 1_000_004_000 + at * 10_000,
    };
    WorkloadRun {
        device: "Apple M1".to_owned(),
        buffers: (0..plan.command_buffers()).map(time).collect(),
        measured_ns: 123_456,
        checked: vec![CheckedArray {
            array: "result",
            elements: 40,
            compared: 40,
            worst_difference: 1e-7,
        }],
        notes: vec!["a note".to_owned()],
    }
}

fn schema() -> jsonschema::Validator {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/work.schema.json");
    let text = std::fs::read_to_string(file).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[test]
fn the_analyzer_reads_it() {
    let (schema, folder) = (schema(), tempfile::tempdir().unwrap());
    for workload in workloads() {
        let plan = WorkloadPlan::of_size(workload, 40, Some(80)).unwrap();
        let run = run(&plan);
        for run in [None, Some(&run)] {
            let file = folder.path().join("work.json");
            WorkFile::new(&plan, run).write(&file, true).unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            assert!(schema.is_valid(&value), "{text}");

            let read = ReadWorkFile::parse(&text, "work.json").unwrap();
            for (entry, dispatch) in read.work.iter().zip(&plan.step) {
                assert_eq!(entry.label, dispatch.kernel.name());
                assert_eq!(entry.operations, Some(1));
                assert_eq!(entry.bytes, Some(dispatch.amounts().bytes));
                assert_eq!(entry.flops, dispatch.amounts().flops);
            }
            assert_eq!(read.work.len(), plan.step.len());

            let device = run.map_or(SIMULATED, |_| "Apple M1");
            assert_eq!(read.device.as_deref(), Some(device));
            assert_eq!(read.is_simulated(), run.is_none());
            let program = read.program.unwrap();
            let each = 82 * plan.step.len() as u64;
            for what in ["command_buffers", "encoders", "dispatches"] {
                assert_eq!(program["whole"][what], each, "{what}");
            }
            let labels = program["labels"].as_array().unwrap();
            assert_eq!(labels.len(), plan.step.len());
            assert!(labels.iter().all(|label| label["encoders"] == 82));
            let measured = run.map(|run| run.measured_ns);
            assert_eq!(program["measured_ns"].as_u64(), measured);
        }
    }
}
