//! Defines the errors of queries: what is wrong, where, and what to do about it.

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
    #[error("{0}: a query can only SELECT from the tables of the traces and datasets it names")]
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
    /// The statement names a table or a column that is not there.
    #[error("{0}")]
    Unknown(String),
    /// A file of a dataset cannot be read.
    #[error("cannot read the dataset: {0}")]
    Read(String),
    /// An object store refuses to list a dataset.
    #[error("cannot list {address}: {why}")]
    Store {
        /// The dataset, as it was named.
        address: String,
        /// Answer of the store.
        why: String,
    },
    /// A dataset cannot be listed.
    #[error(transparent)]
    Dataset(#[from] metalens_dataset::Error),
    /// The dataset's address cannot be used.
    #[error("{path}: {why}")]
    Address {
        /// The dataset, as it was named.
        path: String,
        /// Reason of the failure.
        why: &'static str,
    },
    /// An answer cannot be written.
    #[error("cannot write the answer: {0}")]
    Write(String),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns whether the statement or the address is wrong, whatever the data.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Syntax(_)
                | Self::Refused(_)
                | Self::Unsafe { .. }
                | Self::Unsupported(_)
                | Self::Unknown(_)
                | Self::Address { .. }
        )
    }

    /// Returns what the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax(_) | Self::Refused(_) => Some(TABLES.to_owned()),
            Self::Unsafe { instead, .. } => Some((*instead).to_owned()),
            Self::Unsupported(_) => Some(
                "docs/dataset.md says what polars' SQL lacks and what to write instead; DuckDB \
                 reads the same files"
                    .to_owned(),
            ),
            Self::Unknown(said) => Some(near(said)),
            Self::Read(_) => Some(
                "write the dataset again with `metalens analyze --parquet`, or move files that do not \
                 belong to it out of its folder"
                    .to_owned(),
            ),
            Self::Store { .. } => Some(
                "check the address, and AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and \
                 AWS_ENDPOINT_URL in the environment"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Turns a failed request to an object store into an error with the store's own message,
    /// where it sends one.
    #[cfg(feature = "s3")]
    pub(crate) fn from_store(address: &str, error: &PolarsError) -> Self {
        let said = shown(error);
        let message = said.split_once("<Message>");
        let message = message.and_then(|(_, rest)| rest.split_once("</Message>"));
        let why = message.map_or(said.as_str(), |(message, _)| message);
        Self::Store {
            address: address.to_owned(),
            why: why.to_owned(),
        }
    }

    pub(crate) fn from_polars(error: &PolarsError) -> Self {
        let said = shown(error);
        match root(error) {
            PolarsError::SQLSyntax(_) => Self::Syntax(said),
            PolarsError::ColumnNotFound(_) | PolarsError::SchemaFieldNotFound(_) => {
                Self::Unknown(said)
            }
            PolarsError::SQLInterface(_)
                if said.contains("was not found") || said.contains("no column named") =>
            {
                Self::Unknown(said)
            }
            PolarsError::SQLInterface(_)
            | PolarsError::InvalidOperation(_)
            | PolarsError::SchemaMismatch(_)
            | PolarsError::Duplicate(_)
            | PolarsError::ShapeMismatch(_) => Self::Unsupported(said),
            _ if said.contains("is duplicate") => Self::Unsupported(said),
            _ => Self::Read(said),
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

/// Returns the first paragraph of polars' message; the query plan after it is of no use here.
fn shown(error: &PolarsError) -> String {
    let text = root(error).to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a hint: the name that is most similar to the quoted one, and where all names are listed.
fn near(said: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let tables = describe();
    for table in &tables {
        names.push(table.name);
        names.extend(table.columns.iter().map(|column| column.name));
    }
    names.sort_unstable();
    names.dedup();

    // The first word in quotes is the one that was not found.
    let wrong = said.split(['"', '\'', '`']).nth(1).unwrap_or_default();
    let others = names.into_iter().filter(|name| *name != wrong);
    format!("{}{TABLES}", did_you_mean(wrong, others))
}
