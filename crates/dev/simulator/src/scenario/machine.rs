//! Describes the states, memory and counters of the machine.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::nanos::Nanos;

/// A period in one performance or thermal state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StatePiece {
    /// Name of the state: `Minimum`, `Medium`, `Maximum`; `Nominal`, `Fair`, `Serious`,
    /// `Critical`; or any other text.
    pub state: String,
    /// Start, counted from the start of the recording.
    pub start: Nanos,
    /// End in the table; by default the start of the next piece, or the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Nanos>,
    /// True if Instruments forced the state.
    #[serde(default, skip_serializing_if = "is_false")]
    pub induced: bool,
}

/// An amount of memory from an instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Level {
    /// Instant, counted from the start of the recording.
    pub at: Nanos,
    /// Bytes allocated or wired from this instant on.
    pub bytes: u64,
}

/// Memory that Metal has allocated for a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected levels such as [{ at = \"700ms\", bytes = 65536 }], or a growth such as \
                 { start-bytes = 65536, step-bytes = 4096, every = 8 }"
)]
pub enum Memory {
    /// Explicit amounts, each from an instant on.
    Levels(Vec<Level>),
    /// An amount that grows with the work.
    Growth(Growth),
}

/// Memory that grows, or shrinks, as command buffers are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Growth {
    /// Bytes when the first encoding starts.
    pub start_bytes: u64,
    /// Change with each step, positive or negative; the amount never falls below zero.
    pub step_bytes: i64,
    /// Number of command buffers per step. The amount changes when the last of them is committed.
    pub every: NonZeroU32,
}

/// A GPU counter, sampled from the first kick to the last. A sample is the mean over the period
/// that follows it, as in real recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Counter {
    /// Name of the counter.
    pub name: String,
    /// Unit of the values; by default percent if none is above 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<CounterUnit>,
    /// Value while any kick runs.
    pub busy: u64,
    /// Values that replace `busy` while a kick with this label runs. If several kicks run, the
    /// highest value counts.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernels: BTreeMap<String, u64>,
    /// Value while no kick runs.
    #[serde(default)]
    pub idle: u64,
    /// Time between two samples.
    #[serde(default = "Counter::default_period")]
    pub period: Nanos,
}

/// Unit of a counter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterUnit {
    /// Percent of the largest possible value.
    Percent,
    /// Gigabytes per second, of bandwidth.
    GigabytesPerSecond,
    /// Any other unit, such as a number of events.
    Count,
}

impl Counter {
    const fn default_period() -> Nanos {
        Nanos::new(1_000_000)
    }

    /// Returns the unit that the scenario gives, or the one that its values suggest.
    pub(crate) fn unit(&self) -> CounterUnit {
        self.unit.unwrap_or(if self.largest() <= 100 {
            CounterUnit::Percent
        } else {
            CounterUnit::Count
        })
    }

    /// Returns the largest of the values.
    pub(crate) fn largest(&self) -> u64 {
        let kernels = self.kernels.values().copied();
        kernels.chain([self.busy, self.idle]).max().unwrap_or(0)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(super) fn is_false(value: &bool) -> bool {
    !value
}
