//! Tables of the phases that programs named with os_signpost.

use metalens_trace::Integers;

use super::columns::{Either, OrNull, Processes, Texts, Threads, columns};

/// Column that distinguishes signposts of one name: a number in bundles, text in exports.
pub(crate) type Identifiers = OrNull<Either<Integers, Texts>>;

columns! {
    /// Tables of signpost events.
    table SIGNPOST_EVENTS = "os-signpost";
    struct SignpostEvents {
        times: Integers = "time",
        /// Type of the event: `Begin`, `End`, …
        events: Texts = "event-type",
        names: Texts = "name",
        processes: Processes = "process",
        subsystems: OrNull<Texts> = "subsystem",
        categories: OrNull<Texts> = "category",
        identifiers: Identifiers = "identifier",
        scopes: OrNull<Texts> = "scope",
        threads: OrNull<Threads> = "thread",
    }
}

columns! {
    /// Table of signpost intervals.
    table SIGNPOST_INTERVALS = "OSSignpostIntervals";
    struct SignpostIntervals {
        starts: Integers = "start",
        durations: Integers = "duration",
        names: Texts = "name",
        processes: Processes = "process",
        subsystems: OrNull<Texts> = "subsystem",
        categories: OrNull<Texts> = "category",
        identifiers: Identifiers = "identifier",
    }
}
