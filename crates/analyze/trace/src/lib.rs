//! Reads saved Metal recordings into typed tables.
//!
//! The input is a `.trace` bundle or an export of `xctrace`: folders, single tables, compressed or
//! not, of any size, on any machine. The crate reads strictly and in one pass: every number is the
//! number in the file, or there is an [`Error`] that names the place.
//!
//! This crate starts no process, prints nothing, and does not interpret the tables: that is the
//! duty of the analyzer.
//!
//! ```
//! use metalens_trace::{Names, Selection, read_document};
//!
//! let xml = "<trace-query-result><node xpath='/run[1]/table[1]'>\
//!     <schema name='t'><col><mnemonic>duration</mnemonic><name>Duration</name>\
//!     <engineering-type>duration</engineering-type></col></schema>\
//!     <row><duration id='1' fmt='5 ns'>5</duration></row>\
//!     <row><duration ref='1'/></row><row><sentinel/></row>\
//!     </node></trace-query-result>";
//! let mut names = Names::new(); let tables = read_document(xml.as_bytes(), "example.xml", &mut
//! names, &Selection::everything())?; let durations: Vec<Option<u64>> =
//! tables[0].integers("duration")?.iter().collect(); assert_eq!(durations, [Some(5), Some(5),
//! None]);
//! # Ok::<(), metalens_trace::Error>(())
//! ```

mod archive;
mod bundle;
mod compare;
mod decoding;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod hint;
mod input;
mod integers;
mod kind;
mod label;
mod log;
mod mangled;
mod names;
mod note;
mod partial_trace;
mod place;
mod progress;
mod run_issue;
mod select;
mod table;
mod toc;
mod trace;
mod xml;

use std::io::Read;

pub use compare::{Difference, TableComparison, compare, selection_to_compare};
pub use error::{Error, Problem, Result};
pub use input::{Input, LoadOptions, PathKind, may_have_gpu_work, path_kind};
pub use integers::Integers;
pub use kind::Kind;
pub use names::{
    Frame, FrameId, Label, LabelId, Names, Process, ProcessId, StackId, Symbol, Thread, ThreadId,
};
pub use note::{Loudness, NoteKind, TraceNote, UnknownElements};
pub use place::Place;
pub use progress::Progress;
pub use run_issue::{IssueSeverity, RunIssue};
pub use select::Selection;
pub use table::{Column, ColumnSpec, ListedDocument, Origin, Schema, Table, Values};
pub use toc::{Device, ListedProcess, ListedTable, Run, Setting, Target, TargetProcess, Toc};
pub use trace::{InputKind, Trace};

/// Reads the selected tables of one document from a stream of bytes. Errors name the document
/// `name`.
pub fn read_document(
    bytes: impl Read,
    name: &str,
    names: &mut Names,
    selection: &Selection,
) -> Result<Vec<Table>> {
    let request = xml::ReadOptions {
        selection,
        allow_truncated: false,
        fast_path: xml::FastPath::ON,
    };
    xml::read(bytes, name, names, request).map(|document| document.tables)
}
