//! Selects the tables and columns of a recording to keep.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// A selection of tables and columns to keep. All of a document is read and checked in any case.
///
/// A selected table must be readable if it exists, in an export and in a bundle: an error in it is
/// an error of the recording. The exceptions are the tables of
/// [`and_if_readable`](Self::and_if_readable) and [`where_readable`](Self::where_readable).
#[derive(Debug, Clone)]
pub struct Selection {
    keep: Keep,
    rendered: bool,
    numbered: bool,
    /// Tables that are selected only if they can be read.
    optional: BTreeSet<String>,
    /// True if this applies to all tables.
    if_readable: bool,
}

/// The tables and columns to keep.
#[derive(Debug, Clone)]
enum Keep {
    AllTables(Columns),
    Tables(BTreeMap<String, Columns>),
}

/// The columns of a table to keep.
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
    /// Selects every column of every table.
    #[must_use]
    pub fn everything() -> Self {
        Self::new(Keep::AllTables(Columns::All))
    }

    /// Selects no columns: only schemas and row counts.
    #[must_use]
    pub fn counts() -> Self {
        Self::new(Keep::AllTables(Columns::None))
    }

    /// Selects every column of one table.
    #[must_use]
    pub fn table(schema: &str) -> Self {
        let tables = BTreeMap::from([(schema.to_owned(), Columns::All)]);
        Self::new(Keep::Tables(tables))
    }

    /// Selects every column of these tables.
    #[must_use]
    pub fn tables(schemas: &[String]) -> Self {
        let all = schemas.iter().map(|schema| (schema.clone(), Columns::All));
        Self::new(Keep::Tables(all.collect()))
    }

    /// Selects these columns of these tables.
    #[must_use]
    pub fn columns(tables: &[(&str, &[&str])]) -> Self {
        let only =
            |mnemonics: &[&str]| Columns::Only(mnemonics.iter().map(|&m| m.to_owned()).collect());
        let tables = tables
            .iter()
            .map(|&(schema, mnemonics)| (schema.to_owned(), only(mnemonics)));
        Self::new(Keep::Tables(tables.collect()))
    }

    /// Adds columns of tables that need not be readable: an unreadable one gives a note and not an
    /// error.
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

    /// Allows all tables to be unreadable: an unreadable one gives a note and not an error.
    #[must_use]
    pub fn where_readable(mut self) -> Self {
        self.if_readable = true;
        self
    }

    /// Keeps labels also as displayed, which no other column contains.
    #[must_use]
    pub fn with_rendered_labels(mut self) -> Self {
        self.rendered = true;
        self
    }

    /// Drops the submission number of labels. With the number nearly all labels are different, and
    /// a million are kept instead of a few.
    #[must_use]
    pub fn with_labels_unnumbered(mut self) -> Self {
        self.numbered = false;
        self
    }

    /// Returns the names of the selected tables, or `None` if all are selected.
    pub fn schemas(&self) -> Option<Vec<&str>> {
        match &self.keep {
            Keep::AllTables(_) => None,
            Keep::Tables(tables) => Some(tables.keys().map(String::as_str).collect()),
        }
    }

    /// Returns the columns of a table to keep, or `None` if the table is not selected.
    pub(crate) fn columns_of(&self, schema: &str) -> Option<&Columns> {
        match &self.keep {
            Keep::AllTables(columns) => Some(columns),
            Keep::Tables(tables) => tables.get(schema),
        }
    }

    /// Returns true if a table must be readable when it exists: without it all results would
    /// change. Without any other table only its own figures are missing.
    pub(crate) fn must_read(&self, schema: &str) -> bool {
        self.columns_of(schema).is_some() && !self.if_readable && !self.optional.contains(schema)
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
