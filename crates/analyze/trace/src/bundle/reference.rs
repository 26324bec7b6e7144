//! Lists the types that are known by Apple's reference of engineering types, with the class of their
//! values there. Only these facts are taken from it: name in exports, and class.
//!
//! * Reference: the help of Instruments, "Engineering Type Reference", 238 types, as
//!   `sforteln/xctrace-query-mcp-server` has it in `aidocs/engineeringTypeReference.json`.
//! * Internal name of a type: `open.creq` of real bundles, which says it beside the name in exports; where
//!   no bundle had the type, its words are those of the name in exports.
//!
//! No bundle with these types came with its export, so none was compared. But exports by others show
//! decimals of the class FLOAT as `fixed-decimal` has them: `14.000000000` frames per second.

/// STRING: an index into the list of strings. `metal-memory-level-event` is not in the reference, but
/// all its values were such indices.
const TEXTS: &str = "ane-event-name ar-event-name arg-signature capability combine-category \
    combine-datatap-name combine-subscription-name LoadCommitment=commitment compositor-event-name \
    connection-name connection-route console-text CPUState=core-state coreml-model-event \
    coreml-model-level coreml-model-name cpu-arch-name device-session diskio-operation \
    dispatch-work-state display-compositor-event-name display-event-name display-name domain-name \
    energy-impact errno PrototypeEvent=event file-path glass-state gpu-driver-event \
    gpu-driver-event-name gpu-driver-event-source gpu-engine-state gpu-event-name gpu-hardware-engine \
    gpu-hardware-event gpu-hardware-event-src gpu-memory-event-name gpu-performance-state \
    gpu-power-state graphics-driver-name graphics-driver-statistic hang-type hitch-phase \
    instrument-instance instrument-type kdebug-plist-subtrack-name kdebug-signpost-variant key \
    location-event PrototypeMediumLengthString=medium-length-string metal-event \
    metal-memory-level-event mime-content-type network-interface network-protocol pmc-event-name \
    ProcessStatus=process-status-name RegionOfInterestClass=roi-class RegionOfInterestKind=roi-kind \
    RegionOfInterestScope=roi-scope SchedulingEvent=sched-event shader-compiler-name \
    PrototypeShortString=short-string state string-value swift-actor-class swift-task-name \
    swift-task-state SystemCallName=syscall thermal-state VMOperationName=vm-op vr-event-name \
    vsync-event word-string xr-client-event-name xr-server-event-name";

/// FLOAT: a decimal number of billionths above `2^63 - 1`, null if all bits are set. A time since the
/// epoch is one of seconds.
const DECIMALS: &str = "counters-formula-result PercentageLoads=cpu-percent-loads events-per-second \
    FramesPerSecond=fps SystemLoad=load nominal-sampling-frequency over-one-ratio Percentage=percent \
    sampling-frequency SystemCPUPercentage=system-cpu-percent time-interval time-since-epoch";

/// INTEGER: the number itself, null if all bits are set. `mach-timebase-info` is left out: it is a
/// fraction in two halves.
const NUMBERS: &str = "abstract-power account-numeric-identifier VirtualMemoryAddress=address bit-rate \
    byte cfrunloop-result ModelerClock=clock config-id VisualConnectionFilter=connection-filter \
    VisualConnectionMetadata=connection-meta connection-uuid ContainmentLayoutID=containment-level \
    cpu-event-counter disk-size-in-bytes displayed-surface-io-surface-size displayed-surface-prio \
    DurationOnCPU=duration-on-core duration-waiting eight-byte-array eight-byte-array-le errno-value \
    event-count fd gpu-driver-channel gpu-driver-gpu-sub gpu-driver-segment gpu-driver-submission \
    graphics-driver-counter http-status int64-value mach-o-vm-offset mach-timebase-info-field \
    metal-compiler-request metal-device-id MetalEncodingParellismLevel=metal-encoding-para \
    NarrativeEntryCertainty=narrative-certainty NarrativeEntrySignificance=narrative-significance \
    network-size-in-bytes network-size-in-bytes-per-second packed-identifier pmc-event \
    ProcessGroupID=process-gid process-uid register-content row-number sample-count \
    SchedulingPriority=sched-priority size-in-bytes-per-second size-in-pages swift-actor-id \
    swift-task-id SystemCallArgument=syscall-arg SystemCallReturnCode=syscall-return text-location \
    time-of-day VersionNumber=version vnode vsync-timestamp work-task-identifier";

/// The class of a type's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Text,
    Decimal,
    Number,
}

/// Returns the name of a type in exports, and its class.
pub(super) fn class_of(type_id: &str) -> Option<(&'static str, Class)> {
    let words = type_id.strip_prefix("XR")?.strip_suffix("TypeID")?;
    let lists = [
        (TEXTS, Class::Text),
        (DECIMALS, Class::Decimal),
        (NUMBERS, Class::Number),
    ];
    let find = |(list, class): (&'static str, Class)| {
        let mut types = list.split_ascii_whitespace().map(named);
        let (_, name) = types.find(|(id, _)| has_words(words, id))?;
        Some((name, class))
    };
    lists.into_iter().find_map(find)
}

/// Returns the words of an entry's internal name, and its name in exports.
fn named(entry: &'static str) -> (&'static str, &'static str) {
    entry.split_once('=').unwrap_or((entry, entry))
}

/// Returns whether `SwiftTaskState` has the words of `swift-task-state`.
fn has_words(id: &str, name: &str) -> bool {
    let letters = name.bytes().filter(|&letter| letter != b'-');
    let lower = |letter: u8| letter.to_ascii_lowercase();
    id.bytes().map(lower).eq(letters.map(lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_their_words() {
        for (type_id, expected) in [
            ("XRDisplayNameTypeID", Some(("display-name", Class::Text))),
            (
                "XRSwiftTaskStateTypeID",
                Some(("swift-task-state", Class::Text)),
            ),
            (
                "XRSchedulingEventTypeID",
                Some(("sched-event", Class::Text)),
            ),
            ("XRFramesPerSecondTypeID", Some(("fps", Class::Decimal))),
            (
                "XRTimeSinceEpochTypeID",
                Some(("time-since-epoch", Class::Decimal)),
            ),
            (
                "XRVirtualMemoryAddressTypeID",
                Some(("address", Class::Number)),
            ),
            ("XRMachTimebaseInfoTypeID", None),
            ("XRNeverSeenTypeID", None),
            ("XRTypeID", None),
            ("display-name", None),
            ("", None),
        ] {
            assert_eq!(class_of(type_id), expected, "{type_id}");
        }
    }

    #[test]
    fn every_type_is_listed_once() {
        let lists = [TEXTS, DECIMALS, NUMBERS].map(str::split_ascii_whitespace);
        let mut names: Vec<&str> = lists
            .into_iter()
            .flatten()
            .map(|entry| named(entry).1)
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
