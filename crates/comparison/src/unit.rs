//! The unit of a figure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a figure is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// A number of things.
    Count,
    /// A share: 0.5 is 50 %.
    Ratio,
}
