//! Tests `work.json`: it matches its schema, and the analyzer can read it.

use std::path::Path;

use metalens_analyzer::WorkFile as ReadWorkFile;
use metalens_workload::{
    BufferTime, CheckedArray, ClockPair, Phase, SIMULATED, WorkDocument, WorkFile, WorkloadPlan,
    WorkloadRun, workloads,
};
use serde_json::Value;

use super::plan;

/// Returns a run as on a Mac: each command buffer 10 µs after the one before.
fn run(plan: &WorkloadPlan) -> WorkloadRun {
    let time = |(at, (phase, _)): (u64, (Phase, _))| BufferTime {
        phase,
        start_ns: 1_000_000_000 + at * 10_000,
        end_ns: 1_000_004_000 + at * 10_000,
    };
    WorkloadRun {
        device: "Apple M1".to_owned(),
        buffers: (0..).zip(plan.command_buffers()).map(time).collect(),
        measured_ns: 123_456,
        clocks: vec![ClockPair { cpu: 1, gpu: 2 }],
        counters: Vec::new(),
        checked: vec![CheckedArray {
            array: "result",
            elements: 40,
            bytes: 160,
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
        let plan = plan(workload.name(), 40, 3, 2);
        let run = run(&plan);
        for run in [None, Some(&run)] {
            let file = folder.path().join("work.json");
            WorkFile::new(&plan, run).write(&file, true).unwrap();
            let text = std::fs::read_to_string(&file).unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            assert!(schema.is_valid(&value), "{text}");

            let read = ReadWorkFile::parse(&text, "work.json").unwrap();
            for (entry, label) in read.work.iter().zip(plan.labels()) {
                assert_eq!(entry.label, label.label);
                assert_eq!(entry.operations, Some(label.dispatches_per_encoder));
                assert_eq!(entry.bytes, Some(label.per_encoder.bytes));
                assert_eq!(entry.flops, label.per_encoder.flops);
            }
            assert_eq!(read.work.len(), plan.labels().len());

            let buffers = run.map_or(0, |run| run.buffers.len());
            assert_eq!(read.timings.len(), buffers);
            let numbers = (0..).zip(&read.timings);
            assert!(
                numbers
                    .into_iter()
                    .all(|(at, timing)| timing.command_buffer == Some(at))
            );

            let device = run.map_or(SIMULATED, |_| "Apple M1");
            assert_eq!(read.device.as_deref(), Some(device));
            assert_eq!(read.is_simulated(), run.is_none());
            let program = read.program.unwrap();
            let document =
                serde_json::to_value(WorkDocument::new(&plan, run, run.is_none())).unwrap();
            assert_eq!(program["labels"], document["labels"]);
            assert_eq!(
                program["run"]["measured_ns"],
                document["run"]["measured_ns"]
            );
            // The times are in the file's own list instead.
            assert_eq!(program["run"]["timings"], Value::Null);
        }
    }
}

#[test]
fn the_document_counts_like_the_plan() {
    let plan = plan("mixed", 256, 3, 2);
    let run = run(&plan);
    let document = serde_json::to_value(WorkDocument::new(&plan, Some(&run), false)).unwrap();
    assert_eq!(document["whole"]["command_buffers"], 5 * 3);
    assert_eq!(document["measured"]["dispatches"], 3 * 21);
    let labels = document["labels"].as_array().unwrap();
    let sum: u64 = labels
        .iter()
        .map(|label| label["dispatches"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, 5 * 21);
    assert_eq!(document["run"]["timings"].as_array().unwrap().len(), 15);
    assert_eq!(document["run"]["timings"][14]["label"], "mixed step");
    assert_eq!(
        (&document["ran"], &document["simulated"]),
        (&true.into(), &false.into())
    );

    let planned = serde_json::to_value(WorkDocument::new(&plan, None, true)).unwrap();
    assert_eq!(planned["run"], Value::Null);
    assert_eq!(planned["simulated"], true);
    assert_eq!(planned["whole"], document["whole"]);
}
