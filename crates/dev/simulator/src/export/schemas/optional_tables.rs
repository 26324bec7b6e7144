//! Defines the columns of tables that the stock template leaves empty.

use crate::export::schemas::Schema;

pub(in crate::export) const OS_SIGNPOST: Schema = Schema {
    name: "os-signpost",
    documentation: "What processes marked with signposts.",
    columns: &[
        ("time", "Timestamp", "event-time"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
        ("event-type", "Event Type", "event-type"),
        ("scope", "Scope", "string"),
        (
            "identifier",
            "Signpost identifier",
            "os-signpost-identifier",
        ),
        ("name", "Name", "signpost-name"),
        ("format-string", "Format String", "format-string"),
        ("backtrace", "Backtrace", "text-backtrace"),
        ("subsystem", "Subsystem", "subsystem"),
        ("category", "Category", "category"),
        ("message", "Message", "os-log-metadata"),
        ("emit-location", "Emit Location", "return-location"),
    ],
};

pub(in crate::export) const TIME_PROFILE: Schema = Schema {
    name: "time-profile",
    documentation: "What threads were doing, sampled.",
    columns: &[
        ("time", "Sample Time", "sample-time"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
        ("core", "Core", "core"),
        ("thread-state", "State", "thread-state"),
        ("weight", "Weight", "weight"),
        ("stack", "Backtrace", "backtrace"),
    ],
};

pub(in crate::export) const POTENTIAL_HANGS: Schema = Schema {
    name: "potential-hangs",
    documentation: "When main threads did not respond.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("hang-type", "Hang Type", "hang-type"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
    ],
};

pub(in crate::export) const BUFFER_ERROR: Schema = Schema {
    name: "metal-command-buffer-error",
    documentation: "Which command buffers ended in an error.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("error-code", "Error Code", "uint32"),
    ],
};

pub(in crate::export) const COUNTER_INFO: Schema = Schema {
    name: "gpu-counter-info",
    documentation: "Which GPU counters were recorded.",
    columns: &[
        ("timestamp", "Timestamp", "event-time"),
        ("counter-id", "Counter ID", "uint32"),
        ("name", "Name", "gpu-counter-name"),
        ("max-value", "Max Value", "uint64"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("description", "Description", "string"),
        ("group-index", "Group Index", "uint32"),
        ("type", "Type", "string"),
        ("ring-buffer-count", "Ring Buffer Count", "uint32"),
        (
            "require-weighted-accumulation",
            "Require Weighted Accumulation",
            "boolean",
        ),
        ("sample-interval", "Sample Interval", "uint32"),
    ],
};

pub(in crate::export) const COUNTER_VALUE: Schema = Schema {
    name: "gpu-counter-value",
    documentation: "What the GPU counters read.",
    columns: &[
        ("timestamp", "Timestamp", "event-time"),
        ("counter-id", "Counter ID", "uint32"),
        ("value", "Value", "fixed-decimal"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("sample-index", "Sample ID", "uint32"),
        ("ring-buffer-index", "Ring Buffer Index", "uint32"),
    ],
};

pub(in crate::export) const COUNTER_INTERVALS: Schema = Schema {
    name: "metal-gpu-counter-intervals",
    documentation: "What the GPU counters read, as intervals.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("counter-id", "Counter ID", "uint32"),
        ("name", "Counter Name", "gpu-counter-name"),
        ("label", "Label", "formatted-label"),
        ("value", "Value", "fixed-decimal"),
        ("percent-value", "Percent Value", "percent"),
        ("color", "Color", "uint32"),
        ("gpu", "GPU", "metal-device-name"),
        ("group-index", "Group Index", "uint32"),
        ("is-percentage", "Is Percentage", "boolean"),
        ("ring-buffer-index", "Ring Buffer Index", "uint32"),
    ],
};

pub(in crate::export) const WIRED_MEMORY: Schema = Schema {
    name: "metal-wired-sysmem-level-interval",
    documentation: "How much system memory was wired for the GPU.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("bytes", "Bytes", "size-in-bytes"),
        ("color", "Color", "render-buffer-depth"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("event-label", "Description", "narrative"),
        ("event-type", "Event Type", "metal-memory-level-event"),
    ],
};

pub(in crate::export) const MPS_INTERVALS: Schema = Schema {
    name: "mps-hw-intervals",
    documentation: "What MPSGraph did.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("channel-name", "Channel Name", "mps-event-name"),
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
    ],
};

pub(in crate::export) const ANE_INTERVALS: Schema = Schema {
    name: "ane-hw-intervals",
    documentation: "What the Neural Engine did.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("channel-name", "Channel Name", "ane-event-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Label", "formatted-label"),
        ("state", "State", "gpu-state"),
        ("color", "Color", "render-buffer-depth"),
    ],
};

pub(in crate::export) const ANE_INTERVALS_INTERNAL: Schema = Schema {
    name: "ane-hw-intervals-internal",
    documentation: "What the Neural Engine did.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("channel-name", "Channel Name", "ane-event-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Label", "formatted-label"),
        ("state", "State", "gpu-state"),
        ("color", "Color", "render-buffer-depth"),
    ],
};

pub(in crate::export) const COREML_SIGNPOST: Schema = Schema {
    name: "coreml-os-signpost",
    documentation: "What Core ML did.",
    columns: &[
        ("start", "Start", "start-time"),
        ("duration", "Duration", "duration"),
        ("full-layout-id", "Layout", "layout-id"),
        ("event-label", "Event", "coreml-model-event"),
        ("model-name", "Model", "coreml-model-name"),
        (
            "model-specific-track-model-name",
            "Track",
            "formatted-label",
        ),
        ("fully-qualified-model", "Full Model", "formatted-label"),
        ("parent-model-name", "Parent", "coreml-model-name"),
        ("model-level", "Level", "coreml-model-level"),
        ("event-type", "Type", "string"),
        ("color", "Color", "event-concept"),
        ("graph-event-label", "Label", "formatted-label"),
    ],
};

pub(in crate::export) const BUFFER_WAIT: Schema = Schema {
    name: "ca-client-buffer-wait-interval",
    documentation: "When programs waited for a drawable.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("thread", "Thread", "thread"),
    ],
};

pub(in crate::export) const PRESENT_REQUEST: Schema = Schema {
    name: "ca-client-present-request",
    documentation: "When programs asked to present a frame.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("surface-id", "Surface ID", "displayed-surface-swap"),
        ("at-time", "At Time", "start-time"),
        ("minimal-duration", "Minimal Duration", "start-time"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
    ],
};

pub(in crate::export) const PRESENTED_HANDLER: Schema = Schema {
    name: "ca-client-presented-handler",
    documentation: "When programs were notified that a frame was presented.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("drawable-id", "Drawable ID", "displayed-surface-swap"),
        ("status", "Status", "uint64"),
        ("at-time", "At Time", "start-time"),
        ("delta", "Delta", "duration"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
    ],
};

/// Columns as a public description of a real export lists them. Its heading of the second column is
/// misspelled.
pub(in crate::export) const SPILL_EVENTS: Schema = Schema {
    name: "graphics-compiler-spill-events",
    documentation: "Which encoders ran code with spilled registers.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "uint64"),
        ("spilled-bytes", "Spilled bytes", "size-in-bytes"),
        ("process", "Process", "process"),
    ],
};

pub(in crate::export) const RESOURCE_ALLOCATIONS: Schema = Schema {
    name: "metal-resource-allocations",
    documentation: "Which resources were allocated and freed.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("duration", "Lifetime", "duration"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("resource-id", "ID", "gpu-hardware-trace"),
        ("parent-resource-id", "Parent ID", "gpu-hardware-trace"),
        ("label", "Label", "metal-object-label"),
        ("vidmem-bytes", "Video Memory Bytes", "size-in-bytes"),
        ("sysmem-bytes", "System Memory Bytes", "size-in-bytes"),
        ("resource-size", "Resource Size", "size-in-bytes"),
        ("event-label", "Description", "formatted-label"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("resource-type", "Resource Type", "metal-object-label"),
        ("event-type", "Event Type", "gpu-memory-event-name"),
        ("backtrace", "Backtrace", "backtrace"),
        ("event-icon", "Event Icon", "metal-event"),
    ],
};

pub(in crate::export) const DRIVER_EVENTS: Schema = Schema {
    name: "metal-driver-event-intervals",
    documentation: "What else the driver did, such as wiring memory.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("gpu-driver-name", "GPU Driver Name", "gpu-driver-name"),
        ("event-type", "Event Type", "gpu-driver-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Event", "formatted-label"),
        ("event-priority", "Priority", "metal-workload-priority"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("resource-id", "Resource ID", "metal-command-buffer-id"),
        ("show-per-thread", "Show per Thread", "boolean"),
    ],
};
