//! Defines why a file cannot be used.

use parquet::errors::ParquetError;

/// A reason why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Damage {
    #[error("{0}")]
    Wrong(String),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    #[error(transparent)]
    Page(#[from] polars_parquet_format::thrift::Error),
}

/// Makes a reason of a text.
pub(crate) fn wrong(why: impl Into<String>) -> Damage {
    Damage::Wrong(why.into())
}
