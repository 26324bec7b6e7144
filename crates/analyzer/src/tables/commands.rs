//! What the program did with its command buffers.

use metalens_trace::Integers;

use super::columns::{OrNull, Processes, Spans, Texts, Threads, columns};

columns! {
    /// The table of encoders, which has both labels of each apart.
    table ENCODERS = "metal-application-encoders-list";
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
    /// The table of completions.
    table COMPLETIONS = "metal-command-buffer-completed";
    struct Completions {
        times: Integers = "timestamp",
        /// 0 or all ones is none.
        ids: Integers = "cmdbuffer-id",
    }
}

columns! {
    /// The table of the application's own stretches, encodings among them.
    table APPLICATION = "metal-application-intervals";
    struct ApplicationIntervals {
        /// 0 or all ones is none.
        encoder_ids: Integers = "encoder-id",
        spans: Spans = "start" and "duration",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// The table of submissions.
    table SUBMISSIONS = "metal-application-command-buffer-submissions";
    struct Submissions {
        encoder_counts: Integers = "num-encoders",
        /// 0 or all ones is none.
        buffer_ids: Integers = "cmdbuffer-id",
        spans: Spans = "start" and "duration",
        processes: Option<Processes> = "process",
    }
}
