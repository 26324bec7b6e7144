//! Lists Apple's internal types, with their names in exports and the encoding of their values. Each
//! line was compared with an export, cell by cell, except the few in [`related`] and those that
//! Apple's [`reference`] classes; tagged backtraces, which were compared with the samples of the same
//! moments in `time-sample`;
//! arguments of signposts, which are also in the messages of their events; ids of resources, which are
//! also in their labels, in hexadecimal; and the two of hardware
//! counters. No bundle with counters was available together with its export. But of 7,050 values of
//! 30 counters every percentage is within 0 to 100 and no bandwidth is above the chip's, which no
//! other reading gives.
//!
//! All other types stay undecoded: `XRMachTimebaseInfoTypeID`, a fraction in two halves of 32 bits, and
//! references to lists of unknown form.

use super::reference::{self, Class};

/// The encoding of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// The number itself. All bits set mean null.
    Number,
    /// The number itself, also with all bits set.
    FullNumber,
    /// The number itself, which an export shows as a text. All bits set mean null.
    NumberText,
    /// A decimal number of billionths above `2^63 - 1`, which an export shows as a text.
    Decimal,
    /// An index into the list of strings.
    Text,
    /// A list of pid and device session.
    Process,
    /// A list of tid and process.
    Thread,
    /// A list of the pieces of a stack.
    Backtrace,
    /// A list of a stack and a tag, which has been 0 wherever it was seen. With any other list in a
    /// column, the column stays raw numbers.
    TaggedBacktrace,
    /// A reference to a stack, which has been null wherever it was seen. With any other value in a
    /// column, the column stays raw numbers.
    NoBacktrace,
    /// A list of a list of addresses, the program counter, the process and the registers.
    Callstack,
    /// A typed list, displayed part by part.
    Label,
    /// A typed list, displayed part by part, which is only text.
    Narrative,
    /// A typed list, displayed part by part, which may have such lists in it. The column stays raw
    /// numbers if a part is of a type that was never compared.
    Message,
    /// A typed list of one value. The column stays raw numbers if it has any other list.
    Argument,
    /// A list of numbers, which an export shows with this text between. The column stays raw numbers
    /// if it has anything else.
    Numbers(&'static str),
    /// A list of both halves of a binary's UUID in the upper, and an offset in the lower 32 bits.
    /// The column stays raw numbers if it has anything else.
    Location,
    /// A string in the upper and a thread in the lower 32 bits.
    ThreadName,
    /// An index into the list of strings, by Apple's reference. The column stays raw numbers if any is
    /// beyond the list.
    Listed,
    /// The raw number, marked as never compared.
    Undecoded,
}

impl Encoding {
    /// Returns true if only some values are known. With others, a column stays raw numbers.
    pub(crate) fn is_partly_known(self) -> bool {
        matches!(
            self,
            Self::Listed
                | Self::TaggedBacktrace
                | Self::NoBacktrace
                | Self::Message
                | Self::Argument
                | Self::Numbers(_)
                | Self::Location
        )
    }
}

/// Returns the name of a type in exports, and the encoding of its values.
pub(crate) fn lookup(type_id: &str) -> (&str, Encoding) {
    use Encoding::{
        Argument, Backtrace, Callstack, Decimal, FullNumber, Label, Location, Message, Narrative,
        NoBacktrace, Number, NumberText, Process, TaggedBacktrace, Text, Thread, ThreadName,
    };

    match type_id {
        "XRStartTimeTypeID" => ("start-time", Number),
        "XRRecordedEventTimestampTypeID" => ("event-time", Number),
        "XRSampleTimestampTypeID" => ("sample-time", Number),
        "XRDurationTypeID" => ("duration", Number),
        "XRTimeSampleWeightTypeID" => ("weight", Number),
        "XRCycleWeightTypeID" => ("cycle-weight", Number),
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
        "XRGPUHardwareTraceIDTypeID" => ("gpu-hardware-trace", FullNumber),
        "XRLayoutIDTypeID" => ("layout-id", NumberText),
        "XRPrototypeFixedDecimalValueTypeID" => ("fixed-decimal", Decimal),
        "XRUnsignedIntegerHexLowercaseTypeID" => ("uint64-hex-lowercase", FullNumber),
        "XRMPSEventNameTypeID" => ("mps-event-name", Text),
        "XRGPUCounterNameTypeID" => ("gpu-counter-name", Text),
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
        "XROSSignpostIdentifierTypeID" => ("os-signpost-identifier", Number),
        "XRSignpostNameTypeID" => ("signpost-name", Text),
        "XROSLogEventTypeID" => ("event-type", Text),
        "XROSLogFormatStringTypeID" => ("format-string", Text),
        "XROSLogSubsystemTypeID" => ("subsystem", Text),
        "XROSLogCategoryTypeID" => ("category", Text),
        "XRNarrativeTextTypeID" => ("narrative-text", Text),
        "XRProcessTypeID" => ("process", Process),
        "XRThreadTypeID" => ("thread", Thread),
        "XRBacktraceTypeID" => ("backtrace", Backtrace),
        "XRTaggedBacktraceTypeID" => ("tagged-backtrace", TaggedBacktrace),
        "XRTextBacktraceTypeID" => ("text-backtrace", NoBacktrace),
        "XROSLogMetadataTypeID" => ("os-log-metadata", Message),
        "XRAnyTypeID" => ("any", Argument),
        "XRPrivateValueTypeID" => ("private", NumberText),
        "XRReturnLocationTypeID" => ("return-location", Location),
        "XRCoreProfileCallstackTypeID" => ("kperf-bt", Callstack),
        "XRFormattedLabelTypeID" => ("formatted-label", Label),
        "XRNarrativeEntryTypeID" => ("narrative", Narrative),
        "XRThreadNameTypeID" => ("thread-name", ThreadName),
        other => related(other)
            .or_else(|| classed(other))
            .unwrap_or((other, Encoding::Undecoded)),
    }
}

/// Returns the name and the encoding of a type that is known by what other columns say. No export of
/// a bundle with these types was available, but all of their values in the known bundles agree:
///
/// * events of the kernel: the rule of `raw_intervals` gives the exact start and end of 14,088 GPU
///   intervals; each string's number is an argument of an event, and its text the path of a binary
///   or the label of an encoder;
/// * surfaces: `displayed-surfaces-interval` has the surface of each swap, and `display-surface-queue`
///   its number; `present-surface-id` is 0 wherever `has-present` is 0;
/// * lists: a chain has the `uuid` of each of its rows, and a shader sample has `num-pcs` numbers; a
///   display has the size of the surfaces that it shows; a processor's counter never falls from one
///   event to the next;
/// * clocks: `mabs-epoch` is in the rule of `raw_intervals`, and `mct-epoch` is never before it.
///
/// Their names are in Apple's list of the types that a package may use.
fn related(type_id: &str) -> Option<(&str, Encoding)> {
    use Encoding::{FullNumber, Number, NumberText, Numbers, Text};

    Some(match type_id {
        "XRKDebugClassTypeID" => ("kdebug-class", Number),
        "XRKDebugSubclassTypeID" => ("kdebug-subclass", Number),
        "XRKDebugCodeTypeID" => ("kdebug-code", Number),
        "XRKDebugFunctionTypeID" => ("kdebug-func", Number),
        "XRKDebugArgumentTypeID" => ("kdebug-arg", FullNumber),
        "XRKDebugStringIDTypeID" => ("kdebug-string", NumberText),
        "XRRawStringTypeID" => ("raw-string", Text),
        "XRGPUDriverIOSurfaceIDTypeID" => ("gpu-driver-surface", Number),
        "XRDisplayedSurfaceSwapIDTypeID" => ("displayed-surface-swap", Number),
        "XRDisplayedSurfaceIOSurfaceTypeID" => ("displayed-surface-io-surface", NumberText),
        "XRVisualUUIDChainTypeID" => ("visual-uuid-chain", Numbers(" ")),
        "XRPrototypeUInt64ArrayTypeID" => ("uint64-array", Numbers(" ")),
        "XRCoreProfilePMCEventsArrayTypeID" => ("pmc-events", Numbers(" ")),
        "XRSizeInPixelsTypeID" => ("size-in-pixels", Numbers("x")),
        "XRMachAbsoluteTimeTypeID" => ("mach-absolute-time", Number),
        "XRMachContinuousTimeTypeID" => ("mach-continuous-time", NumberText),
        _ => return None,
    })
}

/// Returns the name and the encoding of a type that Apple's reference classes.
fn classed(type_id: &str) -> Option<(&str, Encoding)> {
    let (name, class) = reference::class_of(type_id)?;
    let encoding = match class {
        Class::Text => Encoding::Listed,
        Class::Decimal => Encoding::Decimal,
        Class::Number => Encoding::NumberText,
    };
    Some((name, encoding))
}
