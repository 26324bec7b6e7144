//! What the program did with its command buffers.

use metalens_trace::Integers;

use super::columns::{OrNull, Processes, Spans, Texts, Threads, columns};
use super::reader::TableReader;

/// The table of encoders, which has both labels of each apart.
pub(crate) const ENCODERS: TableReader<Encoders> =
    Encoders::of_table("metal-application-encoders-list");

/// The table of completions.
pub(crate) const COMPLETIONS: TableReader<Completions> =
    Completions::of_table("metal-command-buffer-completed");

/// The table of the application's own stretches, encodings among them.
pub(crate) const APPLICATION: TableReader<ApplicationIntervals> =
    ApplicationIntervals::of_table("metal-application-intervals");

/// The table of submissions.
pub(crate) const SUBMISSIONS: TableReader<Submissions> =
    Submissions::of_table("metal-application-command-buffer-submissions");

columns! {
    /// The encoders, each from the start to the end of its encoding.
    struct Encoders {
        /// 0 or all ones is none.
        ids: Integers = "encoder-id",
        spans: Spans = "start" and "duration",
        processes: Option<Processes> = "process",
        threads: OrNull<Threads> = "thread",
        buffer_labels: OrNull<Texts> = "cmdbuffer-label",
        encoder_labels: OrNull<Texts> = "encoder-label",
    }
}

columns! {
    /// The moments at which the program learnt that its command buffers were done.
    struct Completions {
        times: Integers = "timestamp",
        /// 0 or all ones is none.
        ids: Integers = "cmdbuffer-id",
    }
}

columns! {
    /// The application's own stretches; those with an encoder's id are encodings.
    struct ApplicationIntervals {
        /// 0 or all ones is none.
        encoder_ids: Integers = "encoder-id",
        spans: Spans = "start" and "duration",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// The submissions of command buffers, each up to its commit.
    struct Submissions {
        encoder_counts: Integers = "num-encoders",
        /// 0 or all ones is none.
        buffer_ids: Integers = "cmdbuffer-id",
        spans: Spans = "start" and "duration",
        processes: Option<Processes> = "process",
    }
}
