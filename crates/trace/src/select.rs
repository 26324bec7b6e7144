//! What of a trace to keep: which tables, and which of their columns.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Tables and columns to keep. All of a document is read and checked either way.
///
/// A table that is wanted must be readable if it is there, in an export and in a bundle
/// alike: what is wrong with it refuses the trace. The exceptions are those of
/// [`and_if_readable`](Self::and_if_readable) and [`where_readable`](Self::where_readable).
#[derive(Debug, Clone)]
pub struct Selection {
    keep: Keep,
    rendered: bool,
    numbered: bool,
    /// Tables that are wanted if they can be read.
    optional: BTreeSet<String>,
    /// All are.
    if_readable: bool,
}

#[derive(Debug, Clone)]
enum Keep {
    AllTables(Columns),
    Tables(BTreeMap<String, Columns>),
}

/// Which columns of a table to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Columns {
    All,
    None,
    Only(Vec<String>),
}

impl Columns {
    pub(crate) fn contains(&self, mnemonic: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Only(mnemonics) => mnemonics.iter().any(|m| m == mnemonic),
        }
    }
}

impl Selection {
    /// Every column of every table.
    #[must_use]
    pub fn everything() -> Self {
        Self::new(Keep::AllTables(Columns::All))
    }

    /// No column of any table: schemas and row counts.
    #[must_use]
    pub fn counts() -> Self {
        Self::new(Keep::AllTables(Columns::None))
    }

    /// Every column of one table.
    #[must_use]
    pub fn table(schema: &str) -> Self {
        let tables = BTreeMap::from([(schema.to_owned(), Columns::All)]);
        Self::new(Keep::Tables(tables))
    }

    /// Every column of these tables.
    #[must_use]
    pub fn tables(schemas: &[String]) -> Self {
        let all = schemas.iter().map(|schema| (schema.clone(), Columns::All));
        Self::new(Keep::Tables(all.collect()))
    }

    /// These columns of these tables.
    #[must_use]
    pub fn columns(tables: &[(&str, &[&str])]) -> Self {
        let only =
            |mnemonics: &[&str]| Columns::Only(mnemonics.iter().map(|&m| m.to_owned()).collect());
        let tables = tables
            .iter()
            .map(|&(schema, mnemonics)| (schema.to_owned(), only(mnemonics)));
        Self::new(Keep::Tables(tables.collect()))
    }

    /// Also these columns of these tables, where they can be read: a file that
    /// cannot then costs its table and a note, and not the whole answer.
    #[must_use]
    pub fn and_if_readable(mut self, tables: &[(&str, &[&str])]) -> Self {
        let more = Self::columns(tables);
        if let (Keep::Tables(wanted), Keep::Tables(more)) = (&mut self.keep, more.keep) {
            for (schema, columns) in more {
                if let Entry::Vacant(place) = wanted.entry(schema) {
                    self.optional.insert(place.key().clone());
                    place.insert(columns);
                }
            }
        }
        self
    }

    /// The same, but a table that cannot be read costs a note and not the whole answer.
    #[must_use]
    pub fn where_readable(mut self) -> Self {
        self.if_readable = true;
        self
    }

    /// Also keeps labels as they are displayed, which no column otherwise says.
    #[must_use]
    pub fn with_rendered_labels(mut self) -> Self {
        self.rendered = true;
        self
    }

    /// Lets labels go without the number of their submission: with it nearly each
    /// is unlike all others, and a million are kept for the few that say anything.
    #[must_use]
    pub fn with_labels_unnumbered(mut self) -> Self {
        self.numbered = false;
        self
    }

    /// The names of the wanted tables; `None` if all are.
    #[must_use]
    pub fn schemas(&self) -> Option<Vec<&str>> {
        match &self.keep {
            Keep::AllTables(_) => None,
            Keep::Tables(tables) => Some(tables.keys().map(String::as_str).collect()),
        }
    }

    /// The columns to keep of a table; `None` if the table is not wanted.
    pub(crate) fn of(&self, schema: &str) -> Option<&Columns> {
        match &self.keep {
            Keep::AllTables(columns) => Some(columns),
            Keep::Tables(tables) => tables.get(schema),
        }
    }

    /// Tells whether a table must be readable if it is there: an answer without it would be
    /// another answer. Of any other only its figures are lost.
    pub(crate) fn must_read(&self, schema: &str) -> bool {
        self.of(schema).is_some() && !self.if_readable && !self.optional.contains(schema)
    }

    pub(crate) fn wants_rendered_labels(&self) -> bool {
        self.rendered
    }

    pub(crate) fn wants_numbered_labels(&self) -> bool {
        self.numbered || self.rendered
    }

    fn new(keep: Keep) -> Self {
        Self {
            keep,
            rendered: false,
            numbered: true,
            optional: BTreeSet::new(),
            if_readable: false,
        }
    }
}
