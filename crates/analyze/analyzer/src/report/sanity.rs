//! Types of the checks of the recording itself.

use metalens_message::{Message, Ns, Share, SignedNs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Checks of the recording itself, and the figures behind them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sanity {
    /// Length of the window divided by the wall-clock duration of the recording; null if that is
    /// unknown.
    pub window_share: Option<Share>,
    /// Start of the first GPU interval of any process, in nanoseconds since the recording began;
    /// null if there is none.
    pub first_row_ns: Option<Ns>,
    /// End of the last GPU interval of any process, in nanoseconds since the recording began; null
    /// if there is none.
    pub last_row_ns: Option<Ns>,
    /// Difference in nanoseconds of two tables that should agree, in the window: the GPU's own
    /// Active time minus the union of the intervals of all processes. Null if only one is recorded.
    pub tables_differ_ns: Option<SignedNs>,
    /// Absolute value of that difference divided by the Active time; null if unknown.
    pub tables_differ_share: Option<Share>,
    /// Longest GPU interval of the process divided by its busy time, in the window; null if it was
    /// never busy.
    pub longest_interval_share: Option<Share>,
    /// Longest gap divided by the idle time; null if the GPU was never idle.
    pub longest_gap_share: Option<Share>,
    /// Number of GPU intervals in the whole recording that name no process, nor does another row of their
    /// command buffer.
    pub rows_without_process: u64,
    /// Number of GPU intervals of the process in the window without a command buffer.
    pub rows_without_command_buffer: u64,
    /// Number of GPU intervals of the process in the window without a length.
    pub rows_without_length: u64,
    /// Number of distinct encoders among the GPU intervals of the process in the window.
    pub encoders: u64,
    /// Number of those encoders that the encoder list contains; null if there is no list. The
    /// others cannot be joined with their encoding on the CPU.
    pub encoders_listed: Option<u64>,
    /// Number of command buffers of the process that were encoded and completed, in the window if it
    /// was cut; null if the encoder list or the completions do not tell. Of a command-buffer log that
    /// lacks some: number of all that the program committed.
    pub buffers_finished: Option<u64>,
    /// Number of those command buffers that have no GPU interval: it is missing, or they had no work
    /// for the GPU; or that are not in the log.
    pub buffers_without_interval: Option<u64>,
    /// Rows that may be others than they seem to be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubtful: Vec<DoubtfulRows>,
    /// Number of rows of all tables with times outside of the recording, which were left out; null
    /// if the length of the recording is unknown.
    pub rows_outside: Option<u64>,
    /// Names of tables that were read only in part, up to some row.
    pub truncated_tables: Vec<String>,
    /// True if the recorder kept only the end of the recording; null if unknown.
    pub windowed: Option<bool>,
    /// Checks that could be made, in a fixed order.
    pub checks: Vec<SanityCheck>,
}

impl Sanity {
    /// Returns whether the encoder list is there and contains at least 95 % of the encoders of the
    /// process, so that sums over the list are a measurement.
    pub fn lists_encoders(&self) -> bool {
        /// One encoder in this many may be missing.
        const ENCODERS: u128 = 20;
        let Some(listed) = self.encoders_listed else {
            return false;
        };
        ENCODERS * u128::from(listed) >= (ENCODERS - 1) * u128::from(self.encoders)
    }
}

/// Rows that may be others than they seem to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoubtfulRows {
    /// Reason for the doubt.
    pub reason: DoubtReason,
    /// Number of these rows.
    pub rows: u64,
    /// Number of all rows of their kind, with these.
    pub of: u64,
}

/// Reason why rows may be others than they seem to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DoubtReason {
    /// GPU intervals in the window without a process, which may be of the analyzed one.
    WithoutProcess,
    /// Encoders that the program made to measure a dispatch, so that their times are upper bounds.
    UpperBound,
}

/// Check of the recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SanityCheck {
    /// Stable id of the check.
    pub id: String,
    /// True if the recording passes the check.
    pub ok: bool,
    /// Result of the check in one sentence.
    pub text: Message,
}
