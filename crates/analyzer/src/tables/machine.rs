//! What else the machine did: states, memory, driver, compiler, trouble, display.

use metalens_trace::{Integers, Table};

use super::columns::{Column, Either, OrNull, Processes, Spans, Texts, columns};
use super::reader::TableReader;

/// The GPU's performance states, by name.
pub(crate) const PERFORMANCE: TableReader<NamedStates> = TableReader {
    schema: "gpu-performance-state-intervals",
    columns: &[
        "start",
        "duration",
        "gpu-performance-state",
        "is-induced",
        "narrative",
    ],
    read: |table| NamedStates::read(table, "gpu-performance-state"),
};

/// The GPU's performance states, by number.
pub(crate) const DEVICE: TableReader<NumberedStates> =
    NumberedStates::of_table("gpu-performance-device-state-intervals");

/// The device's thermal states.
pub(crate) const THERMAL: TableReader<NamedStates> = TableReader {
    schema: "device-thermal-state-intervals",
    columns: &["start", "duration", "thermal-state", "is-induced"],
    read: |table| NamedStates::read(table, "thermal-state"),
};

/// Each process's allocated size, a row per change.
pub(crate) const ALLOCATED: TableReader<AllocatedSizes> =
    AllocatedSizes::of_table("metal-current-allocated-size");

/// The machine's wired memory, a row per change.
pub(crate) const WIRED: TableReader<WiredSizes> =
    WiredSizes::of_table("metal-wired-sysmem-level-interval");

/// The driver's work on command buffers and encoders.
pub(crate) const DRIVER_INTERVALS: TableReader<DriverWork> =
    DriverWork::of_table("metal-driver-intervals");

/// The driver's other events.
pub(crate) const DRIVER_EVENTS: TableReader<DriverWork> =
    DriverWork::of_table("metal-driver-event-intervals");

/// The shader compiler's work.
pub(crate) const SHADER_COMPILES: TableReader<OwnedSpans> =
    OwnedSpans::of_table("graphics-compiler-activity-intervals");

/// When a program did not respond.
pub(crate) const HANGS: TableReader<OwnedSpans> = OwnedSpans::of_table("potential-hangs");

/// Calls that risk it.
pub(crate) const HANG_RISKS: TableReader<HangRisks> = HangRisks::of_table("hang-risks");

/// Command buffers that failed.
pub(crate) const BUFFER_ERRORS: TableReader<BufferErrors> =
    BufferErrors::of_table("metal-command-buffer-error");

/// Who puts the screen together.
pub(crate) const COMPOSITOR: TableReader<Compositors> =
    Compositors::of_table("metal-known-compositor-process");

/// The display's refreshes.
pub(crate) const VSYNCS: TableReader<Vsyncs> = Vsyncs::of_table("display-vsyncs-interval");

/// What was on the display.
pub(crate) const SURFACES: TableReader<Surfaces> =
    Surfaces::of_table("displayed-surfaces-interval");

/// States that have names.
#[derive(Debug)]
pub(crate) struct NamedStates {
    pub states: Texts,
    pub spans: Spans,
    /// 1 is induced.
    pub induced: OrNull<Integers>,
    pub narratives: OrNull<Texts>,
}

impl NamedStates {
    fn read(table: &mut Table, column: &str) -> metalens_trace::Result<Self> {
        Ok(Self {
            states: table.take_texts(column)?,
            spans: Spans::take(table, "start")?,
            induced: Column::take(table, "is-induced")?,
            narratives: Column::take(table, "narrative")?,
        })
    }
}

columns! {
    /// States whose numbers are the chip's own.
    struct NumberedStates {
        states: Integers = "state",
        spans: Spans = "start" and "duration",
    }
}

columns! {
    /// Sizes that processes have allocated from a time on.
    struct AllocatedSizes {
        starts: Integers = "start",
        sizes: Integers = "current-allocated-size",
        processes: Processes = "process",
    }
}

columns! {
    /// Sizes that were wired for some time.
    struct WiredSizes {
        sizes: Integers = "bytes",
        spans: Spans = "start" and "duration",
    }
}

columns! {
    /// Spans of processes.
    struct OwnedSpans {
        processes: Processes = "process",
        spans: Spans = "start" and "duration",
    }
}

columns! {
    /// Spans of processes, each of a type.
    struct DriverWork {
        processes: Processes = "process",
        spans: Spans = "start" and "duration",
        types: OrNull<Texts> = "event-type",
    }
}

columns! {
    /// Moments of processes.
    struct HangRisks {
        times: Integers = "time",
        processes: Processes = "process",
    }
}

columns! {
    /// Command buffers that failed.
    struct BufferErrors {
        buffer_ids: Integers = "cmdbuffer-id",
        codes: OrNull<Integers> = "error-code",
    }
}

columns! {
    /// Names of compositors, or numbers in their place.
    struct Compositors {
        names: Either<Texts, Integers> = "compositor-name",
    }
}

columns! {
    /// Moments at which some display was refreshed.
    struct Vsyncs {
        times: Integers = "timestamp",
    }
}

columns! {
    /// Spans for which a surface was on some display.
    struct Surfaces {
        spans: Spans = "start" and "duration",
    }
}
