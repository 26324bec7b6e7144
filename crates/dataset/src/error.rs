//! What can go wrong with datasets and queries: cause, where, what to do.

use std::path::{Path, PathBuf};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a folder cannot be written.
    #[error("cannot write {}: {why}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file or a folder cannot be read.
    #[error("cannot read {}: {why}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file that lies where a dataset has its own and is not of this form.
    #[error("{} is no part of a dataset that this metalens knows: {why}", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
        /// What it is, as far as it says.
        why: String,
    },
    /// A count or a time that does not fit into 63 bits.
    #[error("{number} is too large for the column `{column}`: the recording is broken there")]
    TooLarge {
        /// Where it was to be.
        column: &'static str,
        /// The number.
        number: u64,
    },
    /// The analysis was made without everyone's intervals.
    #[error("the analysis has only the target's intervals (Request::keep_everyone was not set)")]
    OnlyTarget,
    /// The text is no SQL.
    #[error("this is no SQL that can be read: {why}")]
    Syntax {
        /// What the parser says, and where.
        why: String,
    },
    /// A statement that would do more than read the tables.
    #[error("{what}: a query can only SELECT from the tables that were named")]
    Refused {
        /// What it would do.
        what: String,
    },
    /// There is no such table.
    #[error("there is no table `{name}`{place}")]
    UnknownTable {
        /// What was asked for.
        name: String,
        /// Where in the query.
        place: Place,
        /// The most alike of those there are.
        near: Option<String>,
    },
    /// There is no such column.
    #[error("there is no column `{name}`{place}")]
    UnknownColumn {
        /// What was asked for.
        name: String,
        /// Where in the query.
        place: Place,
        /// The most alike of those there are.
        near: Vec<String>,
        /// The columns of the tables that the query names.
        there_are: Vec<(String, Vec<String>)>,
    },
    /// Something in the query that has no meaning, or none that is known here.
    #[error("{what}{place}")]
    Wrong {
        /// What is wrong with it.
        what: String,
        /// Where in the query.
        place: Place,
    },
    /// The query cannot be answered.
    #[error("the query failed: {why}")]
    Query {
        /// Why.
        why: String,
    },
}

/// A place in a query: line and column from 1; nowhere in particular if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place(pub Option<(u64, u64)>);

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some((line, column)) => write!(f, " (line {line}, column {column} of the query)"),
            None => Ok(()),
        }
    }
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn write(path: &Path, why: impl std::fmt::Display) -> Self {
        let (path, why) = (path.to_owned(), why.to_string());
        Self::Write { path, why }
    }

    pub(crate) fn read(path: &Path, why: impl std::fmt::Display) -> Self {
        let (path, why) = (path.to_owned(), why.to_string());
        Self::Read { path, why }
    }

    /// Whether the query itself is wrong, whatever it is asked of.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Syntax { .. }
                | Self::Refused { .. }
                | Self::UnknownTable { .. }
                | Self::UnknownColumn { .. }
                | Self::Wrong { .. }
        )
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let list = "the tables are runs, intervals, gaps and kernels; metalens query --schema lists \
                    their columns";
        let meant = |near: &str| format!("did you mean {near}? ");
        Some(match self {
            Self::Write { .. } => {
                "name another folder with --parquet, or make room there".to_owned()
            }
            Self::Foreign { .. } => {
                "move it away, or write the dataset anew with analyze --parquet".to_owned()
            }
            Self::Syntax { .. } | Self::Refused { .. } => list.to_owned(),
            Self::UnknownTable { near, .. } => {
                near.as_deref().map(meant).unwrap_or_default() + list
            }
            Self::UnknownColumn {
                near, there_are, ..
            } => {
                let meant = match near.as_slice() {
                    [] => String::new(),
                    near => meant(&near.join(", ")),
                };
                let tables = there_are
                    .iter()
                    .map(|(table, columns)| format!("{table} has {}", columns.join(", ")));
                let tables: Vec<String> = tables.collect();
                meant + &tables.join("; ")
            }
            _ => return None,
        })
    }
}
