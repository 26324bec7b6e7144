//! Describes the Metal resources that a process allocates and frees, and memory that the driver wires.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::machine::is_false;
use super::nanos::Nanos;

/// Resources that a function of a process allocates, once or again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Allocation {
    /// Function that allocates them.
    pub caller: String,
    /// Label of the resources; by default one that Metal makes up from the id.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Bytes of each resource.
    pub bytes: u64,
    /// Number of resources at each step.
    #[serde(default = "one")]
    pub count: NonZeroU32,
    /// Number of command buffers per step, which is at the first encoding of each; only one step,
    /// at the first encoding of all, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<NonZeroU32>,
    /// Largest number of steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Number of command buffers until the resources are freed, at the commit of one: 0 is the
    /// first one of the step. Never freed if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lives: Option<u32>,
    /// True if the resources lie inside a larger one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inside: bool,
    /// True if the resources were made before the recording, which has only their ends.
    #[serde(default, skip_serializing_if = "is_false")]
    pub before: bool,
}

/// Memory that the driver wires for a process, so that the GPU can use it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Wiring {
    /// Start, counted from the start of the recording.
    pub start: Nanos,
    /// Time that the driver takes.
    pub length: Nanos,
    /// Bytes; the table shows them with two decimals.
    pub bytes: u64,
    /// True if the driver is asked to unwire the memory.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unwire: bool,
}

const fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}
