//! Lists engineering types: their names in XML, their names in a bundle, and their widths there.

/// Name in XML, name in a bundle, and bytes of a value in a row, as in bundles of Instruments 26.0.
/// The order in a bundle's list varies, so readers must look a type up.
const TYPES: [(&str, &str, usize); 75] = [
    ("duration", "XRDurationTypeID", 8),
    ("percent", "XRPercentageTypeID", 8),
    ("tid", "XRThreadIDTypeID", 8),
    ("thread", "XRThreadTypeID", 4),
    ("thread-name", "XRThreadNameTypeID", 8),
    ("kdebug-code", "XRKDebugCodeTypeID", 4),
    ("kdebug-class", "XRKDebugClassTypeID", 4),
    ("kdebug-subclass", "XRKDebugSubclassTypeID", 4),
    ("kdebug-func", "XRKDebugFunctionTypeID", 4),
    ("kdebug-arg", "XRKDebugArgumentTypeID", 8),
    ("start-time", "XRStartTimeTypeID", 8),
    ("event-time", "XRRecordedEventTimestampTypeID", 8),
    ("sample-time", "XRSampleTimestampTypeID", 8),
    ("thread-state", "XRThreadStateTypeID", 4),
    ("device-session", "XRDeviceSessionTypeID", 4),
    ("pid", "XRProcessIDTypeID", 4),
    ("process", "XRProcessTypeID", 4),
    ("kperf-bt", "XRCoreProfileCallstackTypeID", 4),
    ("core", "XRCPUCoreTypeID", 4),
    ("size-in-bytes", "XRSizeInBytesTypeID", 8),
    ("narrative-text", "XRNarrativeTextTypeID", 4),
    ("narrative", "XRNarrativeEntryTypeID", 4),
    ("string", "XRPrototypeStringTypeID", 4),
    ("uint64", "XRPrototypeValueTypeID", 8),
    ("connection-uuid64", "XRVisualConnectionUUID64TypeID", 8),
    ("render-buffer-depth", "XRRenderingBufferDepthTypeID", 4),
    ("metal-object-label", "XRMetalObjectLabelTypeID", 4),
    (
        "metal-nesting-level",
        "XRMetalEncodingNestingLevelTypeID",
        4,
    ),
    (
        "metal-workload-priority",
        "XRMetalWorkloadPriorityTypeID",
        4,
    ),
    ("metal-command-buffer-id", "XRMetalCommandBufferIDTypeID", 8),
    ("metal-encoder-id", "XRMetalEncoderIDTypeID", 8),
    ("gpu-frame-number", "XRGPUFrameNumberTypeID", 4),
    ("boolean", "XRBooleanTypeID", 4),
    ("mach-absolute-time", "XRMachAbsoluteTimeTypeID", 8),
    ("mach-continuous-time", "XRMachContinuousTimeTypeID", 8),
    ("mach-timebase-info", "XRMachTimebaseInfoTypeID", 8),
    ("time-since-epoch", "XRTimeSinceEpochTypeID", 8),
    ("formatted-label", "XRFormattedLabelTypeID", 4),
    ("uint32", "XRGenericUInt32TypeID", 4),
    ("metal-device-name", "XRMetalDeviceNameTypeID", 4),
    ("metal-event-name", "XRMetalEventNameTypeID", 4),
    ("gpu-driver-name", "XRGPUDriverNameTypeID", 4),
    ("gpu-channel-name", "XRGPUChannelNameTypeID", 4),
    ("gpu-event-name", "XRGPUEventNameTypeID", 4),
    ("metal-event", "XRMetalEventTypeID", 4),
    ("gpu-state", "XRGPUStateTypeID", 4),
    ("thermal-state", "XRThermalStateTypeID", 4),
    ("raw-string", "XRRawStringTypeID", 4),
    ("kdebug-string", "XRKDebugStringIDTypeID", 8),
    ("event-type", "XROSLogEventTypeID", 4),
    ("os-signpost-identifier", "XROSSignpostIdentifierTypeID", 8),
    ("signpost-name", "XRSignpostNameTypeID", 4),
    ("format-string", "XROSLogFormatStringTypeID", 4),
    ("text-backtrace", "XRTextBacktraceTypeID", 4),
    ("subsystem", "XROSLogSubsystemTypeID", 4),
    ("category", "XROSLogCategoryTypeID", 4),
    ("os-log-metadata", "XROSLogMetadataTypeID", 4),
    ("return-location", "XRReturnLocationTypeID", 8),
    ("gpu-performance-state", "XRGPUPerformanceStateTypeID", 4),
    ("weight", "XRTimeSampleWeightTypeID", 8),
    ("backtrace", "XRBacktraceTypeID", 4),
    ("hang-type", "XRHangTypeTypeID", 4),
    ("gpu-counter-name", "XRGPUCounterNameTypeID", 4),
    ("fixed-decimal", "XRPrototypeFixedDecimalValueTypeID", 8),
    (
        "metal-memory-level-event",
        "XRMetalMemoryLevelEventTypeID",
        4,
    ),
    ("mps-event-name", "XRMPSEventNameTypeID", 4),
    ("ane-event-name", "XRANEEventNameTypeID", 4),
    ("layout-id", "XRLayoutIDTypeID", 8),
    ("coreml-model-event", "XRCoreMLModelEventTypeID", 4),
    ("coreml-model-name", "XRCoreMLModelNameTypeID", 4),
    ("coreml-model-level", "XRCoreMLModelLevelTypeID", 4),
    ("event-concept", "XREventConceptTypeID", 4),
    ("gpu-hardware-trace", "XRGPUHardwareTraceIDTypeID", 8),
    ("gpu-memory-event-name", "XRGPUMemoryEventNameTypeID", 4),
    // Only bundles of the newest layout, of 2026, have this type.
    ("tagged-backtrace", "XRTaggedBacktraceTypeID", 4),
];

/// Name that comes first in every list.
const INVALID: &str = "XRInvalidEngineeringTypeID";

/// An engineering type as a bundle stores it.
#[derive(Debug, Clone, Copy)]
pub(super) struct EngineeringType {
    /// Name of the type in a bundle.
    pub(super) id: &'static str,
    /// Name of the type in XML.
    pub(super) xml: &'static str,
    /// Index in the bundle's list.
    pub(super) index: u64,
    /// Bytes of a value in a row.
    pub(super) width: usize,
}

/// Returns the type that XML calls `xml`, or the invalid one for an unknown name, which no table
/// here has.
pub(super) fn by_xml_name(xml: &str) -> EngineeringType {
    all()
        .find(|known| known.xml == xml)
        .unwrap_or(EngineeringType {
            id: INVALID,
            xml: "",
            index: 0,
            width: 8,
        })
}

/// Returns every type that this crate writes, with its index.
pub(super) fn all() -> impl Iterator<Item = EngineeringType> {
    (1_u64..)
        .zip(TYPES)
        .map(|(index, (xml, id, width))| EngineeringType {
            id,
            xml,
            index,
            width,
        })
}

/// Returns the names in a bundle's list, in order. The last type exists only in bundles with tagged
/// stacks.
pub(super) fn names(tagged_stacks: bool) -> impl Iterator<Item = &'static str> {
    let count = TYPES.len() - usize::from(!tagged_stacks);
    std::iter::once(INVALID).chain(all().take(count).map(|known| known.id))
}
