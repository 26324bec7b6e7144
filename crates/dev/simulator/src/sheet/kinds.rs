//! Lists engineering types: their names in XML, their names in a bundle, and their widths there.

/// Names and width of an engineering type in the formats.
pub(crate) struct Facts {
    pub(crate) xml_name: &'static str,
    pub(crate) bundle_name: &'static str,
    /// Bytes of a value in a row of a bundle.
    pub(crate) width: usize,
}

/// Declares the types, and lists them.
macro_rules! kinds {
    ($($kind:ident $xml:literal $bundle:literal $bytes:literal,)*) => {
        /// The engineering type of a column, or of a part of a label.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Kind {
            $($kind,)*
        }

        impl Kind {
            /// All types, in the order of a bundle's list.
            pub(crate) const ALL: [Self; [$($bytes),*].len()] = [$(Self::$kind),*];

            /// Returns the names and the width of the type.
            pub(crate) const fn facts(self) -> Facts {
                let (xml_name, bundle_name, width) = match self {
                    $(Self::$kind => ($xml, $bundle, $bytes),)*
                };
                Facts {
                    xml_name,
                    bundle_name,
                    width,
                }
            }
        }
    };
}

// Name in XML, name in a bundle, and bytes of a value in a row, as in bundles of Instruments 26.0. The
// order in a bundle's list varies, so readers must look a type up.
kinds! {
    Duration "duration" "XRDurationTypeID" 8,
    Percent "percent" "XRPercentageTypeID" 8,
    Tid "tid" "XRThreadIDTypeID" 8,
    Thread "thread" "XRThreadTypeID" 4,
    ThreadName "thread-name" "XRThreadNameTypeID" 8,
    KdebugCode "kdebug-code" "XRKDebugCodeTypeID" 4,
    KdebugClass "kdebug-class" "XRKDebugClassTypeID" 4,
    KdebugSubclass "kdebug-subclass" "XRKDebugSubclassTypeID" 4,
    KdebugFunction "kdebug-func" "XRKDebugFunctionTypeID" 4,
    KdebugArgument "kdebug-arg" "XRKDebugArgumentTypeID" 8,
    StartTime "start-time" "XRStartTimeTypeID" 8,
    EventTime "event-time" "XRRecordedEventTimestampTypeID" 8,
    SampleTime "sample-time" "XRSampleTimestampTypeID" 8,
    ThreadState "thread-state" "XRThreadStateTypeID" 4,
    DeviceSession "device-session" "XRDeviceSessionTypeID" 4,
    Pid "pid" "XRProcessIDTypeID" 4,
    Process "process" "XRProcessTypeID" 4,
    KperfStack "kperf-bt" "XRCoreProfileCallstackTypeID" 4,
    Core "core" "XRCPUCoreTypeID" 4,
    SizeInBytes "size-in-bytes" "XRSizeInBytesTypeID" 8,
    NarrativeText "narrative-text" "XRNarrativeTextTypeID" 4,
    Narrative "narrative" "XRNarrativeEntryTypeID" 4,
    String "string" "XRPrototypeStringTypeID" 4,
    Uint64 "uint64" "XRPrototypeValueTypeID" 8,
    ConnectionUuid "connection-uuid64" "XRVisualConnectionUUID64TypeID" 8,
    Color "render-buffer-depth" "XRRenderingBufferDepthTypeID" 4,
    ObjectLabel "metal-object-label" "XRMetalObjectLabelTypeID" 4,
    NestingLevel "metal-nesting-level" "XRMetalEncodingNestingLevelTypeID" 4,
    Priority "metal-workload-priority" "XRMetalWorkloadPriorityTypeID" 4,
    CommandBufferId "metal-command-buffer-id" "XRMetalCommandBufferIDTypeID" 8,
    EncoderId "metal-encoder-id" "XRMetalEncoderIDTypeID" 8,
    Frame "gpu-frame-number" "XRGPUFrameNumberTypeID" 4,
    Boolean "boolean" "XRBooleanTypeID" 4,
    MachAbsoluteTime "mach-absolute-time" "XRMachAbsoluteTimeTypeID" 8,
    MachContinuousTime "mach-continuous-time" "XRMachContinuousTimeTypeID" 8,
    MachTimebaseInfo "mach-timebase-info" "XRMachTimebaseInfoTypeID" 8,
    TimeSinceEpoch "time-since-epoch" "XRTimeSinceEpochTypeID" 8,
    FormattedLabel "formatted-label" "XRFormattedLabelTypeID" 4,
    Uint32 "uint32" "XRGenericUInt32TypeID" 4,
    DeviceName "metal-device-name" "XRMetalDeviceNameTypeID" 4,
    EventName "metal-event-name" "XRMetalEventNameTypeID" 4,
    DriverName "gpu-driver-name" "XRGPUDriverNameTypeID" 4,
    ChannelName "gpu-channel-name" "XRGPUChannelNameTypeID" 4,
    GpuEventName "gpu-event-name" "XRGPUEventNameTypeID" 4,
    Event "metal-event" "XRMetalEventTypeID" 4,
    GpuState "gpu-state" "XRGPUStateTypeID" 4,
    ThermalState "thermal-state" "XRThermalStateTypeID" 4,
    RawString "raw-string" "XRRawStringTypeID" 4,
    KdebugString "kdebug-string" "XRKDebugStringIDTypeID" 8,
    EventType "event-type" "XROSLogEventTypeID" 4,
    SignpostId "os-signpost-identifier" "XROSSignpostIdentifierTypeID" 8,
    SignpostName "signpost-name" "XRSignpostNameTypeID" 4,
    FormatString "format-string" "XROSLogFormatStringTypeID" 4,
    TextBacktrace "text-backtrace" "XRTextBacktraceTypeID" 4,
    Subsystem "subsystem" "XROSLogSubsystemTypeID" 4,
    Category "category" "XROSLogCategoryTypeID" 4,
    OsLogMetadata "os-log-metadata" "XROSLogMetadataTypeID" 4,
    ReturnLocation "return-location" "XRReturnLocationTypeID" 8,
    PerformanceState "gpu-performance-state" "XRGPUPerformanceStateTypeID" 4,
    Weight "weight" "XRTimeSampleWeightTypeID" 8,
    Backtrace "backtrace" "XRBacktraceTypeID" 4,
    HangType "hang-type" "XRHangTypeTypeID" 4,
    CounterName "gpu-counter-name" "XRGPUCounterNameTypeID" 4,
    FixedDecimal "fixed-decimal" "XRPrototypeFixedDecimalValueTypeID" 8,
    MemoryEvent "metal-memory-level-event" "XRMetalMemoryLevelEventTypeID" 4,
    MpsEvent "mps-event-name" "XRMPSEventNameTypeID" 4,
    AneEvent "ane-event-name" "XRANEEventNameTypeID" 4,
    LayoutId "layout-id" "XRLayoutIDTypeID" 8,
    CoreMlEvent "coreml-model-event" "XRCoreMLModelEventTypeID" 4,
    CoreMlName "coreml-model-name" "XRCoreMLModelNameTypeID" 4,
    CoreMlLevel "coreml-model-level" "XRCoreMLModelLevelTypeID" 4,
    EventConcept "event-concept" "XREventConceptTypeID" 4,
    HardwareTraceId "gpu-hardware-trace" "XRGPUHardwareTraceIDTypeID" 8,
    AllocationEvent "gpu-memory-event-name" "XRGPUMemoryEventNameTypeID" 4,
    // Only bundles of the newest layout, of 2026, have this type.
    TaggedBacktrace "tagged-backtrace" "XRTaggedBacktraceTypeID" 4,
}
