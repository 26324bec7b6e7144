//! Tables of the program's and the driver's work on command buffers.

use metalens_trace::Integers;

use super::columns::{OrNull, Processes, Spans, Texts, Threads, columns};
use super::reader::tables;

tables! {
    /// Tables that list encodings and completions.
    struct ListedTables {
        encoders: Encoders = ENCODERS,
        completions: Completions = COMPLETIONS,
    }
}

tables! {
    /// Tables with encodings that the encoder list lost.
    struct RecoveryTables {
        application: ApplicationIntervals = APPLICATION,
        submissions: Submissions = SUBMISSIONS,
    }
}

tables! {
    /// Tables of what the driver does with a command buffer between its commit and the GPU, and of the
    /// program's waits.
    struct ChainTables {
        begins: DriverBegins = DRIVER_BEGINS,
        submissions: GpuSubmissions = GPU_SUBMISSIONS,
        waits: RecordedWaits = WAITS,
    }
}

columns! {
    /// Table of encoders, which has both labels of each one separately.
    table ENCODERS = "metal-application-encoders-list";
    struct Encoders {
        /// Ids of the encoders; 0 and all ones mean none.
        ids: Integers = "encoder-id",
        /// Ids of the command buffers; 0 and all ones mean none.
        buffer_ids: OrNull<Integers> = "cmdbuffer-id",
        spans: Spans = "start" and "duration",
        processes: Option<Processes> = "process",
        threads: OrNull<Threads> = "thread",
        buffer_labels: OrNull<Texts> = "cmdbuffer-label",
        encoder_labels: OrNull<Texts> = "encoder-label",
    }
}

columns! {
    /// Table of completions.
    table COMPLETIONS = "metal-command-buffer-completed";
    struct Completions {
        times: Integers = "timestamp",
        /// Ids of the command buffers; 0 and all ones mean none.
        ids: Integers = "cmdbuffer-id",
    }
}

columns! {
    /// Table of the program's waits for command buffers, which only a command-buffer log has.
    table WAITS = "command-buffer-log-waits";
    struct RecordedWaits {
        spans: Spans = "start" and "duration",
        /// Ids of the command buffers that were waited for.
        buffer_ids: Integers = "cmdbuffer-id",
        threads: OrNull<Threads> = "thread",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// Table of stretches of the application's time, encodings among them.
    table APPLICATION = "metal-application-intervals";
    struct ApplicationIntervals {
        /// Ids of the encoders; 0 and all ones mean none.
        encoder_ids: Integers = "encoder-id",
        spans: Spans = "start" and "duration",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// Table of submissions.
    table SUBMISSIONS = "metal-application-command-buffer-submissions";
    struct Submissions {
        encoder_counts: Integers = "num-encoders",
        /// Ids of the command buffers; 0 and all ones mean none.
        buffer_ids: Integers = "cmdbuffer-id",
        spans: Spans = "start" and "duration",
        processes: Option<Processes> = "process",
    }
}

columns! {
    /// Table of the times at which the driver began to work on command buffers.
    table DRIVER_BEGINS = "metal-command-buffer-to-accelerator-id";
    struct DriverBegins {
        times: Integers = "timestamp",
        /// Ids of the command buffers; 0 and all ones mean none.
        ids: Integers = "cmdbuffer-id",
    }
}

columns! {
    /// Table of the driver's submissions to the GPU: a row for each GPU interval or segment.
    table GPU_SUBMISSIONS = "metal-gpu-submission-to-command-buffer-id";
    struct GpuSubmissions {
        times: Integers = "timestamp",
        /// Ids of the command buffers; 0 and all ones mean none.
        buffer_ids: Integers = "cmdbuffer-id",
        /// Ids of the encoders; 0 and all ones mean none.
        encoder_ids: OrNull<Integers> = "encoder-id",
    }
}
