//! Phases that programs named with os_signpost.

use metalens_trace::Integers;

use super::columns::{Either, OrNull, Processes, Texts, Threads, columns};

/// The column that tells signposts of one name apart: a number in bundles, text in exports.
pub(crate) type Identifiers = OrNull<Either<Integers, Texts>>;

columns! {
    /// The tables of events.
    table SIGNPOST_EVENTS = "os-signpost";
    struct SignpostEvents {
        times: Integers = "time",
        /// `Begin`, `End`, …
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
    /// The table of intervals.
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
