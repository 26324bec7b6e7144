//! Defines the units of figures.

use serde::{Deserialize, Serialize};

/// Unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// A time in nanoseconds.
    Ns,
    /// A number of things.
    Count,
    /// A share, where 0.5 means 50 %.
    Ratio,
}
