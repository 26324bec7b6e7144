//! What else the machine did: states, memory, driver, compiler, trouble, display.

use metalens_trace::{Integers, Table};

use super::columns::{Processes, Spans, Texts};
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
pub(crate) const DEVICE: TableReader<NumberedStates> = TableReader {
    schema: "gpu-performance-device-state-intervals",
    columns: &["start", "duration", "state"],
    read: NumberedStates::read,
};

/// The device's thermal states.
pub(crate) const THERMAL: TableReader<NamedStates> = TableReader {
    schema: "device-thermal-state-intervals",
    columns: &["start", "duration", "thermal-state", "is-induced"],
    read: |table| NamedStates::read(table, "thermal-state"),
};

/// Each process's allocated size, a row per change.
pub(crate) const ALLOCATED: TableReader<AllocatedSizes> = TableReader {
    schema: "metal-current-allocated-size",
    columns: &["start", "process", "current-allocated-size"],
    read: AllocatedSizes::read,
};

/// The machine's wired memory, a row per change.
pub(crate) const WIRED: TableReader<WiredSizes> = TableReader {
    schema: "metal-wired-sysmem-level-interval",
    columns: &["start", "duration", "bytes"],
    read: WiredSizes::read,
};

/// The driver's work on command buffers and encoders.
pub(crate) const DRIVER_INTERVALS: TableReader<DriverWork> = TableReader {
    schema: "metal-driver-intervals",
    columns: &["start", "duration", "event-type", "process"],
    read: DriverWork::read,
};

/// The driver's other events.
pub(crate) const DRIVER_EVENTS: TableReader<DriverWork> = TableReader {
    schema: "metal-driver-event-intervals",
    columns: &["start", "duration", "event-type", "process"],
    read: DriverWork::read,
};

/// The shader compiler's work.
pub(crate) const SHADER_COMPILES: TableReader<OwnedSpans> = TableReader {
    schema: "graphics-compiler-activity-intervals",
    columns: &["start", "duration", "process"],
    read: OwnedSpans::read,
};

/// When a program did not respond.
pub(crate) const HANGS: TableReader<OwnedSpans> = TableReader {
    schema: "potential-hangs",
    columns: &["start", "duration", "process"],
    read: OwnedSpans::read,
};

/// Calls that risk it.
pub(crate) const HANG_RISKS: TableReader<HangRisks> = TableReader {
    schema: "hang-risks",
    columns: &["time", "process"],
    read: HangRisks::read,
};

/// Command buffers that failed.
pub(crate) const BUFFER_ERRORS: TableReader<BufferErrors> = TableReader {
    schema: "metal-command-buffer-error",
    columns: &["cmdbuffer-id", "error-code"],
    read: BufferErrors::read,
};

/// Who puts the screen together.
pub(crate) const COMPOSITOR: TableReader<Compositor> = TableReader {
    schema: "metal-known-compositor-process",
    columns: &["compositor-name"],
    read: Compositor::read,
};

/// The display's refreshes.
pub(crate) const VSYNCS: TableReader<Vsyncs> = TableReader {
    schema: "display-vsyncs-interval",
    columns: &["timestamp"],
    read: Vsyncs::read,
};

/// What was on the display.
pub(crate) const SURFACES: TableReader<Spans> = TableReader {
    schema: "displayed-surfaces-interval",
    columns: &["start", "duration"],
    read: Spans::read,
};

/// States that have names.
#[derive(Debug)]
pub(crate) struct NamedStates {
    pub states: Texts,
    pub spans: Spans,
    /// 1 is induced.
    pub induced: Integers,
    pub narratives: Texts,
}

impl NamedStates {
    fn read(table: &mut Table, column: &str) -> metalens_trace::Result<Self> {
        Ok(Self {
            states: table.take_texts(column)?,
            spans: Spans::read(table)?,
            induced: table.take_integers("is-induced").unwrap_or_default(),
            narratives: table.take_texts("narrative").unwrap_or_default(),
        })
    }
}

/// States whose numbers are the chip's own.
#[derive(Debug)]
pub(crate) struct NumberedStates {
    pub states: Integers,
    pub spans: Spans,
}

impl NumberedStates {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            states: table.take_integers("state")?,
            spans: Spans::read(table)?,
        })
    }
}

/// Sizes that processes have allocated from a time on.
#[derive(Debug)]
pub(crate) struct AllocatedSizes {
    pub starts: Integers,
    pub sizes: Integers,
    pub processes: Processes,
}

impl AllocatedSizes {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            starts: table.take_integers("start")?,
            sizes: table.take_integers("current-allocated-size")?,
            processes: table.take_processes("process")?,
        })
    }
}

/// Sizes that were wired for some time.
#[derive(Debug)]
pub(crate) struct WiredSizes {
    pub sizes: Integers,
    pub spans: Spans,
}

impl WiredSizes {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            sizes: table.take_integers("bytes")?,
            spans: Spans::read(table)?,
        })
    }
}

/// Spans of processes.
#[derive(Debug)]
pub(crate) struct OwnedSpans {
    pub processes: Processes,
    pub spans: Spans,
}

impl OwnedSpans {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            processes: table.take_processes("process")?,
            spans: Spans::read(table)?,
        })
    }
}

/// Spans of processes, each of a type.
#[derive(Debug)]
pub(crate) struct DriverWork {
    pub rows: OwnedSpans,
    pub types: Texts,
}

impl DriverWork {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            rows: OwnedSpans::read(table)?,
            types: table.take_texts("event-type").unwrap_or_default(),
        })
    }
}

/// Moments of processes.
#[derive(Debug)]
pub(crate) struct HangRisks {
    pub times: Integers,
    pub processes: Processes,
}

impl HangRisks {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            times: table.take_integers("time")?,
            processes: table.take_processes("process")?,
        })
    }
}

/// Command buffers that failed.
#[derive(Debug)]
pub(crate) struct BufferErrors {
    pub buffer_ids: Integers,
    pub codes: Integers,
}

impl BufferErrors {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            buffer_ids: table.take_integers("cmdbuffer-id")?,
            codes: table.take_integers("error-code").unwrap_or_default(),
        })
    }
}

/// Names of compositors; some exports have numbers in their place.
#[derive(Debug)]
pub(crate) enum Compositor {
    Names(Texts),
    Numbers(Integers),
}

impl Compositor {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        let column = "compositor-name";
        let names = table.take_texts(column).map(Self::Names);
        names.or_else(|_| table.take_integers(column).map(Self::Numbers))
    }
}

/// Moments at which some display was refreshed.
#[derive(Debug)]
pub(crate) struct Vsyncs {
    pub times: Integers,
}

impl Vsyncs {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            times: table.take_integers("timestamp")?,
        })
    }
}
