//! Defines the columns of every table as Instruments 26.0 exports them, misspellings included.

mod optional_tables;

pub(super) use optional_tables::*;

/// The columns of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema {
    pub(super) name: &'static str,
    /// Description of the table in our words, written since Xcode 27.
    pub(super) documentation: &'static str,
    /// Mnemonic, display name and engineering type of each column.
    pub(super) columns: &'static [(&'static str, &'static str, &'static str)],
}

pub(super) const ENCODERS_LIST: Schema = Schema {
    name: "metal-application-encoders-list",
    documentation: "When the application encoded each encoder.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("frame-number", "Frame", "gpu-frame-number"),
        ("cmdbuffer-label", "Command Buffer", "metal-object-label"),
        (
            "cmdbuffer-label-indexed",
            "Command Buffer (Indexed)",
            "metal-object-label",
        ),
        ("encoder-label", "Encoder", "metal-object-label"),
        (
            "encoder-label-indexed",
            "Encoder (Indexed)",
            "metal-object-label",
        ),
        ("event-type", "Event Type", "metal-event-name"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "metal-command-buffer-id"),
    ],
};

pub(super) const APPLICATION_INTERVALS: Schema = Schema {
    name: "metal-application-intervals",
    documentation: "What the application did with its command buffers and encoders.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("process", "Owner", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Event", "formatted-label"),
        ("event-priority", "Priority", "metal-workload-priority"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("thread", "Thread", "thread"),
        ("event-type", "Event Type", "metal-event-name"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "metal-command-buffer-id"),
    ],
};

pub(super) const SUBMISSIONS: Schema = Schema {
    name: "metal-application-command-buffer-submissions",
    documentation: "When the application committed each command buffer.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("event-type", "Event Type", "metal-event-name"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("track-label", "Track Label", "metal-object-label"),
        ("num-encoders", "# Encoders", "uint32"),
        ("encoder-time", "Encoder Time", "duration"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("event-icon", "Event Icon", "metal-event"),
        ("event-label", "Note", "narrative"),
        ("encoder-time-label", "Encoder Time Label", "narrative"),
        ("frame-number", "Frame #", "uint32"),
        ("color", "Color", "render-buffer-depth"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
    ],
};

pub(super) const COMPLETED: Schema = Schema {
    name: "metal-command-buffer-completed",
    documentation: "When the host was notified that a command buffer completed.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("commit-id", "commit-id", "uint32"),
    ],
};

pub(super) const OBJECT_LABEL: Schema = Schema {
    name: "metal-object-label",
    documentation: "Which labels Metal objects have.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("object-id", "object Id", "uint64"),
        ("frame-number", "frame", "uint32"),
        ("label", "Label", "metal-object-label"),
        ("object-type", "Type", "uint32"),
        ("pid", "PID", "uint64"),
    ],
};

pub(super) const DRIVER_INTERVALS: Schema = Schema {
    name: "metal-driver-intervals",
    documentation: "How long the driver worked on command buffers and encoders.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("gpu-driver-name", "GPU Driver Name", "gpu-driver-name"),
        ("event-type", "Event Type", "metal-object-label"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Event", "formatted-label"),
        ("event-priority", "Priority", "metal-workload-priority"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("object-id", "Object ID", "metal-command-buffer-id"),
        ("lane", "Lane", "formatted-label"),
    ],
};

pub(super) const BUFFER_TO_ACCELERATOR: Schema = Schema {
    name: "metal-command-buffer-to-accelerator-id",
    documentation: "When the driver began to work on command buffers, and for which GPU.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("accelerator-id", "Accelerator ID", "uint64"),
    ],
};

pub(super) const SUBMISSION_TO_BUFFER: Schema = Schema {
    name: "metal-gpu-submission-to-command-buffer-id",
    documentation: "Which command buffer and encoder a GPU submission ran.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        (
            "gpu-submission-id",
            "GPU Submission Id",
            "metal-command-buffer-id",
        ),
        ("segment-id", "Segment Id", "metal-command-buffer-id"),
        (
            "segmentlist-id",
            "SegmentList Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "metal-command-buffer-id"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("channel-id", "Channel ID", "metal-command-buffer-id"),
        ("submission-type", "Type", "uint32"),
        ("metadata-1", "Metadata 1", "uint64"),
        ("metadata-2", "Metadata 2", "uint64"),
        ("pid", "pid", "uint32"),
        ("process", "Process", "process"),
        ("model", "Model", "uint32"),
        ("commit-id", "commit-id", "uint32"),
        ("num-coalasced-encoders", "# Coalasced Encoders", "uint32"),
    ],
};

pub(super) const EXECUTION_POINTS: Schema = Schema {
    name: "metal-gpu-execution-points",
    documentation: "When GPU submissions started and ended.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("channel-id", "Channel ID", "metal-command-buffer-id"),
        ("function", "Function", "uint32"),
        ("slot-id", "Slot ID", "uint32"),
        (
            "gpu-submission-id",
            "GPU Submission ID",
            "metal-command-buffer-id",
        ),
        ("accelerator-id", "Accelerator Id", "uint64"),
        ("note", "Note", "string"),
    ],
};

pub(super) const GPU_INTERVALS: Schema = Schema {
    name: "metal-gpu-intervals",
    documentation: "When each GPU channel ran work, and for which process.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("channel-name", "Channel Name", "gpu-channel-name"),
        ("frame-number", "Frame", "gpu-frame-number"),
        ("start-latency", "CPU to GPU Latency", "duration"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Label", "formatted-label"),
        ("state", "State", "gpu-state"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("channel-subtitle", "Channel Subtitle", "metal-object-label"),
        (
            "iosurface-accesses",
            "IOSurface Accesses",
            "formatted-label",
        ),
        ("bytes", "Bytes", "size-in-bytes"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "metal-command-buffer-id"),
        ("gpu-submission-id", "GPU Submission Id", "uint64"),
    ],
};

pub(super) const GPU_STATES: Schema = Schema {
    name: "metal-gpu-state-intervals",
    documentation: "When the GPU was active or idle.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("state", "State", "gpu-state"),
        ("label", "Label", "formatted-label"),
        ("color", "Color", "render-buffer-depth"),
        ("num-events", "# Events", "uint32"),
        ("gpu", "Metal Device", "metal-device-name"),
    ],
};

pub(super) const GPU_INFO: Schema = Schema {
    name: "metal-gpu-info",
    documentation: "Which GPUs there are.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("gpu-name", "GPU Name", "metal-object-label"),
        ("gpu-index", "GPU Index", "uint32"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("mobile", "Mobile", "boolean"),
    ],
};

pub(super) const ALLOCATED_SIZE: Schema = Schema {
    name: "metal-current-allocated-size",
    documentation: "How much memory Metal had allocated.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("end", "End", "start-time"),
        ("process", "Process", "process"),
        (
            "current-allocated-size",
            "Current Allocated Size",
            "size-in-bytes",
        ),
        ("label", "Label", "formatted-label"),
        ("track-name", "Track", "formatted-label"),
        ("color", "Color", "render-buffer-depth"),
    ],
};

pub(super) const SHADER_LIST: Schema = Schema {
    name: "metal-shader-profiler-shader-list",
    documentation: "Which shaders were loaded.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("name", "Shader Name", "metal-object-label"),
        ("label", "Function Label", "metal-object-label"),
        ("pso-name", "Pipeline", "metal-object-label"),
        ("id", "ID", "uint64"),
        ("pc-start", "PC Start", "uint64"),
        ("pc-end", "PC End", "uint64"),
        ("shader-type", "Shader Type", "string"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
    ],
};

pub(super) const SHADER_INTERVALS: Schema = Schema {
    name: "metal-shader-profiler-intervals",
    documentation: "How the GPU time of a kick divides among shaders.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Sample Duration", "duration"),
        ("name", "Shader Name", "metal-object-label"),
        ("label", "Function Label", "metal-object-label"),
        ("pso-label", "Pipeline", "metal-object-label"),
        ("event-name", "Event Name", "gpu-event-name"),
        ("shader-type", "Shader Type", "metal-object-label"),
        ("percent-of-kick", "% GPU Work", "percent"),
        ("total-kick-percent", "% Total GPU Work", "percent"),
        ("color", "Color", "render-buffer-depth"),
        ("event-priority", "Priority", "metal-workload-priority"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("channel-name", "Channel Name", "gpu-channel-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
    ],
};

pub(super) const PERFORMANCE_STATES: Schema = Schema {
    name: "gpu-performance-state-intervals",
    documentation: "Which performance state the GPU was in.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        (
            "gpu-performance-state",
            "GPU Performance State",
            "gpu-performance-state",
        ),
        ("track-label", "Track", "string"),
        ("is-induced", "Is Induced", "boolean"),
        ("narrative", "Narrative", "narrative"),
        ("event-type", "Event Type", "gpu-event-name"),
    ],
};

pub(super) const THERMAL_STATES: Schema = Schema {
    name: "device-thermal-state-intervals",
    documentation: "Which thermal state the device was in.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("end", "End", "start-time"),
        ("thermal-state", "Thermal State", "thermal-state"),
        ("track-label", "Track", "string"),
        ("is-induced", "Is Induced", "boolean"),
        ("narrative", "Narrative", "narrative"),
    ],
};

pub(super) const PROCESS_INFO: Schema = Schema {
    name: "process-info",
    documentation: "Which processes were running.",
    columns: &[
        ("time", "Timestamp", "event-time"),
        ("pid", "Process ID", "pid"),
        ("unique-id", "Unique Process ID", "uint64"),
        ("process", "Process", "process"),
        ("process-name", "Process Name", "string"),
    ],
};
