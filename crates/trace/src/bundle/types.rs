//! Apple's internal types: what an export calls them, and how a value of one
//! is stored. Each line was compared with an export, cell by cell, but for the
//! few of [`words`]; any other type is left undecoded.

/// How a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// The number itself. All ones is null.
    Number,
    /// The number itself, all ones included.
    FullNumber,
    /// The number itself, which an export shows as a text. All ones is null.
    NumberText,
    /// A place in the list of strings.
    Text,
    /// A list: pid, device session.
    Process,
    /// A list: tid, process.
    Thread,
    /// A list of pieces of a stack.
    Backtrace,
    /// A list: a list of addresses, the program counter, the process, registers.
    Callstack,
    /// A typed list, displayed part by part.
    Label,
    /// A typed list, displayed part by part, and nothing but text.
    Narrative,
    /// A string above a thread, 32 bits each.
    ThreadName,
    /// A place in the list of strings, of a type that is known only by what its
    /// values say: it is believed where the string is one of these words.
    Word(&'static [&'static str]),
    /// Never compared: the raw number, marked.
    Undecoded,
}

/// What an export calls a type, and how its values are stored.
pub(crate) fn of(type_id: &str) -> (&str, Encoding) {
    use Encoding::{
        Backtrace, Callstack, FullNumber, Label, Narrative, Number, NumberText, Process, Text,
        Thread, ThreadName,
    };
    match type_id {
        "XRStartTimeTypeID" => ("start-time", Number),
        "XRRecordedEventTimestampTypeID" => ("event-time", Number),
        "XRSampleTimestampTypeID" => ("sample-time", Number),
        "XRDurationTypeID" => ("duration", Number),
        "XRTimeSampleWeightTypeID" => ("weight", Number),
        "XRTimeSampleTypeID" => ("time-sample-kind", Number),
        "XRBooleanTypeID" => ("boolean", Number),
        "XRCPUCoreTypeID" => ("core", Number),
        "XRSizeInBytesTypeID" => ("size-in-bytes", Number),
        "XRGenericUInt32TypeID" => ("uint32", Number),
        "XRProcessIDTypeID" => ("pid", Number),
        "XRThreadIDTypeID" => ("tid", Number),
        "XRGPUFrameNumberTypeID" => ("gpu-frame-number", Number),
        "XRMetalEncodingNestingLevelTypeID" => ("metal-nesting-level", Number),
        "XRMetalWorkloadPriorityTypeID" => ("metal-workload-priority", Number),
        "XRRenderingBufferDepthTypeID" => ("render-buffer-depth", Number),
        "XRVisualConnectionUUID64TypeID" => ("connection-uuid64", Number),
        "XRPrototypeValueTypeID" => ("uint64", FullNumber),
        "XRMetalCommandBufferIDTypeID" => ("metal-command-buffer-id", FullNumber),
        "XRMetalEncoderIDTypeID" => ("metal-encoder-id", FullNumber),
        "XRLayoutIDTypeID" => ("layout-id", NumberText),
        "XRPrototypeStringTypeID" => ("string", Text),
        "XRMetalObjectLabelTypeID" => ("metal-object-label", Text),
        "XRMetalDeviceNameTypeID" => ("metal-device-name", Text),
        "XRMetalEventNameTypeID" => ("metal-event-name", Text),
        "XRGPUChannelNameTypeID" => ("gpu-channel-name", Text),
        "XRGPUStateTypeID" => ("gpu-state", Text),
        "XRGPUDriverNameTypeID" => ("gpu-driver-name", Text),
        "XRThreadStateTypeID" => ("thread-state", Text),
        "XRApplicationPeriodTypeID" => ("app-period", Text),
        "XREventConceptTypeID" => ("event-concept", Text),
        "XRSignpostNameTypeID" => ("signpost-name", Text),
        "XROSLogEventTypeID" => ("event-type", Text),
        "XROSLogFormatStringTypeID" => ("format-string", Text),
        "XROSLogSubsystemTypeID" => ("subsystem", Text),
        "XROSLogCategoryTypeID" => ("category", Text),
        "XRNarrativeTextTypeID" => ("narrative-text", Text),
        "XRProcessTypeID" => ("process", Process),
        "XRThreadTypeID" => ("thread", Thread),
        "XRBacktraceTypeID" => ("backtrace", Backtrace),
        "XRCoreProfileCallstackTypeID" => ("kperf-bt", Callstack),
        "XRFormattedLabelTypeID" => ("formatted-label", Label),
        "XRNarrativeEntryTypeID" => ("narrative", Narrative),
        "XRThreadNameTypeID" => ("thread-name", ThreadName),
        other => words(other).unwrap_or((other, Encoding::Undecoded)),
    }
}

/// Types known by what they say. No export was at hand of a bundle that has
/// them. But of every such value in the bundles at hand the string at that
/// place is one of the words that exports of other recordings have in that
/// column, where the type is called so; of an arbitrary number that would be
/// chance. A column with any other value in it stays raw numbers, marked: no
/// number becomes a wrong word because another version stores it otherwise.
fn words(type_id: &str) -> Option<(&str, Encoding)> {
    let (name, words): (&str, &'static [&'static str]) = match type_id {
        "XRGPUPerformanceStateTypeID" => {
            ("gpu-performance-state", &["Minimum", "Medium", "Maximum"])
        }
        "XRGPUEventNameTypeID" => ("gpu-event-name", &["GPU Performance State"]),
        "XRThermalStateTypeID" => ("thermal-state", &["Nominal", "Fair", "Serious", "Critical"]),
        "XRMetalMemoryLevelEventTypeID" => ("metal-memory-level-event", &["Wired System Memory"]),
        "XRShaderCompilerNameTypeID" => ("shader-compiler-name", &["Metal Shader Compiler"]),
        "XRGPUMemoryEventNameTypeID" => ("gpu-memory-event-name", &["Allocation", "Deallocation"]),
        "XRMetalEventTypeID" => ("metal-event", &["Buffer", "Green"]),
        "XRVSyncEventTypeID" => ("vsync-event", &["VSYNC"]),
        "XRDisplayNameTypeID" => ("display-name", &["Built-In Display", "Display 1"]),
        "XRDisplayEventNameTypeID" => ("display-event-name", &["Display"]),
        "XRConnectionRouteTypeID" => ("connection-route", &["CB"]),
        _ => return None,
    };
    Some((name, Encoding::Word(words)))
}
