//! Types of the facts about a machine. Each fact has its source, or the reason why it is
//! unknown.

use metalens_failure::in_plain_words;
use schemars::JsonSchema;
use serde::Serialize;

use crate::command::CommandOutput;

/// A fact about the machine, or the reason why it is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Fact<T> {
    /// The value of the fact; null if it is unknown.
    pub value: Option<T>,
    /// Reason why the value is unknown; null if it is known.
    pub why_not: Option<String>,
    /// The command or system call that the fact comes from.
    pub source: String,
}

impl<T> Fact<T> {
    /// Returns the fact parsed from an answer, or the summary of an answer that is not understood.
    pub(crate) fn parsed(
        source: &str,
        answer: &CommandOutput,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Self {
        Self::new(source, parse(&answer.text()), || answer.summary())
    }

    /// Returns a fact with a value, or with the reason why there is none.
    pub(crate) fn new(source: &str, value: Option<T>, why_not: impl FnOnce() -> String) -> Self {
        Self {
            why_not: value.is_none().then(|| in_plain_words(&why_not())),
            value,
            source: source.to_owned(),
        }
    }
}

/// All facts about a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Facts {
    /// The hardware and the version of macOS.
    pub machine: MacFacts,
    /// The installed Xcode and its state.
    pub xcode: Xcode,
    /// True if developer mode is on.
    pub developer_mode: Fact<bool>,
    /// Power, heat and other recorders at this moment.
    pub condition: Condition,
    /// The disks of recordings and of temporary files.
    pub disk: Disk,
}

/// The hardware of a machine and its version of macOS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MacFacts {
    /// Name of the chip, such as `Apple M3 Max`.
    pub chip: Fact<String>,
    /// Identifier of the model, such as `Mac15,9`.
    pub model: Fact<String>,
    /// Number of GPU cores.
    pub gpu_cores: Fact<u64>,
    /// Size of the memory, in bytes.
    pub memory_bytes: Fact<u64>,
    /// True if the machine is virtual: its GPU times mean nothing.
    pub is_virtual: Fact<bool>,
    /// Version number of macOS.
    pub macos: Fact<String>,
    /// Build code of macOS, such as `25D2128`.
    pub macos_build: Fact<String>,
}

/// The installed Xcode and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Xcode {
    /// The selected developer folder (`xcode-select -p`).
    pub folder: Fact<String>,
    /// Version number of Xcode.
    pub version: Fact<String>,
    /// Build code of Xcode, such as `17C529`.
    pub build: Fact<String>,
    /// True if the license of Xcode was accepted.
    pub license_accepted: Fact<bool>,
    /// True if Xcode has installed the components that it installs at its first launch.
    pub first_launch_done: Fact<bool>,
}

/// The current condition of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Condition {
    /// The current source of power.
    pub power: Fact<Power>,
    /// True if low power mode is on, which makes the machine slower.
    pub low_power_mode: Fact<bool>,
    /// Thermal pressure: the level at which macOS slows down because of heat.
    pub thermal_pressure: Fact<ThermalPressure>,
    /// Running programs that record or may record.
    pub recorders: Fact<Vec<Process>>,
}

/// A source of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// AC power from a charger or a power supply.
    Mains,
    /// The built-in battery of the machine.
    Battery,
    /// An uninterruptible power supply that runs on its battery.
    Ups,
}

/// Level at which macOS slows down because of heat, as macOS names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThermalPressure {
    /// No slowdown because of heat.
    Nominal,
    /// A little slowdown because of heat.
    Moderate,
    /// A large slowdown because of heat.
    Heavy,
    /// A very large slowdown because of heat.
    Trapping,
    /// The machine is about to sleep because of heat.
    Sleeping,
}

/// A process on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Process {
    /// Process id of the process.
    pub pid: u32,
    /// Name of the process, without its folder.
    pub name: String,
}

/// The disks of recordings and of temporary files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Disk {
    /// Free space, in bytes, on the disk that has less: that of the recordings, or one of the temporary
    /// files that Instruments writes while it records.
    pub free_bytes: Fact<u64>,
    /// True if temporary files are on the disk of the recordings; null if it is not known where they are.
    pub holds_temporary: Option<bool>,
}
