//! Defines the errors of an input, with the cause, the place and a hint.
//!
//! Every error has a [`Problem`] (the cause), a [`Place`] (the file, line, byte, row and column)
//! and a [hint](metalens_failure::Failure::hint) (what to do). They are separate so that a program
//! can match on the cause and a person sees all three.

use std::fmt;
use std::io;

use metalens_failure::in_plain_words;
use metalens_files::{NotAFile, TooLarge};

use crate::place::Place;

/// A failed read: the cause and the place. Boxed, because it is rare and large.
#[derive(Debug)]
pub struct Error(Box<Inner>);

/// The content of an [`Error`], in a box so that results stay small.
#[derive(Debug)]
struct Inner {
    problem: Problem,
    place: Place,
}

/// The result of reading something.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns an error with a problem and a place.
    #[must_use]
    pub fn new(problem: Problem, place: Place) -> Self {
        Self(Box::new(Inner { problem, place }))
    }

    /// Returns an error about a complete file.
    #[must_use]
    pub fn in_file(problem: Problem, file: impl Into<String>) -> Self {
        Self::new(problem, Place::file(file))
    }

    /// Returns the problem that caused the error.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// Returns only the cause.
    pub fn into_problem(self) -> Problem {
        self.0.problem
    }

    /// Returns the place of the error.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Adds the table, if the code that failed did not know it.
    #[must_use]
    pub fn at_table(mut self, schema: &str) -> Self {
        let table = &mut self.0.place.table;
        table.get_or_insert_with(|| schema.to_owned());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.0.place.to_string();
        if place.is_empty() {
            write!(f, "{}", self.0.problem)
        } else {
            write!(f, "{place}: {}", self.0.problem)
        }
    }
}

// No `source`, since the message contains the text of the problem.
impl std::error::Error for Error {}

/// The causes of errors. The texts are lower case, without a full stop, and follow a place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system refused an operation.
    #[error("{}", in_plain_words(&.0.to_string()))]
    Io(io::Error),
    /// The path is not a regular file. The reader does not wait for such a path.
    #[error("{0}")]
    NotAFile(NotAFile),
    /// The file is larger than expected.
    #[error("{0}")]
    TooLarge(TooLarge),
    /// The compressed stream is damaged.
    #[error("the {format} data is damaged: {detail}")]
    Compression {
        /// Name of the format: gzip, zlib or zip.
        format: &'static str,
        /// Text of the decoder.
        detail: String,
    },
    /// The file is not XML.
    #[error("this is {found}, not a recording")]
    NotXml {
        /// Description of the actual content.
        found: &'static str,
    },
    /// The file or the folder is something that metalens knows, but no recording.
    #[error("this is {found}, not a recording")]
    Mistaken {
        /// Description of the actual content.
        found: &'static str,
        /// Advice on what to give instead.
        hint: &'static str,
    },
    /// A command-buffer log is not as its format says.
    #[error("{detail}")]
    BrokenLog {
        /// Description of the fault, with its key.
        detail: String,
    },
    /// Git LFS left a pointer in place of the file.
    #[error("this is a Git LFS pointer; the file itself was not fetched")]
    LfsPointer,
    /// The file is XML, but not an export.
    #[error("the document is a <{root}>, not an xctrace export")]
    NotAnExport {
        /// Name of the root element.
        root: String,
    },
    /// The file is a table of contents, and a table is needed.
    #[error("this is a table of contents, which lists tables but contains none")]
    TocAlone,
    /// The file is a table, and the table of contents is needed.
    #[error("this is a table, not a table of contents")]
    NotToc,
    /// The query of `xctrace export` matched nothing.
    #[error("the export is empty: its --xpath matched no table")]
    NothingSelected,
    /// A folder or archive has no documents.
    #[error("no export found: neither toc.xml nor a table")]
    EmptyFolder,
    /// A folder has no documents, but inner folders with exports.
    #[error("no export found here, only in inner folders{}", list_after(": ", .folders, ""))]
    SeveralExports {
        /// Folders that have an export.
        folders: Vec<String>,
    },
    /// An archive has several recordings.
    #[error("the archive has {} recordings{}", .recordings.len(), list_after(": ", .recordings, ""))]
    SeveralRecordings {
        /// Folders of the recordings in the archive.
        recordings: Vec<String>,
    },
    /// A bundle lacks a file, or the end of one.
    #[error("the bundle is incomplete: {detail}")]
    IncompleteBundle {
        /// Description of what it lacks.
        detail: String,
    },
    /// A bundle has no run at all.
    #[error("the bundle is incomplete: it has no folder corespace/run1")]
    EmptyBundle,
    /// A bundle has no tables, and says why.
    #[error("the recording failed: Instruments reports {issues}")]
    FailedRecording {
        /// List of the errors and warnings.
        issues: String,
        /// Advice on what to do, if it is certain.
        remedy: Option<&'static str>,
    },
    /// A bundle is of an old Instruments, whose layout is not read.
    #[error(
        "it was recorded by Instruments older than 12, which metalens does not read ({detail})"
    )]
    OldBundle {
        /// Description of the first part that is not read.
        detail: String,
    },
    /// A part of a bundle has a layout that was never compared with an export.
    #[error("unsupported bundle layout: {detail}")]
    UnsupportedBundle {
        /// Description of the difference.
        detail: String,
    },
    /// A table of a bundle cannot be read; the others can.
    #[error("cannot read table {schema} without xctrace: {why}")]
    UnreadableTable {
        /// Schema of the table.
        schema: String,
        /// Reason why it cannot be read.
        why: String,
        /// Path of the bundle.
        path: String,
        /// Number of the run.
        run: u64,
    },
    /// The recording was never finished.
    #[error("the recording was not finished: it has raw data but no tables")]
    UnfinishedBundle {
        /// Path of the bundle, for the hint.
        path: String,
    },
    /// The content is not what xctrace writes.
    #[error("{0}")]
    Unexpected(String),
    /// The document ends too early.
    #[error("the document is cut off after {whole_rows} complete rows")]
    Truncated {
        /// Number of complete rows.
        whole_rows: u64,
    },
    /// A node has no schema.
    #[error("rows without a <schema> before them")]
    NoSchema,
    /// The input does not have a table.
    #[error("the input has no table {schema}{}", list_after(" (it has ", .present, ")"))]
    NoSuchTable {
        /// Schema of the table.
        schema: String,
        /// Schemas of the tables that the input has.
        present: Vec<String>,
    },
    /// The input has fewer tables with this name.
    #[error("there is no table {schema} number {number}; the run has {count}")]
    NoSuchNumber {
        /// Schema of the tables.
        schema: String,
        /// Requested number, from 1.
        number: usize,
        /// Number of tables with this schema.
        count: usize,
    },
    /// A table does not have a column.
    #[error("the table has no column `{mnemonic}`{}", list_after(" (it has ", .present, ")"))]
    NoSuchColumn {
        /// Mnemonic of the column.
        mnemonic: String,
        /// Mnemonics of the columns that the table has.
        present: Vec<String>,
    },
    /// A column has an unexpected type.
    #[error("the column contains {found}, but {expected} are needed")]
    ColumnType {
        /// Description of the needed type, in the plural.
        expected: &'static str,
        /// Description of the actual type, in the plural.
        found: &'static str,
    },
    /// The same table is in two files.
    #[error("the same table is in two files: {first} and {second}")]
    SameTableTwice {
        /// Path of the first file.
        first: String,
        /// Path of the second file.
        second: String,
    },
    /// The recording does not have a run.
    #[error("the recording has no run {requested}{}", list_after("; its runs: ", .present, ""))]
    NoSuchRun {
        /// Number of the requested run.
        requested: u64,
        /// Numbers of the runs that the recording has.
        present: Vec<String>,
    },
    /// The recording has the run, but no table of it was exported.
    #[error("the export has no tables of run {requested}{}", list_after("; it has tables of run ", .present, ""))]
    NoTablesOfRun {
        /// Number of the requested run.
        requested: u64,
        /// Numbers of the runs that have tables.
        present: Vec<String>,
    },
    /// The table of contents is invalid.
    #[error("invalid table of contents: {detail}")]
    BrokenToc {
        /// Description of the fault.
        detail: String,
    },
}

/// The failure of a decoder. An [`io::Error`] contains it.
#[derive(Debug, thiserror::Error)]
#[error("{format}: {detail}")]
pub(crate) struct DecoderFailure {
    pub(crate) format: &'static str,
    pub(crate) detail: String,
}

impl DecoderFailure {
    /// Returns the problem of the failure inside an error, if there is one.
    fn inside(error: &io::Error) -> Option<Problem> {
        let failure = error.get_ref()?.downcast_ref::<Self>()?;
        Some(Problem::Compression {
            format: failure.format,
            detail: failure.detail.clone(),
        })
    }
}

impl Problem {
    /// Returns the problem that a reader or a decoder put inside a system error, if there is one.
    pub(crate) fn inside(error: &io::Error) -> Option<Self> {
        let not_a_file = metalens_files::not_a_file(error).map(Self::NotAFile);
        let too_large = metalens_files::too_large(error).map(Self::TooLarge);
        not_a_file
            .or(too_large)
            .or_else(|| DecoderFailure::inside(error))
    }

    /// Returns true if the input itself is faulty, not its environment (a missing file, a full
    /// disk, a wrong argument).
    pub fn is_unusable_input(&self) -> bool {
        !matches!(
            self,
            Self::Io(_)
                | Self::NoSuchTable { .. }
                | Self::NoSuchNumber { .. }
                | Self::NoSuchRun { .. }
                | Self::NoTablesOfRun { .. }
                | Self::SeveralExports { .. }
                | Self::SeveralRecordings { .. }
                | Self::EmptyFolder
        )
    }
}

/// Returns the problem of a document that is not well-formed.
pub(crate) fn malformed(detail: impl fmt::Display) -> Problem {
    Problem::Unexpected(format!("not well-formed XML: {detail}"))
}

/// Returns the problem of a document that has more of something, in the plural, than any export.
pub(crate) fn too_many(what: &str, limit: usize) -> Problem {
    Problem::Unexpected(format!("more than {limit} {what}"))
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::inside(&error).unwrap_or(Self::Io(error))
    }
}

/// Lists up to eight items between two texts. Returns an empty text for no items.
pub(crate) fn list_after(before: &str, items: &[String], after: &str) -> String {
    const SHOWN: usize = 8;
    if items.is_empty() {
        return String::new();
    }
    let shown: Vec<&str> = items.iter().take(SHOWN).map(String::as_str).collect();
    let more = match items.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{before}{}{more}{after}", shown.join(", "))
}
