//! Defines the units of figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A time in nanoseconds.
    Ns,
    /// A number of things.
    #[default]
    Count,
    /// An amount of memory in bytes.
    Bytes,
    /// A share, where 0.5 means 50 %.
    Ratio,
}
