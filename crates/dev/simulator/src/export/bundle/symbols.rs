//! Writes the names of the functions in stacks: an archive of symbols for the binary of each sampled
//! process, and the dynamic linker's events with the address of the binary.

use std::path::Path;

use super::file::{create_dir, write_file};
use super::raw_events::{Event, kdebug};
use super::spec::{Attribute, Input};
use crate::error::Error;
use crate::optional::Optional;
use crate::plan::{Plan, ProcessIndex};
use crate::scenario::Scenario;
use crate::sheet::functions::{self, FUNCTION_BYTES, LOAD_ADDRESS, TEXT_BYTES};
use crate::sheet::table;

/// Returns the linker's tables, which a recording has if a process is sampled.
pub(super) fn inputs(scenario: &Scenario) -> &'static [Input] {
    let has_samples = scenario
        .process
        .iter()
        .any(|process| process.samples.is_some() || !process.allocation.is_empty());
    if has_samples { &INPUTS } else { &[] }
}

const INPUTS: [Input; 2] = [
    Input {
        form: LOADS,
        attributes: &[("codes", Attribute::Codes(&["0x1f,0x05"]))],
    },
    Input {
        form: PATHS,
        attributes: &[("codes", Attribute::Codes(&["0x1f,0x05"]))],
    },
];

/// Class and subclass of the linker's events.
const CLASS: u64 = 0x1f;
const SUBCLASS: u64 = 5;

kdebug!(LOADS, loads);

/// Returns two events for each binary: its id and address, then the number of its path.
fn loads(plan: &Plan) -> impl Iterator<Item = Event> {
    sampled(plan).flat_map(|process| {
        let uuid = u128::from_le_bytes(functions::uuid(plan, process));
        let lower_half = |bits: u128| u64::try_from(bits & u128::from(u64::MAX)).unwrap_or(0);
        let (low, high) = (lower_half(uuid), lower_half(uuid >> 64));
        let event = |code, arguments| Event {
            at_ns: 2 * process.get() as u64 + code,
            process: Some(process),
            class: CLASS,
            subclass: SUBCLASS,
            code,
            arguments,
        };
        [
            event(0, [low, high, LOAD_ADDRESS, 0]),
            event(1, [0, path_number(process), 0, 0]),
        ]
    })
}

// The paths of the binaries of sampled processes.
table! {
    PATHS: "kdebug-strings", "";
    |plan, _| for process in sampled(plan) => {
        "time" "Timestamp" EventTime = process.get() as u64;
        "raw-string" "Raw String" RawString = &functions::path(plan, process);
        "raw-string-id" "Raw String ID" KdebugString = path_number(process);
        "class" "Class" KdebugClass = CLASS;
        "subclass" "Subclass" KdebugSubclass = SUBCLASS;
        "code" "Code" KdebugCode = 2_u64;
        "function" "Qualifier" KdebugFunction = 0_u64;
        "thread" "Thread" Thread = process;
        "core-index" "Core Index" Core;
    }
}

/// Returns the number of a path. 0 means no path.
const fn path_number(process: ProcessIndex) -> u64 {
    process.get() as u64 + 1
}

fn sampled(plan: &Plan) -> impl Iterator<Item = ProcessIndex> {
    (0..plan.processes.len())
        .map(ProcessIndex::at)
        .filter(|process| functions::functions(plan, *process).next().is_some())
}

/// Writes the archives of a run's sampled processes.
pub(super) fn write(bundle: &Path, plan: &Plan) -> Result<(), Error> {
    for process in sampled(plan) {
        let dir = create_dir(bundle.join("symbols/stores"))?;
        let uuid = functions::uuid(plan, process);
        let file = format!("{}.symbolsarchive", functions::shown_uuid(uuid));
        let symbols: Vec<_> = functions::functions(plan, process).collect();
        let bytes = archive(uuid, &symbols);
        write_file(&dir.join(file), |out| out.write_all(&bytes))?;
    }
    Ok(())
}

const VERSION: u32 = 7;
const ARM64: u32 = 0x0100_000c;
const HEADER_BYTES: usize = 0x60;
/// Offset of the id in the header.
const UUID_AT: usize = 0x34;

/// Returns the bytes of an archive: a header, one segment, no sections, the symbols, their names.
fn archive(uuid: [u8; 16], symbols: &[(&str, u64)]) -> Vec<u8> {
    let (mut table, mut names) = (Vec::new(), b"MACH_HEADER\0".to_vec());
    for (name, offset) in symbols {
        let name_at = word(names.len() as u64);
        names.extend_from_slice(name.as_bytes());
        names.push(0);

        let flags = 0;
        let fields = [
            word(*offset),
            word(FUNCTION_BYTES),
            flags,
            name_at,
            name_at,
            u32::MAX,
        ];
        for field in fields {
            table.extend_from_slice(&field.to_le_bytes());
        }
    }

    let mut bytes = vec![0; HEADER_BYTES];
    for part in [0, TEXT_BYTES] {
        bytes.extend_from_slice(&part.to_le_bytes());
    }
    bytes.extend_from_slice(b"__TEXT\0\0\0\0\0\0\0\0\0\0");
    bytes.extend_from_slice(&table);
    bytes.extend_from_slice(&names);

    let header = [
        (0, VERSION),
        (4, word(bytes.len() as u64)),
        (8, 1),
        (16, word(symbols.len() as u64)),
        (0x44, ARM64),
        (0x54, word(names.len() as u64)),
    ];
    for (offset, value) in header {
        bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
    }
    bytes[UUID_AT..UUID_AT + 16].copy_from_slice(&uuid);
    bytes
}

/// Converts a length, which fits because an archive here has few names.
fn word(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
