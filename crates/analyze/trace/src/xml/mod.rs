//! Reads the documents of `xctrace export`, strictly, in one pass and in bounded memory.
//!
//! ```text
//! bytes → guard → pull → document → rows → cells → columns
//!         lines,  tokens nodes,     one    values,
//!         limits    │    schemas    row    id and ref
//!           └───→ plain ─────────────┘
//!                 complete rows, in windows
//! ```
//!
//! quick-xml reads every document. The fast path [`plain`] takes rows that have exactly the form
//! that xctrace writes, which is nearly every row. It is several times as fast, uses several
//! threads, and follows the same rules. Rows of another form, and wrong ones, are left to
//! quick-xml. Tests show that both ways give the same tables and the same errors.
//!
//! The assumptions were checked on real exports of Instruments 26.0 (297,579 rows): as many cells
//! as columns, the tag of each cell is the engineering type of its column or `<sentinel/>` (null),
//! ids rise from 1 at every depth, and references point only backwards and only to the same tag.
//! Everything else is refused with its place, since a reader that guesses gives wrong numbers.

mod attributes;
mod cells;
mod details;
mod document;
mod guard;
mod ids;
mod plain;
mod pull;
mod put_back;
mod rows;
mod tags;
mod tree;
mod values;

pub(crate) use attributes::check as check_attributes;
pub(crate) use document::{Header, ReadOptions, read, read_header};
pub(crate) use plain::FastPath;
pub(crate) use pull::{Pull, Token};
pub(crate) use tree::{Element, read_tree};
