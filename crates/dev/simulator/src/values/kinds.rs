//! Lists the kinds that a scenario chooses among: of format, clock, target and process.

use serde::{Deserialize, Serialize};

/// Version of `xctrace` whose export format is written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Generation {
    /// Labels without blanks between their parts: `label   (P (1)) 0x1f`.
    #[serde(rename = "16")]
    Xcode16,
    /// Label parts joined by one blank: `label      ( P (1) )  0x1f`.
    #[default]
    #[serde(rename = "26.0")]
    Xcode26,
    /// Format of 26.0 with documented schemas and 64-bit commit ids.
    #[serde(rename = "27")]
    Xcode27,
}

/// Resolution of the recorder's clock.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Clock {
    /// A clock that shows every nanosecond.
    #[default]
    #[serde(rename = "free")]
    Free,
    /// The 24 MHz clock of Apple silicon. Starts and durations are multiples of 41.67 ns, each
    /// cut to whole nanoseconds, so rows that touch may be recorded one nanosecond apart.
    #[serde(rename = "24mhz")]
    Mhz24,
}

impl Clock {
    /// Returns the last instant or duration that the clock can show, in whole nanoseconds.
    pub(crate) const fn cut(self, ns: u64) -> u64 {
        match self {
            Self::Free => ns,
            // 24 ticks are 1000 ns. Rounding to the nearest tick first keeps a cut value as it is.
            Self::Mhz24 => ((ns * 24 + 500) / 1_000) * 125 / 3,
        }
    }
}

/// The kind of target that `xctrace record` was given.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A command that `xctrace` started.
    #[default]
    Launched,
    /// A process that was already running.
    Attached,
    /// The whole machine, all processes.
    AllProcesses,
}

/// Relation of a process to the recording.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The process launched or attached to: one per run, or none with `all-processes`.
    Target,
    /// Any other process of the machine.
    #[default]
    Other,
    /// The window server, which Instruments draws in its own color.
    Compositor,
}
