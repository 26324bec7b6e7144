//! What can be wrong with an input, where, and what its owner can do about it.
//!
//! Every error is three things: a [`Problem`] (the cause), a [`Place`] (the
//! file, line, byte, row and column) and a [hint](Error::hint) (what to do).
//! They are kept apart so that a program can match on the cause and a person
//! can be shown all three.

use std::fmt;
use std::io;

use metalens_files::{NotAFile, TooLarge};

use crate::input::compression_problem;
use crate::place::Place;

/// A failed read: the cause and the place. Boxed, because it is rare and big.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    problem: Problem,
    place: Place,
}

/// The result of reading something.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A problem at a place.
    #[must_use]
    pub fn new(problem: Problem, place: Place) -> Self {
        Self(Box::new(Inner { problem, place }))
    }

    /// A problem with a file as a whole.
    #[must_use]
    pub fn in_file(problem: Problem, file: impl Into<String>) -> Self {
        Self::new(problem, Place::file(file))
    }

    /// The cause.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The cause alone.
    #[must_use]
    pub fn into_problem(self) -> Problem {
        self.0.problem
    }

    /// Where it was found.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Names the table, when the code that failed did not know it.
    #[must_use]
    pub fn at_table(mut self, schema: &str) -> Self {
        let table = &mut self.0.place.table;
        table.get_or_insert_with(|| schema.to_owned());
        self
    }

    /// Names the file, when the code that failed did not know it.
    #[must_use]
    pub fn at_file(mut self, file: &str) -> Self {
        if self.0.place.file.is_empty() {
            file.clone_into(&mut self.0.place.file);
        }
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

// No `source`: the problem's words are already in the message.
impl std::error::Error for Error {}

/// The causes. Wording: lower case, no full stop, fit to stand after a place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system refused.
    #[error("{0}")]
    Io(io::Error),
    /// Something that is no regular file, in the place of one: it is not waited for.
    #[error("{0}")]
    NotAFile(NotAFile),
    /// A file that is larger than what is expected of its kind.
    #[error("{0}")]
    TooLarge(TooLarge),
    /// The compressed stream is broken.
    #[error("the {format} data is damaged: {detail}")]
    Compression {
        /// gzip, zlib, zstd or zip.
        format: &'static str,
        /// The decoder's words.
        detail: String,
    },
    /// Not XML at all.
    #[error("this is {found}, not an xctrace export")]
    NotXml {
        /// What it looks like.
        found: &'static str,
    },
    /// A pointer that Git LFS left in place of the file.
    #[error("this is a Git LFS pointer: the file itself was never fetched")]
    LfsPointer,
    /// XML, but of something else.
    #[error("the document is a <{root}>, not an xctrace export")]
    NotAnExport {
        /// The root element.
        root: String,
    },
    /// The table of contents where a table was needed.
    #[error("this is a table of contents; it names the tables but holds none")]
    TocAlone,
    /// A table where the table of contents was needed.
    #[error("this is a table, not a table of contents")]
    NotToc,
    /// `xctrace export` selected nothing.
    #[error("the export is empty: its --xpath matched no table")]
    NothingSelected,
    /// Nothing readable in a folder or archive.
    #[error("there is no export in here: no toc.xml and no table")]
    EmptyFolder,
    /// A folder of several exports.
    #[error("there is no export in here, but in its folders{}", list_after(": ", .folders, ""))]
    SeveralExports {
        /// The folders that hold one.
        folders: Vec<String>,
    },
    /// An archive of several traces.
    #[error("there are {} traces in here{}", .traces.len(), list_after(": ", .traces, ""))]
    SeveralTraces {
        /// Their folders in the archive.
        traces: Vec<String>,
    },
    /// A part of a bundle that is not laid out as any bundle that was compared.
    #[error("unsupported bundle layout: {detail}")]
    UnsupportedBundle {
        /// What is different.
        detail: String,
    },
    /// One table of a bundle, when its layout was never seen; the others are read.
    #[error("table {schema} cannot be read natively: {why}")]
    UnreadableTable {
        /// The table.
        schema: String,
        /// Why.
        why: String,
        /// The bundle.
        path: String,
        /// The run.
        run: u64,
    },
    /// A recording that was never finished.
    #[error("this recording was not finished: it holds raw data and no tables")]
    UnfinishedBundle {
        /// The bundle's path, for the command that works.
        path: String,
    },
    /// Broken XML.
    #[error("not well-formed XML: {detail}")]
    Malformed {
        /// What exactly.
        detail: String,
    },
    /// A DOCTYPE, which xctrace never writes and attackers do.
    #[error("the document has a DOCTYPE, which xctrace never writes")]
    Doctype,
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A character that XML forbids.
    #[error("byte 0x{byte:02x} may not appear in XML")]
    ControlCharacter {
        /// The byte.
        byte: u8,
    },
    /// One tag or text that would not end.
    #[error("a single tag or text is longer than {limit} bytes")]
    TokenTooLong {
        /// The limit.
        limit: u64,
    },
    /// Elements inside elements without end.
    #[error("elements are nested deeper than {limit}")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// More of something than any export has.
    #[error("more than {limit} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The document ends in the middle.
    #[error("the document ends in the middle, after {whole_rows} whole rows")]
    Truncated {
        /// Rows that are complete.
        whole_rows: u64,
    },
    /// A node without a schema.
    #[error("rows without a <schema> before them")]
    NoSchema,
    /// A schema with a hole.
    #[error("the schema's column {position} has no {missing}")]
    SchemaIncomplete {
        /// 1-based position.
        position: usize,
        /// mnemonic or engineering-type.
        missing: &'static str,
    },
    /// Two columns of one name.
    #[error("two columns are called `{mnemonic}`")]
    DuplicateMnemonic {
        /// The name.
        mnemonic: String,
    },
    /// A row with too few cells.
    #[error("the row has {found} cells; the schema has {expected} columns")]
    MissingCells {
        /// Columns of the schema.
        expected: usize,
        /// Cells of the row.
        found: usize,
    },
    /// A row with too many cells.
    #[error("a <{found}> too many: the schema has only {expected} columns")]
    ExtraCell {
        /// Columns of the schema.
        expected: usize,
        /// The tag of the first cell too many.
        found: String,
    },
    /// A cell of another type than its column.
    #[error("a <{found}> stands where the schema has a <{expected}>")]
    WrongTag {
        /// The column's engineering type.
        expected: String,
        /// The cell's tag.
        found: String,
    },
    /// An element where none belongs.
    #[error("an unexpected <{found}> inside <{inside}>")]
    UnexpectedElement {
        /// The element.
        found: String,
        /// Its parent.
        inside: String,
    },
    /// A part that there can be one of.
    #[error("a second <{found}> inside <{inside}>: which of them holds?")]
    SecondPart {
        /// The part.
        found: String,
        /// What it is a part of.
        inside: String,
    },
    /// A process or a thread whose name is in an attribute that it lacks.
    #[error("a <{tag}> without a fmt has no name")]
    Unnamed {
        /// Which of them.
        tag: &'static str,
    },
    /// Text where none belongs.
    #[error("unexpected text {text:?}")]
    UnexpectedText {
        /// Its beginning.
        text: String,
    },
    /// A reference to nothing.
    #[error("ref={id} points to an id that was not defined before it")]
    UnknownRef {
        /// The id.
        id: u64,
    },
    /// A reference to something else.
    #[error("a <{expected}> has ref={id}, but that id belongs to a <{found}>")]
    RefType {
        /// The id.
        id: u64,
        /// The referring tag.
        expected: String,
        /// The tag that was defined.
        found: String,
    },
    /// One id for two things.
    #[error("id={id} is defined twice")]
    DuplicateId {
        /// The id.
        id: u64,
    },
    /// A number that is none.
    #[error("{text:?} is not a whole number")]
    BadNumber {
        /// What stands there.
        text: String,
    },
    /// A number below zero.
    #[error("{text} is negative")]
    Negative {
        /// What stands there.
        text: String,
    },
    /// A number beyond 64 bits.
    #[error("{text} does not fit into 64 bits")]
    NumberTooLarge {
        /// What stands there.
        text: String,
    },
    /// An interval that ends after the end of time.
    #[error("start {start_ns} + duration {duration_ns} does not fit into 64 bits")]
    EndOverflow {
        /// Start, ns.
        start_ns: u64,
        /// Duration, ns.
        duration_ns: u64,
    },
    /// A table that the input lacks.
    #[error("there is no table {schema} in here{}", list_after(" (it has ", .present, ")"))]
    NoSuchTable {
        /// The table.
        schema: String,
        /// What there is.
        present: Vec<String>,
    },
    /// A column that a table lacks.
    #[error("the table has no column `{mnemonic}`{}", list_after(" (it has ", .present, ")"))]
    NoSuchColumn {
        /// The column.
        mnemonic: String,
        /// What there is.
        present: Vec<String>,
    },
    /// A column of an unexpected type.
    #[error("the column holds {found}, where {expected} are needed")]
    ColumnType {
        /// What is needed.
        expected: &'static str,
        /// What it holds.
        found: &'static str,
    },
    /// The same table twice.
    #[error("the same table is in two files: {first} and {second}")]
    SameTableTwice {
        /// One file.
        first: String,
        /// The other.
        second: String,
    },
    /// A run that is not there.
    #[error("there is no run {asked}{}", list_after("; the trace has run ", .present, ""))]
    NoSuchRun {
        /// The run asked for.
        asked: u64,
        /// The runs there are.
        present: Vec<String>,
    },
    /// A run that the recording has, and of which no table was exported.
    #[error("the recording has run {asked}, but no table in here is of it{}", list_after("; there are tables of run ", .present, ""))]
    NoTablesOfRun {
        /// The run asked for.
        asked: u64,
        /// The runs that there are tables of.
        present: Vec<String>,
    },
    /// A table of contents without what it must have.
    #[error("the table of contents is broken: {detail}")]
    BrokenToc {
        /// What is missing or odd.
        detail: String,
    },
}

impl Problem {
    /// What a reader or a decoder of ours refused, travelling inside the system's error.
    pub(crate) fn inside(error: &io::Error) -> Option<Self> {
        let not_a_file = metalens_files::not_a_file(error).map(Self::NotAFile);
        let too_large = metalens_files::too_large(error).map(Self::TooLarge);
        not_a_file
            .or(too_large)
            .or_else(|| compression_problem(error))
    }

    /// Whether the input itself is at fault, rather than its surroundings
    /// (a missing file, a full disk, a wrong argument).
    #[must_use]
    pub fn is_unusable_input(&self) -> bool {
        !matches!(
            self,
            Self::Io(_)
                | Self::NoSuchTable { .. }
                | Self::NoSuchRun { .. }
                | Self::NoTablesOfRun { .. }
                | Self::SeveralExports { .. }
                | Self::SeveralTraces { .. }
                | Self::EmptyFolder
        )
    }
}

/// Makes a problem of what is not as it should be in a document.
pub(crate) fn malformed(detail: impl fmt::Display) -> Problem {
    Problem::Malformed {
        detail: detail.to_string(),
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::inside(&error).unwrap_or(Self::Io(error))
    }
}

/// Up to eight of the items.
fn list_after(before: &str, items: &[String], after: &str) -> String {
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
