//! Defines notes: facts about an input that a reader of its numbers should know.

use std::collections::BTreeMap;
use std::fmt;

use metalens_message::{Message, counted, message, name, path, quote, table, ungrouped};

use crate::error::list_after;
use crate::run_issue::{IssueSeverity, RunIssue};

/// A fact about the input that did not stop the reading. Show the notes with the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceNote {
    /// The document is cut off; only its complete rows were read.
    Truncated {
        /// Path of the file.
        file: String,
        /// Schema of its table.
        table: String,
        /// Number of complete rows.
        rows: usize,
    },
    /// A simulator wrote the recording, with known correct results.
    Synthetic,
    /// The input has no table of contents.
    NoToc,
    /// The recording has several runs, and one was read: the last of those that the input has tables of.
    SeveralRuns {
        /// Number of the run that was read.
        chosen: u64,
        /// Numbers of all runs.
        all: Vec<u64>,
        /// Numbers of the runs that have tables.
        with_tables: Vec<u64>,
    },
    /// A run of the bundle has no list of tables.
    RunLeftOut {
        /// Number of the run.
        run: u64,
    },
    /// The document has unknown elements.
    UnknownElements(UnknownElements),
    /// A document has rows without a schema after a table with one. They were refused.
    WithoutSchema {
        /// Path of the file.
        file: String,
        /// Number of these rows.
        rows: u64,
    },
    /// Several tables have the same schema; the largest was read.
    SeveralTables {
        /// Schema of the tables.
        schema: String,
        /// Number of these tables.
        count: usize,
        /// Number of rows of the table that was read.
        rows: usize,
    },
    /// Columns contain raw numbers, because their type was never compared with an export.
    Undecoded {
        /// Schema of the table.
        table: String,
        /// Mnemonics of the columns.
        columns: Vec<String>,
    },
    /// The bundle requires a newer format version than the known ones.
    NewerFormat {
        /// Version that the bundle requires.
        version: u64,
    },
    /// The bundle has no `form.template`, which names the process and the device.
    NoTemplate,
    /// A part of `form.template`, which names the process and the device, cannot be read.
    DamagedTemplate,
    /// `form.template` can be read, but lacks facts that other recordings have.
    TemplateLacks {
        /// Descriptions of the missing facts.
        facts: Vec<&'static str>,
    },
    /// The process is known from the table of life cycles and not from `form.template`.
    TargetFromLifeCycle,
    /// The bundle has rows of a table that its list of tables does not name.
    Unlisted {
        /// Folder of the rows.
        store: String,
        /// Schema of the table, if it is known.
        table: Option<String>,
    },
    /// A file of the input could not be read, and was not needed.
    Unreadable {
        /// Path of the file.
        file: String,
        /// Reason why it could not be read.
        why: String,
    },
    /// Instruments itself reports an error or a warning.
    Issue(RunIssue),
    /// The writer of a command-buffer log says what it could not do.
    Writer {
        /// Text of the writer.
        text: String,
    },
    /// A command-buffer log lacks command buffers: its end counts them as lost, or their numbers are
    /// missing.
    LogLost {
        /// Number of these command buffers.
        lost: u64,
        /// Number of all command buffers, with these.
        all: u64,
    },
    /// A command-buffer log has times of encoders that are not in those of their command buffer.
    SampledOutside {
        /// Number of these encoders.
        encoders: u64,
    },
    /// The program that wrote a command-buffer log gave each dispatch an encoder, to measure it.
    UpperBounds {
        /// Number of these encoders.
        encoders: u64,
        /// Number of all encoders, with these.
        all: u64,
    },
    /// There are more notes of a kind.
    More {
        /// The kind.
        kind: NoteKind,
        /// Number of these notes.
        notes: usize,
    },
}

/// The unknown elements of a document. An input may have any number of them, so they are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownElements {
    /// Path of the file.
    pub file: String,
    /// Line number of the first one, from 1.
    pub line: u64,
    /// Names of the first few kinds, with the number of elements of each.
    pub kinds: Vec<(String, u64)>,
    /// Number of elements of all other kinds.
    pub others: u64,
}

impl UnknownElements {
    /// Number of kinds that are named.
    const NAMED: usize = 8;

    /// Returns no elements of a document, the first of which will be on a line.
    pub(crate) fn new(file: String, line: u64) -> Self {
        Self {
            file,
            line,
            kinds: Vec::new(),
            others: 0,
        }
    }

    /// Counts an element. `shorten` makes its name short enough for a message.
    pub(crate) fn add(&mut self, name: &str, shorten: impl Fn(&str) -> String) {
        let name = shorten(name);
        let has_room = self.kinds.len() < Self::NAMED;
        match self.kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None if has_room => self.kinds.push((name, 1)),
            None => self.others += 1,
        }
    }

    /// Returns the elements as a list: `<a>, <b> (3 times) and 5 others`.
    fn list(&self) -> String {
        let kinds = self.kinds.iter().map(|(name, count)| match count {
            1 => format!("<{name}>"),
            _ => format!("<{name}> ({count} times)"),
        });
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        match self.others {
            0 => kinds,
            others => format!("{kinds} and {others} others"),
        }
    }
}

/// The kind of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoteKind {
    /// Stable name of the kind.
    pub id: &'static str,
    /// Whether a note of the kind changes the meaning of numbers.
    pub loudness: Loudness,
}

/// Whether a note changes the meaning of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loudness {
    /// Numbers may be other ones than they seem: something is missing, guessed or made up.
    Loud,
    /// Numbers mean what they say.
    Quiet,
}

impl TraceNote {
    /// Returns the kind of the note. Every kind chooses here whether it is loud: what is missing, guessed
    /// or made up is.
    pub fn kind(&self) -> NoteKind {
        use Loudness::{Loud, Quiet};

        let (id, loudness) = match self {
            Self::Truncated { .. } => ("truncated", Loud),
            Self::Synthetic => ("synthetic", Loud),
            Self::NoToc => ("no-contents", Loud),
            Self::SeveralRuns { .. } => ("several-runs", Quiet),
            Self::RunLeftOut { .. } => ("run-left-out", Loud),
            Self::UnknownElements(_) => ("unknown-element", Quiet),
            Self::WithoutSchema { .. } => ("rows-without-schema", Loud),
            Self::SeveralTables { .. } => ("several-tables", Loud),
            Self::Undecoded { .. } => ("undecoded-columns", Quiet),
            Self::NewerFormat { .. } => ("newer-format", Loud),
            Self::NoTemplate | Self::DamagedTemplate => ("facts-missing", Loud),
            // Each of these facts is listed as unknown.
            Self::TemplateLacks { .. } => ("facts-missing", Quiet),
            Self::TargetFromLifeCycle => ("target-from-life-cycle", Quiet),
            Self::Unlisted { .. } => ("unlisted-rows", Loud),
            Self::Unreadable { .. } => ("files-left-out", Loud),
            Self::Issue(_) => ("recording-issue", Loud),
            Self::Writer { .. } => ("note-of-the-writer", Loud),
            Self::LogLost { .. } => ("command-buffers-lost", Loud),
            Self::SampledOutside { .. } => ("sampled-times-outside", Loud),
            Self::UpperBounds { .. } => ("times-are-upper-bounds", Loud),
            Self::More { kind, .. } => return *kind,
        };
        NoteKind { id, loudness }
    }

    /// Keeps each note once and the first notes of each kind, and counts the others: a hostile input
    /// may cause any number.
    pub(crate) fn limited(notes: Vec<Self>) -> Vec<Self> {
        /// Maximum number of notes of a kind.
        const MAX: usize = 20;
        let mut counts: BTreeMap<NoteKind, usize> = BTreeMap::new();
        let mut kept: Vec<Self> = Vec::new();
        for note in notes {
            // Several tables of one schema cause the same note.
            if kept.contains(&note) {
                continue;
            }
            let count = counts.entry(note.kind()).or_default();
            *count += 1;
            if *count <= MAX {
                kept.push(note);
            }
        }
        let more = counts.into_iter().filter(|&(_, count)| count > MAX);
        kept.extend(more.map(|(kind, count)| Self::More {
            kind,
            notes: count - MAX,
        }));
        kept
    }

    /// Returns the sentence of the note.
    pub fn message(&self) -> Message {
        match self {
            Self::Truncated { file, table: cut, rows } => message!(
                "TRUNCATED: {} is cut off; only the {} complete rows of {} before the cut were used, \
                 and all later rows are missing",
                path(file), ungrouped(*rows as u64), table(cut)
            ),
            Self::Synthetic => "SYNTHETIC: a simulator wrote this recording; no GPU ran any of it".into(),
            Self::NoToc => {
                "toc.xml is missing: process, device, versions and wall time are unknown".into()
            }
            Self::SeveralRuns { chosen, all, with_tables } if with_tables == all => message!(
                "the recording has runs {}; this is run {} (use --run N for another)",
                joined(all), ungrouped(*chosen)
            ),
            Self::SeveralRuns { chosen, all, with_tables } => message!(
                "the recording has runs {}, and the input has tables of run {}; this is run {}",
                joined(all), joined(with_tables), ungrouped(*chosen)
            ),
            Self::RunLeftOut { run } => message!(
                "run {} of the bundle has no list of its tables and was left out",
                ungrouped(*run)
            ),
            Self::UnknownElements(unknown) => message!(
                "{}, from line {}: ignored unknown elements: {}",
                path(&unknown.file), ungrouped(unknown.line), name(&unknown.list())
            ),
            Self::WithoutSchema { file, rows } => message!(
                "{}: refused {} of later tables, because only the first table has a <schema>: the \
                 --xpath selected several; export one table per call",
                path(file), counted(*rows, "row")
            ),
            Self::SeveralTables { schema, count, rows } => message!(
                "the run has {} tables named {}; the largest, with {} rows, was used",
                ungrouped(*count as u64), table(schema), ungrouped(*rows as u64)
            ),
            Self::Undecoded { table: undecoded, columns } => message!(
                "{}: raw numbers (undecoded) in {}, because their type was never compared with an \
                 export",
                table(undecoded), name(&columns.join(", "))
            ),
            Self::NewerFormat { version } => message!(
                "the bundle has format version {}, which is newer than all versions that were compared \
                 with an export: compare its numbers with those of xctrace export",
                ungrouped(*version)
            ),
            Self::NoTemplate => {
                "form.template is missing: device, versions and wall time are unknown, and process \
                 names are cut at 31 characters by the system".into()
            }
            Self::DamagedTemplate => {
                "form.template is damaged: process, device, versions and times may be incomplete or \
                 wrong".into()
            }
            Self::TemplateLacks { facts } => {
                message!("form.template does not contain: {}", name(&facts.join(", ")))
            }
            Self::TargetFromLifeCycle => {
                "the launched process was found by its creation in the table life-cycle-period".into()
            }
            Self::Unlisted { store, table: known } => message!(
                "the bundle has rows of {} in {}, which its list of tables does not name; they were \
                 not read",
                known.as_ref().map_or_else(|| "a table".into(), |known| table(known)), path(store)
            ),
            Self::Unreadable { file, why } => {
                message!("{} was left out: {}", path(file), quote(why))
            }
            Self::Issue(issue) => issue_message(issue),
            Self::Writer { text } => message!("the writer of the log says: {}", quote(text)),
            Self::LogLost { lost, all } => message!(
                "COMMAND BUFFERS LOST: {} of {} are not in the log, so GPU busy time and all counts are \
                 lower bounds, and idle time is an upper bound",
                ungrouped(*lost), ungrouped(*all)
            ),
            Self::SampledOutside { encoders } => message!(
                "the sampled times of {} encoders lie outside of those of their command buffers, which \
                 were used instead: the clocks differ",
                ungrouped(*encoders)
            ),
            Self::UpperBounds { encoders, all } => message!(
                "{} of {} encoders had a single dispatch each only to measure it: their times are upper \
                 bounds, and the program was slower than it is",
                ungrouped(*encoders), ungrouped(*all)
            ),
            Self::More { kind, notes } => {
                message!("{} more notes of the kind {} are not shown", ungrouped(*notes as u64), kind.id)
            }
        }
    }
}

impl fmt::Display for TraceNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

fn issue_message(issue: &RunIssue) -> Message {
    let said = quote(&issue.message);
    match issue.severity {
        _ if issue.is_loss() => message!(
            "EVENTS LOST: Instruments reports `{}`. Rows are missing, so GPU busy time and all counts \
             are lower bounds, and idle time is an upper bound",
            said
        ),
        IssueSeverity::Error => message!(
            "ERROR while recording: Instruments reports `{}`. Parts of the recording may be missing",
            said
        ),
        IssueSeverity::Warning => {
            message!("WARNING while recording: Instruments reports `{}`", said)
        }
    }
}

fn joined(numbers: &[u64]) -> Message {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    name(&list_after("", &numbers, ""))
}
