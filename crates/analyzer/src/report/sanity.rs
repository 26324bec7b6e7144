//! Whether the recording makes sense.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::basics::message::PlacedValue;

/// Figures by which to judge the recording itself, and what they come to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sanity {
    /// window / the recording's wall time: how much of it this report is about.
    pub window_share: Option<f64>,
    /// When anyone's first GPU interval began.
    pub first_row_ns: Option<u64>,
    /// When anyone's last GPU interval ended.
    pub last_row_ns: Option<u64>,
    /// The GPU's own Active time less the union of everyone's intervals, in
    /// the window: two tables that should agree. Null if only one is there.
    pub tables_differ_ns: Option<i64>,
    /// Its size / the GPU's own Active time.
    pub tables_differ_share: Option<f64>,
    /// The target's longest interval / its busy time, in the window.
    pub longest_interval_share: Option<f64>,
    /// The target's longest gap / its idle time.
    pub longest_gap_share: Option<f64>,
    /// GPU intervals of the whole recording that name no process.
    pub rows_without_process: u64,
    /// The target's intervals in the window without a command buffer.
    pub rows_without_command_buffer: u64,
    /// The target's intervals in the window that have no length.
    pub rows_without_length: u64,
    /// Distinct encoders among the target's intervals in the window.
    pub encoders: u64,
    /// How many of them the list of encoders has; null if there is no list.
    /// The rest cannot be joined with their encoding on the CPU.
    pub encoders_listed: Option<u64>,
    /// Tables of which only the beginning was read.
    pub truncated_tables: Vec<String>,
    /// Whether the recorder kept only the end of what happened; null if unknown.
    pub windowed: Option<bool>,
    /// Does the recording make sense? Checks that could be made, in a fixed order.
    pub checks: Vec<Check>,
}

impl Sanity {
    /// Whether the list of encoders is there and has, of the target's encoders, all but a
    /// twentieth: what is summed over the list is then a measurement.
    #[must_use]
    pub fn lists_encoders(&self) -> bool {
        /// One encoder in so many may be lost.
        const ENCODERS: u128 = 20;
        let encoders = u128::from(self.encoders);
        let is_enough = |listed| ENCODERS * u128::from(listed) >= (ENCODERS - 1) * encoders;
        self.encoders_listed.is_some_and(is_enough)
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Its name, which stays.
    pub id: String,
    /// Whether it holds.
    pub ok: bool,
    /// What was found, in a sentence.
    pub text: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub text_values: Vec<PlacedValue>,
}
