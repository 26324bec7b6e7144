//! Tables of the machine's other activity: states, memory, driver, compiler, hangs, errors,
//! display.

use metalens_trace::{Integers, Table, Values};

use super::columns::{Either, Labels, OrNull, Processes, Spans, Texts, columns};
use super::reader::{TableReader, tables};

tables! {
    /// Tables of the machine's other activity.
    struct MachineTables {
        performance: NamedStates = PERFORMANCE,
        device: NumberedStates = DEVICE,
        thermal: NamedStates = THERMAL,
        allocated: AllocatedSizes = ALLOCATED,
        allocated_before: AllocatedSizes = ALLOCATED_BEFORE,
        wired: WiredSizes = WIRED,
        driver_intervals: DriverWork = DRIVER_INTERVALS,
        driver_events: OtherDriverWork = DRIVER_EVENTS,
        shader_compiles: OwnedSpans = SHADER_COMPILES,
        hangs: OwnedSpans = HANGS,
        buffer_errors: BufferErrors = BUFFER_ERRORS,
        compositor: Compositors = COMPOSITOR,
        vsyncs: Vsyncs = VSYNCS,
        surfaces: Surfaces = SURFACES,
        frame_rates: FrameRates = FRAME_RATES,
        cpu_loads: CpuLoads = CPU_LOADS,
    }
}

/// Table of the GPU's performance states, by name.
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

/// Table of the device's thermal states.
pub(crate) const THERMAL: TableReader<NamedStates> = TableReader {
    schema: "device-thermal-state-intervals",
    columns: &["start", "duration", "thermal-state", "is-induced"],
    read: |table| NamedStates::read(table, "thermal-state"),
};

/// Columns of a table of named states.
#[derive(Debug)]
pub(crate) struct NamedStates {
    pub states: Texts,
    pub spans: Spans,
    /// Flags of induced states; 1 means induced.
    pub induced: OrNull<Integers>,
    pub narratives: OrNull<Texts>,
}

impl NamedStates {
    fn read(table: &mut Table, column: &str) -> metalens_trace::Result<Self> {
        Ok(Self {
            states: Texts::take(table, column)?,
            spans: Spans::take(table, "start")?,
            induced: Values::take(table, "is-induced")?,
            narratives: Values::take(table, "narrative")?,
        })
    }
}

columns! {
    /// Table of the GPU's performance states, by number.
    table DEVICE = "gpu-performance-device-state-intervals";
    struct NumberedStates {
        states: Integers = "state",
        spans: Spans = "start" and "duration",
    }
}

columns! {
    /// Table of each process's allocated size, one row per change.
    table ALLOCATED = "metal-current-allocated-size";
    /// The same table before Instruments 16.
    table ALLOCATED_BEFORE = "metal-gpu-current-allocated-size";
    struct AllocatedSizes {
        starts: Integers = "start",
        sizes: Integers = "current-allocated-size",
        processes: Processes = "process",
    }
}

columns! {
    /// Table of the machine's wired memory, one row per change.
    table WIRED = "metal-wired-sysmem-level-interval";
    struct WiredSizes {
        sizes: Integers = "bytes",
        spans: Spans = "start" and "duration",
    }
}

columns! {
    /// Table of the shader compiler's work.
    table SHADER_COMPILES = "graphics-compiler-activity-intervals";
    /// Table of times when a program did not respond.
    table HANGS = "potential-hangs";
    struct OwnedSpans {
        processes: Processes = "process",
        spans: Spans = "start" and "duration",
    }
}

columns! {
    /// Table of the driver's work on command buffers and encoders.
    table DRIVER_INTERVALS = "metal-driver-intervals";
    struct DriverWork {
        processes: Processes = "process",
        spans: Spans = "start" and "duration",
        types: OrNull<Texts> = "event-type",
    }
}

columns! {
    /// Table of the driver's other events.
    table DRIVER_EVENTS = "metal-driver-event-intervals";
    struct OtherDriverWork {
        processes: Processes = "process",
        spans: Spans = "start" and "duration",
        types: OrNull<Texts> = "event-type",
        labels: OrNull<Labels> = "event-label",
    }
}

columns! {
    /// Table of command buffers that failed.
    table BUFFER_ERRORS = "metal-command-buffer-error";
    struct BufferErrors {
        buffer_ids: Integers = "cmdbuffer-id",
        codes: OrNull<Integers> = "error-code",
    }
}

columns! {
    /// Table of the process that composes the screen.
    table COMPOSITOR = "metal-known-compositor-process";
    struct Compositors {
        names: Either<Texts, Integers> = "compositor-name",
    }
}

columns! {
    /// Table of the display's refreshes.
    table VSYNCS = "display-vsyncs-interval";
    struct Vsyncs {
        times: Integers = "timestamp",
    }
}

columns! {
    /// Table of the surfaces on the display.
    table SURFACES = "displayed-surfaces-interval";
    struct Surfaces {
        spans: Spans = "start" and "duration",
    }
}

columns! {
    /// Table of a device's frames and of its GPU, as phones record them.
    table FRAME_RATES = "core-animation-fps-estimate";
    struct FrameRates {
        /// Frames per second.
        rates: Texts = "fps",
        /// Percentage of the GPU.
        utilization: OrNull<Texts> = "device-utilization",
    }
}

columns! {
    /// Table of the machine's processors, as the Activity Monitor records them.
    table CPU_LOADS = "activity-monitor-system";
    struct CpuLoads {
        /// Percentage of one processor.
        loads: Texts = "cpu-total-load",
    }
}
