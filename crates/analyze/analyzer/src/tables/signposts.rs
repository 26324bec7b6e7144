//! Tables of the phases that programs named with os_signpost.

use metalens_trace::Integers;

use super::columns::{OrNull, Processes, Texts, Threads, columns};

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
        /// Numbers that distinguish signposts of one name.
        identifiers: OrNull<Integers> = "identifier",
        scopes: OrNull<Texts> = "scope",
        threads: OrNull<Threads> = "thread",
        messages: OrNull<Texts> = "message",
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
        /// Numbers that distinguish signposts of one name.
        identifiers: OrNull<Integers> = "identifier",
        messages: OrNull<Texts> = "start-message",
    }
}
