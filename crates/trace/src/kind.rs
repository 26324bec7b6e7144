//! What an engineering type is stored as.
//!
//! A table's schema names an engineering type for each column (`start-time`,
//! `metal-command-buffer-id`, …), and a cell's tag repeats it. There are
//! hundreds, and a new Xcode brings new ones. What matters here is only how the
//! value is kept: as a whole number, as text, or as one of the few composites.
//! A type that is not listed is kept as text, never guessed at.

/// How the values of an engineering type are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number: times and durations in ns, ids, sizes in bytes, counts.
    Integer,
    /// Text, or anything unknown: its text, else how it is displayed.
    Text,
    /// Name and pid.
    Process,
    /// Display name, tid, process.
    Thread,
    /// A formatted label: text, process, submission id.
    Label,
    /// A call stack.
    Stack,
    /// A frame of a call stack.
    Frame,
    /// The binary of a frame.
    Binary,
}

impl Kind {
    /// The kind of an engineering type.
    ///
    /// The numbers were checked on real exports of Instruments 26.0: their text
    /// is decimal whatever the display form is.
    #[must_use]
    pub fn of(engineering_type: &str) -> Self {
        match engineering_type {
            "start-time"
            | "event-time"
            | "sample-time"
            | "duration"
            | "weight"
            | "uint32"
            | "uint64"
            | "pid"
            | "tid"
            | "boolean"
            | "core"
            | "size-in-bytes"
            | "connection-uuid64"
            | "render-buffer-depth"
            | "metal-command-buffer-id"
            | "metal-encoder-id"
            | "metal-nesting-level"
            | "metal-workload-priority"
            | "gpu-frame-number"
            | "gpu-driver-surface"
            | "displayed-surface-swap"
            | "time-sample-kind"
            | "text-address" => Self::Integer,
            "process" => Self::Process,
            "thread" => Self::Thread,
            "formatted-label" => Self::Label,
            "backtrace" | "text-backtrace" | "tagged-backtrace" => Self::Stack,
            "frame" => Self::Frame,
            "binary" => Self::Binary,
            _ => Self::Text,
        }
    }

    /// In a message: "the column holds …".
    #[must_use]
    pub fn plural(self) -> &'static str {
        match self {
            Self::Integer => "whole numbers",
            Self::Text => "text",
            Self::Process => "processes",
            Self::Thread => "threads",
            Self::Label => "formatted labels",
            Self::Stack => "call stacks",
            Self::Frame => "stack frames",
            Self::Binary => "binaries",
        }
    }
}
