//! Phases that programs named with os_signpost.

use metalens_trace::Integers;

use super::columns::{Either, OrNull, Processes, Texts, Threads, columns};
use super::reader::TableReader;

/// The tables of events.
pub(crate) const SIGNPOST_EVENTS: TableReader<SignpostEvents> =
    SignpostEvents::of_table("os-signpost");

/// The table of intervals.
pub(crate) const SIGNPOST_INTERVALS: TableReader<SignpostIntervals> =
    SignpostIntervals::of_table("OSSignpostIntervals");

/// The column that tells signposts of one name apart: a number in bundles, text in exports.
pub(crate) type Identifiers = OrNull<Either<Integers, Texts>>;

columns! {
    /// Begins and ends.
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
    /// Begins that have found their ends.
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
