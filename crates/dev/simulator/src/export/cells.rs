//! Defines the traits that tables are written through: cells of known kinds, in rows, on a sheet.
//! An export and a bundle both implement them, so that they have the same content.

use super::functions::Stack;
use crate::error::Error;
use crate::plan::{Plan, ProcessIndex};
use crate::scenario::kinds::Generation;

/// Id of the only GPU.
pub(crate) const ACCELERATOR_ID: u64 = 1_024;

/// A table that is written row by row, to XML or to a bundle.
pub(crate) trait Sheet<'a> {
    /// Type that takes the cells of a row.
    type Cells: Cells;

    /// Returns the run that the table is about.
    fn plan(&self) -> &'a Plan;

    /// Returns the generation of the format.
    fn generation(&self) -> Generation;

    /// Writes one row; `fill` writes its cells.
    fn row(&mut self, fill: impl FnOnce(&mut Self::Cells)) -> Result<(), Error>;

    /// Returns the type of commit ids in this generation.
    fn commit_id(&self) -> Number {
        match self.generation() {
            Generation::Xcode27 => Number::Uint64,
            Generation::Xcode16 | Generation::Xcode26 => Number::Uint32,
        }
    }
}

/// A row that takes cells from left to right.
pub(crate) trait Cells {
    /// Writes a cell without a value (NULL).
    fn nothing(&mut self);

    /// Writes a number of the given type.
    fn number(&mut self, kind: Number, value: u64);

    /// Writes a percentage, given in billionths of a percent.
    fn percent(&mut self, billionths: u64);

    /// Writes a text of the given type.
    fn text(&mut self, kind: Text, value: &str);

    /// Writes the name and id of a process.
    fn process(&mut self, process: ProcessIndex);

    /// Writes the only thread of a process.
    fn thread(&mut self, process: ProcessIndex);

    /// Writes a label that later rows may repeat.
    fn label(&mut self, tag: &'static str, parts: &[Part<'_>]);

    /// Writes a label that no later row repeats.
    fn label_once(&mut self, tag: &'static str, parts: &[Part<'_>]);

    /// Writes a call stack, innermost frame first.
    fn stack(&mut self, stack: &Stack<'_>);

    /// Writes a process, or NULL.
    fn process_if(&mut self, process: Option<ProcessIndex>) {
        match process {
            Some(process) => self.process(process),
            None => self.nothing(),
        }
    }
}

/// Engineering types whose values are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    StartTime,
    EventTime,
    Duration,
    Uint32,
    Uint64,
    CommandBufferId,
    EncoderId,
    NestingLevel,
    Frame,
    ConnectionUuid,
    Color,
    SizeInBytes,
    HardwareTraceId,
    Pid,
    Tid,
    Boolean,
    SampleTime,
    Weight,
    Core,
    SignpostId,
    /// A decimal number, given in billionths.
    FixedDecimal,
    Priority,
}

/// Engineering types whose values are plain texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    String,
    Narrative,
    ObjectLabel,
    ChannelName,
    GpuState,
    DeviceName,
    EventName,
    Event,
    DriverName,
    DeviceSession,
    PerformanceState,
    ThermalState,
    ThreadState,
    EventType,
    SignpostName,
    FormatString,
    Subsystem,
    Category,
    HangType,
    CounterName,
    MemoryEvent,
    AllocationEvent,
    MpsEvent,
    AneEvent,
    GpuEventName,
}

/// A part of a composite label.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'p> {
    Number(Number, u64),
    Text(Text, &'p str),
    Process(ProcessIndex),
    Thread(ProcessIndex),
    /// Placeholder for a missing process.
    NoProcess,
}

/// Tag of a `formatted-label`, made of parts.
pub(crate) const FORMATTED_LABEL: &str = "formatted-label";
/// Tag of a `narrative`, made of parts.
pub(crate) const NARRATIVE: &str = "narrative";

impl Number {
    /// Returns the engineering type as XML names it.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::StartTime => "start-time",
            Self::EventTime => "event-time",
            Self::Duration => "duration",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::CommandBufferId => "metal-command-buffer-id",
            Self::EncoderId => "metal-encoder-id",
            Self::NestingLevel => "metal-nesting-level",
            Self::Frame => "gpu-frame-number",
            Self::ConnectionUuid => "connection-uuid64",
            Self::Color => "render-buffer-depth",
            Self::SizeInBytes => "size-in-bytes",
            Self::HardwareTraceId => "gpu-hardware-trace",
            Self::Pid => "pid",
            Self::Tid => "tid",
            Self::Boolean => "boolean",
            Self::SampleTime => "sample-time",
            Self::Weight => "weight",
            Self::Core => "core",
            Self::SignpostId => "os-signpost-identifier",
            Self::FixedDecimal => "fixed-decimal",
            Self::Priority => "metal-workload-priority",
        }
    }
}

impl Text {
    /// Returns the engineering type as XML names it.
    pub(crate) const fn tag(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Narrative => "narrative-text",
            Self::ObjectLabel => "metal-object-label",
            Self::ChannelName => "gpu-channel-name",
            Self::GpuState => "gpu-state",
            Self::DeviceName => "metal-device-name",
            Self::EventName => "metal-event-name",
            Self::Event => "metal-event",
            Self::DriverName => "gpu-driver-name",
            Self::DeviceSession => "device-session",
            Self::PerformanceState => "gpu-performance-state",
            Self::ThermalState => "thermal-state",
            Self::ThreadState => "thread-state",
            Self::EventType => "event-type",
            Self::SignpostName => "signpost-name",
            Self::FormatString => "format-string",
            Self::Subsystem => "subsystem",
            Self::Category => "category",
            Self::HangType => "hang-type",
            Self::CounterName => "gpu-counter-name",
            Self::MemoryEvent => "metal-memory-level-event",
            Self::AllocationEvent => "gpu-memory-event-name",
            Self::MpsEvent => "mps-event-name",
            Self::AneEvent => "ane-event-name",
            Self::GpuEventName => "gpu-event-name",
        }
    }
}
