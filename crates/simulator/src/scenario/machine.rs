//! What the machine does beside the work: states, memory, counters.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::nanos::Nanos;

/// A stretch of time in one performance or thermal state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StatePiece {
    /// `Minimum`, `Medium`, `Maximum`; `Nominal`, `Fair`, `Serious`, `Critical`; or anything else.
    pub state: String,
    /// Since the recording's start.
    pub start: Nanos,
    /// Where the table says no more; by default where the next piece starts, or the run ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Nanos>,
    /// Whether Instruments forced it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub induced: bool,
}

/// So many bytes from an instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Level {
    /// Since the recording's start.
    pub at: Nanos,
    /// Allocated or wired from then on.
    pub bytes: u64,
}

/// How much memory Metal has allocated for a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected levels such as [{ at = \"700ms\", bytes = 65536 }], or a growth such as \
                 { start-bytes = 65536, step-bytes = 4096, every = 8 }"
)]
pub enum Memory {
    /// Said outright.
    Levels(Vec<Level>),
    /// Grows with the work.
    Growth(Growth),
}

/// Memory that grows, or shrinks, as command buffers are committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Growth {
    /// Allocated when the first encoding starts.
    pub start_bytes: u64,
    /// More with each step, or less; never below nothing.
    pub step_bytes: i64,
    /// A step is so many command buffers long, and taken when the last of them is committed.
    pub every: NonZeroU32,
}

/// A GPU counter, sampled from the first kick to the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Counter {
    /// What it counts.
    pub name: String,
    /// Its value while any kick runs.
    pub busy: u64,
    /// Its value while none does.
    #[serde(default)]
    pub idle: u64,
    /// From one sample to the next.
    #[serde(default = "Counter::default_period")]
    pub period: Nanos,
}

impl Counter {
    const fn default_period() -> Nanos {
        Nanos::new(1_000_000)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
pub(super) fn is_false(value: &bool) -> bool {
    !value
}
