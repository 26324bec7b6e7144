//! What a table is made of: cells of known kinds, in rows, on a sheet. The tables are written
//! against the two traits here, so an export and a bundle cannot differ in content.

use super::functions::Stack;
use crate::error::Error;
use crate::plan::{Plan, ProcessIndex};
use crate::scenario::Generation;
use crate::scenario::recording::Recording;

/// A table being written row by row, wherever the rows go.
pub(super) trait Sheet<'a> {
    /// Takes the cells of a row.
    type Cells: Cells;

    /// The run it is about.
    fn plan(&self) -> &'a Plan;

    /// The recording it is about.
    fn recording(&self) -> &'a Recording;

    /// Whose format is written.
    fn generation(&self) -> Generation;

    /// Writes one row; `fill` writes its cells.
    fn row(&mut self, fill: impl FnOnce(&mut Self::Cells)) -> Result<(), Error>;

    /// The type commit ids have in this generation.
    fn commit_id(&self) -> Number {
        match self.generation() {
            Generation::Xcode27 => Number::Uint64,
            Generation::Xcode16 | Generation::Xcode26 => Number::Uint32,
        }
    }
}

/// The cells of a row, from left to right.
pub(super) trait Cells {
    /// NULL.
    fn nothing(&mut self);

    /// A number.
    fn number(&mut self, kind: Number, value: u64);

    /// A text.
    fn text(&mut self, kind: Text, value: &str);

    /// A process.
    fn process(&mut self, process: ProcessIndex);

    /// A process's one thread.
    fn thread(&mut self, process: ProcessIndex);

    /// A label that later rows may repeat.
    fn label(&mut self, tag: &'static str, parts: &[Part<'_>]);

    /// A label that no later row repeats.
    fn label_once(&mut self, tag: &'static str, parts: &[Part<'_>]);

    /// A call stack, innermost frame first.
    fn stack(&mut self, stack: &Stack<'_>);

    /// A process, or NULL.
    fn process_if(&mut self, process: Option<ProcessIndex>) {
        match process {
            Some(process) => self.process(process),
            None => self.nothing(),
        }
    }
}

/// Engineering types whose values are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
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
    Pid,
    Tid,
    Boolean,
    SampleTime,
    Weight,
    Core,
    SignpostId,
    FixedDecimal,
    Priority,
}

/// Engineering types whose values are plain texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
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
    GpuEventName,
}

/// One part of a composite label.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'p> {
    Number(Number, u64),
    Text(Text, &'p str),
    Process(ProcessIndex),
    Thread(ProcessIndex),
    /// Where a process would stand.
    Nobody,
}

/// `formatted-label`, made of parts.
pub(super) const FORMATTED_LABEL: &str = "formatted-label";
/// `narrative`, made of parts.
pub(super) const NARRATIVE: &str = "narrative";

impl Number {
    /// The engineering type as XML names it.
    pub(super) const fn tag(self) -> &'static str {
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
    /// The engineering type as XML names it.
    pub(super) const fn tag(self) -> &'static str {
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
            Self::GpuEventName => "gpu-event-name",
        }
    }
}
