//! Maps engineering types to the kinds of values that a table stores.
//!
//! The schema of a table names an engineering type for each column (`start-time`,
//! `metal-command-buffer-id`, …), and the tag of a cell repeats it. There are hundreds, and a new
//! Xcode adds more. Only the stored kind matters here: a whole number, text, or one of a few
//! composites. A type that is not listed is stored as text, never guessed.

/// The kind of the stored values of an engineering type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number: times and durations in nanoseconds, ids, sizes in bytes, counts.
    Integer,
    /// Text, and anything unknown: its text, or else its display form.
    Text,
    /// A process: name and pid.
    Process,
    /// A thread: display name, tid and process.
    Thread,
    /// A formatted label: text, process and submission id.
    Label,
    /// A call stack.
    Stack,
    /// Addresses of a call stack, as Xcode 14 and earlier write them.
    Addresses,
    /// A frame of a call stack.
    Frame,
    /// The binary of a frame.
    Binary,
}

impl Kind {
    /// Returns the kind of an engineering type.
    ///
    /// The numbers were checked on real exports of Instruments 26.0: their text is decimal,
    /// independent of the display form.
    #[must_use]
    pub fn from_type(engineering_type: &str) -> Self {
        match engineering_type {
            "start-time"
            | "event-time"
            | "sample-time"
            | "duration"
            | "weight"
            | "cycle-weight"
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
            | "gpu-hardware-trace"
            | "metal-encoder-id"
            | "metal-nesting-level"
            | "metal-workload-priority"
            | "gpu-frame-number"
            | "gpu-driver-surface"
            | "os-signpost-identifier"
            | "displayed-surface-swap"
            | "time-sample-kind"
            | "text-address"
            | "kdebug-class"
            | "kdebug-subclass"
            | "kdebug-code"
            | "kdebug-func"
            | "kdebug-arg"
            | "mach-absolute-time" => Self::Integer,
            "process" => Self::Process,
            "thread" => Self::Thread,
            "formatted-label" => Self::Label,
            "backtrace" | "text-backtrace" | "tagged-backtrace" => Self::Stack,
            "text-addresses" => Self::Addresses,
            "frame" => Self::Frame,
            "binary" => Self::Binary,
            _ => Self::Text,
        }
    }

    /// Returns the plural for messages: "the column contains …".
    pub fn plural(self) -> &'static str {
        match self {
            Self::Integer => "whole numbers",
            Self::Text => "text",
            Self::Process => "processes",
            Self::Thread => "threads",
            Self::Label => "formatted labels",
            Self::Stack | Self::Addresses => "call stacks",
            Self::Frame => "stack frames",
            Self::Binary => "binaries",
        }
    }
}
