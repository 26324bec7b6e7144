//! What the program did with its command buffers.

use metalens_trace::{Integers, Table};

use super::columns::{Processes, Spans, Texts, Threads};
use super::reader::TableReader;

/// The table of encoders, which has both labels of each apart.
pub(crate) const ENCODERS: TableReader<Encoders> = TableReader {
    schema: "metal-application-encoders-list",
    columns: &[
        "start",
        "duration",
        "thread",
        "process",
        "cmdbuffer-label",
        "encoder-label",
        "encoder-id",
    ],
    read: Encoders::read,
};

/// The table of completions.
pub(crate) const COMPLETIONS: TableReader<Completions> = TableReader {
    schema: "metal-command-buffer-completed",
    columns: &["timestamp", "cmdbuffer-id"],
    read: Completions::read,
};

/// The table of the application's own stretches, encodings among them.
pub(crate) const APPLICATION: TableReader<ApplicationIntervals> = TableReader {
    schema: "metal-application-intervals",
    columns: &["start", "duration", "process", "encoder-id"],
    read: ApplicationIntervals::read,
};

/// The table of submissions.
pub(crate) const SUBMISSIONS: TableReader<Submissions> = TableReader {
    schema: "metal-application-command-buffer-submissions",
    columns: &[
        "start",
        "duration",
        "num-encoders",
        "process",
        "cmdbuffer-id",
    ],
    read: Submissions::read,
};

/// The encoders, each from the start to the end of its encoding.
#[derive(Debug)]
pub(crate) struct Encoders {
    /// 0 or all ones is none.
    pub ids: Integers,
    pub spans: Spans,
    /// None if the table names no process at all.
    pub processes: Option<Processes>,
    pub threads: Threads,
    pub buffer_labels: Texts,
    pub encoder_labels: Texts,
}

impl Encoders {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            ids: table.take_integers("encoder-id")?,
            spans: Spans::read(table)?,
            processes: table.take_processes("process").ok(),
            threads: table.take_threads("thread").unwrap_or_default(),
            buffer_labels: table.take_texts("cmdbuffer-label").unwrap_or_default(),
            encoder_labels: table.take_texts("encoder-label").unwrap_or_default(),
        })
    }
}

/// The moments at which the program learnt that its command buffers were done.
#[derive(Debug)]
pub(crate) struct Completions {
    pub times: Integers,
    /// 0 or all ones is none.
    pub ids: Integers,
}

impl Completions {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            times: table.take_integers("timestamp")?,
            ids: table.take_integers("cmdbuffer-id")?,
        })
    }
}

/// The application's own stretches; those with an encoder's id are encodings.
#[derive(Debug)]
pub(crate) struct ApplicationIntervals {
    /// 0 or all ones is none.
    pub encoder_ids: Integers,
    pub spans: Spans,
    /// None if the table names no process at all.
    pub processes: Option<Processes>,
}

impl ApplicationIntervals {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            encoder_ids: table.take_integers("encoder-id")?,
            spans: Spans::read(table)?,
            processes: table.take_processes("process").ok(),
        })
    }
}

/// The submissions of command buffers, each up to its commit.
#[derive(Debug)]
pub(crate) struct Submissions {
    pub encoder_counts: Integers,
    /// 0 or all ones is none.
    pub buffer_ids: Integers,
    pub spans: Spans,
    /// None if the table names no process at all.
    pub processes: Option<Processes>,
}

impl Submissions {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            encoder_counts: table.take_integers("num-encoders")?,
            buffer_ids: table.take_integers("cmdbuffer-id")?,
            spans: Spans::read(table)?,
            processes: table.take_processes("process").ok(),
        })
    }
}
