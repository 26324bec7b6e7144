//! Defines the errors of queries, with their hints.

use metalens_dataset::describe;
use metalens_failure::did_you_mean;
use polars::prelude::PolarsError;

/// A reason why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not SQL that the parser reads.
    #[error("SQL syntax error: {0}")]
    Syntax(String),
    /// The statement would do more than read the tables.
    #[error("{0}: a query can only SELECT from the tables of the recordings and datasets it names")]
    Refused(String),
    /// The statement means something else to polars than to other databases.
    #[error("{what}")]
    Unsafe {
        /// The part of the statement, and how its meaning differs.
        what: String,
        /// The statement to write instead.
        instead: &'static str,
    },
    /// The SQL of polars lacks something in the statement, whatever the data.
    #[error("polars cannot run this: {0}")]
    Unsupported(String),
    /// The statement names a table or a column that does not exist.
    #[error("{0}")]
    Unknown(String),
    /// The statement joins each row with each other one, and there are too many.
    #[error("the statement asks for too many rows: its joins would make more than 4,294,967,295")]
    TooManyRows,
    /// A file of a dataset cannot be read.
    #[error("cannot read the dataset: {0}")]
    Read(String),
    /// A dataset cannot be listed.
    #[error(transparent)]
    Dataset(#[from] metalens_dataset::Error),
    /// An answer cannot be written.
    #[error("cannot write the answer: {0}")]
    Write(String),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns whether the statement is wrong, whatever the data.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Syntax(_)
                | Self::Refused(_)
                | Self::Unsafe { .. }
                | Self::Unsupported(_)
                | Self::Unknown(_)
        )
    }

    /// Returns a hint on what the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax(_) | Self::Refused(_) => Some(TABLES.to_owned()),
            Self::Unsafe { instead, .. } => Some((*instead).to_owned()),
            Self::Unsupported(_) => Some(
                "docs/dataset.md says what polars' SQL lacks and what to write instead; DuckDB \
                 reads the same files"
                    .to_owned(),
            ),
            Self::Unknown(message) => Some(unknown_name_hint(message)),
            Self::TooManyRows => Some(
                "join the tables ON what their rows have in common, or take fewer rows of each before \
                 the join: FROM (SELECT … LIMIT 1000)"
                    .to_owned(),
            ),
            Self::Read(_) => Some(
                "write the dataset again with `metalens analyze --parquet`, or move files that do not \
                 belong to it out of its folder"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    pub(crate) fn from_polars(error: &PolarsError) -> Self {
        let message = first_paragraph(error);
        match root(error) {
            PolarsError::IO { .. } => Self::Read(message),
            PolarsError::SQLSyntax(_) => Self::Syntax(message),
            PolarsError::ColumnNotFound(_) | PolarsError::SchemaFieldNotFound(_) => {
                Self::Unknown(message)
            }
            PolarsError::SQLInterface(_)
                if message.contains("was not found") || message.contains("no column named") =>
            {
                Self::Unknown(message)
            }
            PolarsError::SQLInterface(_)
            | PolarsError::InvalidOperation(_)
            | PolarsError::SchemaMismatch(_)
            | PolarsError::Duplicate(_)
            | PolarsError::ShapeMismatch(_) => Self::Unsupported(message),
            _ if message.contains("cross joins would produce more rows") => Self::TooManyRows,
            _ if message.contains("is duplicate") => Self::Unsupported(message),
            _ => Self::Read(message),
        }
    }
}

const TABLES: &str = "the tables are runs, intervals, gaps, kernels, phase_kernels, findings and counters; \
                      `metalens query --schema` lists their columns";

/// Returns the error below the contexts that polars wraps it in.
fn root(error: &PolarsError) -> &PolarsError {
    match error {
        PolarsError::Context { error, .. } | PolarsError::ExprContext { error, .. } => root(error),
        other => other,
    }
}

/// Returns the first paragraph of polars' message. The query plan after it does not help users.
fn first_paragraph(error: &PolarsError) -> String {
    let text = root(error).to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a hint for a name that does not exist: the most similar name, and the list of all names.
fn unknown_name_hint(message: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let tables = describe();
    for table in &tables {
        names.push(table.name);
        names.extend(table.columns.iter().map(|column| column.name));
    }
    names.sort_unstable();
    names.dedup();

    // The first word in quotes is the one that was not found.
    let unknown = message.split(['"', '\'', '`']).nth(1).unwrap_or_default();
    let others = names.into_iter().filter(|name| *name != unknown);
    format!("{}{TABLES}", did_you_mean(unknown, others))
}

#[cfg(test)]
mod tests {
    use polars::prelude::{Column, DataFrame, IntoLazy};

    use super::*;

    #[test]
    fn a_join_that_is_too_large_is_no_fault_of_the_dataset() {
        let numbers = |name: &str| {
            let column = Column::new(name.into(), vec![0_i32; 70_000]);
            DataFrame::new(70_000, vec![column]).unwrap().lazy()
        };
        let joined = numbers("a").cross_join(numbers("b"), None).collect();
        let error = Error::from_polars(&joined.unwrap_err());
        assert!(matches!(error, Error::TooManyRows), "{error}");
        let said = format!("{error} {}", error.hint().unwrap());
        assert!(said.contains("too many rows"), "{said}");
        assert!(!said.contains("dataset"), "{said}");
    }
}
