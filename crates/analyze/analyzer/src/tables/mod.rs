//! Takes a trace apart: every table that the analysis reads becomes a type of its own.
//!
//! [`take`] takes a trace apart once. Later stages are functions of its result, so that the
//! compiler knows their order. They take ownership of large tables, so that each table's memory
//! is freed after its use. Columns are moved, never copied.
//!
//! A table is `Ok`, or an [`AbsentTable`] with the reason why there is none: absent is never empty,
//! and null is never zero.

pub(crate) mod allocations;
pub(crate) mod columns;
pub(crate) mod commands;
pub(crate) mod counters;
pub(crate) mod cpu;
pub(crate) mod engines;
pub(crate) mod gpu;
pub(crate) mod heap;
pub(crate) mod machine;
pub(crate) mod names;
pub(crate) mod raw;
pub(crate) mod reader;
pub(crate) mod recording;
pub(crate) mod signposts;
pub(crate) mod times;

use metalens_trace::{Selection, Trace};

use self::allocations::AllocationTables;
use self::commands::{ChainTables, ListedTables, RecoveryTables};
use self::counters::CounterTables;
use self::engines::EngineTables;
use self::gpu::GpuTables;
use self::heap::HeapTables;
use self::machine::MachineTables;
use self::names::NameTables;
use self::reader::{TableRequest, TableResult};
use self::recording::Recording;
use crate::error::Result;

/// Tables that the analysis reads, in the order of their use.
pub(crate) struct Tables {
    /// Intervals and states of the GPU.
    pub gpu: GpuTables,
    /// Raw events, if the intervals are not recorded.
    pub raw: RawTables,
    /// Phases that programs named.
    pub signposts: SignpostTables,
    /// Encodings, commits and completions of command buffers.
    pub commands: CommandTables,
    /// Sources of kernel names besides labels.
    pub names: NameTables,
    /// Encoders that ran code with spilled registers.
    pub spills: TableResult<names::SpillEvents>,
    /// Tables of the other parts of a report.
    pub surroundings: SurroundingTables,
}

/// Tables of encodings, commits and completions of command buffers.
pub(crate) struct CommandTables {
    pub listed: ListedTables,
    pub recovery: RecoveryTables,
    pub chain: ChainTables,
}

/// Tables of raw events; there is one table of them per set of codes.
pub(crate) struct RawTables {
    pub events: Vec<TableResult<raw::KernelEvents>>,
    pub clock: TableResult<raw::Clock>,
}

impl RawTables {
    /// Tables and columns to load.
    const WANTED: [TableRequest; 2] = [raw::KERNEL_EVENTS.wanted(), raw::CLOCK.wanted()];
}

/// Tables of the phases that programs named; there is one table of events per set of
/// subsystems.
pub(crate) struct SignpostTables {
    pub events: Vec<TableResult<signposts::SignpostEvents>>,
    pub intervals: Vec<TableResult<signposts::SignpostIntervals>>,
}

/// Tables of the other parts of a report.
pub(crate) struct SurroundingTables {
    pub machine: MachineTables,
    pub allocations: AllocationTables,
    pub heap: HeapTables,
    pub counters: CounterTables,
    pub engines: EngineTables,
    /// CPU samples; `None` if no table of them has rows.
    pub cpu: Option<cpu::CpuTable>,
    /// Shaders without times.
    pub shader_list: TableResult<names::ShaderList>,
}

/// Takes a trace apart. Rejects it if a main table has impossible times.
pub(crate) fn take(mut trace: Trace) -> Result<(Recording, Tables)> {
    // Later stages add times up without checks for overflow.
    let outside = times::check(&mut trace)?;
    let recording = Recording::new(&mut trace, outside, &read_once());

    let trace = &mut trace;
    let tables = Tables {
        gpu: GpuTables::take(trace),
        raw: RawTables {
            events: raw::KERNEL_EVENTS.take_all(trace),
            clock: raw::CLOCK.take(trace),
        },
        signposts: SignpostTables {
            events: signposts::SIGNPOST_EVENTS.take_all(trace),
            intervals: signposts::SIGNPOST_INTERVALS.take_all(trace),
        },
        commands: CommandTables {
            listed: ListedTables::take(trace),
            recovery: RecoveryTables::take(trace),
            chain: ChainTables::take(trace),
        },
        names: NameTables::take(trace),
        spills: names::SPILL_EVENTS.take(trace),
        surroundings: SurroundingTables {
            machine: MachineTables::take(trace),
            allocations: AllocationTables::take(trace),
            heap: HeapTables::take(trace),
            counters: CounterTables::take(trace),
            engines: EngineTables::take(trace),
            cpu: cpu::CpuTable::take(trace),
            shader_list: names::SHADER_LIST.take(trace),
        },
    };
    Ok((recording, tables))
}

/// Tables without which an analysis has fewer parts. Of each one is read, even if there are several.
const OPTIONAL: [&[TableRequest]; 8] = [
    NameTables::WANTED,
    MachineTables::WANTED,
    AllocationTables::WANTED,
    HeapTables::WANTED,
    CounterTables::WANTED,
    EngineTables::WANTED,
    &cpu::SAMPLES,
    &[names::SHADER_LIST.wanted(), names::SPILL_EVENTS.wanted()],
];

/// Returns the names of the tables of which one is read, even if there are several.
fn read_once() -> Vec<&'static str> {
    let listed = [ListedTables::WANTED, RecoveryTables::WANTED];
    let tables = GpuTables::WANTED.iter().chain(listed.into_iter().flatten());
    let tables = tables.chain(OPTIONAL.into_iter().flatten());
    tables.map(|&(name, _)| name).collect()
}

/// Returns the tables and columns that an analysis reads. Those that the main figures need must
/// be readable; others are left out with a note if they are not.
pub fn selection() -> Selection {
    Selection::columns(&[GpuTables::WANTED, ListedTables::WANTED].concat())
        .and_if_readable(ChainTables::WANTED)
        .and_if_readable(&OPTIONAL.concat())
        .and_if_readable(&[
            signposts::SIGNPOST_EVENTS.wanted(),
            signposts::SIGNPOST_INTERVALS.wanted(),
        ])
        .with_labels_unnumbered()
}

/// Returns the tables of [`selection`], and those that contain encodings that the encoder list
/// lost: they are as large as the list, and seldom needed.
pub fn selection_with_recovery() -> Selection {
    selection().and_if_readable(RecoveryTables::WANTED)
}

/// Returns the tables of [`selection_with_recovery`], and the raw events from which GPU intervals
/// can be computed. There may be millions, and only a recording without its table of GPU intervals
/// needs them.
pub fn selection_with_raw_events() -> Selection {
    selection_with_recovery().and_if_readable(&RawTables::WANTED)
}

/// Returns the tables and columns of CPU samples.
pub fn stacks_selection() -> Selection {
    Selection::columns(&cpu::SAMPLES)
}
