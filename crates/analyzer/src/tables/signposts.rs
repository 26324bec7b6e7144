//! Phases that programs named with os_signpost.

use metalens_trace::{Integers, Table};

use super::columns::{Processes, Texts, Threads};
use super::reader::TableReader;

/// The tables of events.
pub(crate) const SIGNPOST_EVENTS: TableReader<SignpostEvents> = TableReader {
    schema: "os-signpost",
    columns: &[
        "time",
        "thread",
        "process",
        "event-type",
        "scope",
        "identifier",
        "name",
        "subsystem",
        "category",
    ],
    read: SignpostEvents::read,
};

/// The table of intervals.
pub(crate) const SIGNPOST_INTERVALS: TableReader<SignpostIntervals> = TableReader {
    schema: "OSSignpostIntervals",
    columns: &[
        "start",
        "duration",
        "name",
        "category",
        "subsystem",
        "identifier",
        "process",
    ],
    read: SignpostIntervals::read,
};

/// Begins and ends.
#[derive(Debug)]
pub(crate) struct SignpostEvents {
    pub times: Integers,
    /// `Begin`, `End`, …
    pub events: Texts,
    pub kinds: SignpostKinds,
    pub scopes: Texts,
    pub threads: Threads,
}

impl SignpostEvents {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            times: table.take_integers("time")?,
            events: table.take_texts("event-type")?,
            kinds: SignpostKinds::read(table)?,
            scopes: table.take_texts("scope").unwrap_or_default(),
            threads: table.take_threads("thread").unwrap_or_default(),
        })
    }
}

/// Begins that have found their ends.
#[derive(Debug)]
pub(crate) struct SignpostIntervals {
    pub starts: Integers,
    pub durations: Integers,
    pub kinds: SignpostKinds,
}

impl SignpostIntervals {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            starts: table.take_integers("start")?,
            durations: table.take_integers("duration")?,
            kinds: SignpostKinds::read(table)?,
        })
    }
}

/// The columns that both tables have.
#[derive(Debug)]
pub(crate) struct SignpostKinds {
    pub names: Texts,
    pub processes: Processes,
    pub subsystems: Texts,
    pub categories: Texts,
    pub identifiers: Identifiers,
}

/// The column that tells signposts of one name apart: text in exports, a number in
/// bundles.
#[derive(Debug)]
pub(crate) enum Identifiers {
    Texts(Texts),
    Numbers(Integers),
}

impl SignpostKinds {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            names: table.take_texts("name")?,
            processes: table.take_processes("process")?,
            subsystems: table.take_texts("subsystem").unwrap_or_default(),
            categories: table.take_texts("category").unwrap_or_default(),
            identifiers: match table.take_integers("identifier") {
                Ok(numbers) => Identifiers::Numbers(numbers),
                Err(_) => Identifiers::Texts(table.take_texts("identifier").unwrap_or_default()),
            },
        })
    }
}
