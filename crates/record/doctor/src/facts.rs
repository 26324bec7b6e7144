//! Types of the facts about a machine. Each fact has its source, or the reason why it is
//! unknown.

use std::iter::zip;

use metalens_failure::{in_plain_words, other_process};
use schemars::JsonSchema;
use serde::Serialize;

use crate::scratch::ScratchFile;

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
    /// The rights of the current user.
    pub rights: Rights,
    /// Power, heat and other recorders at this moment.
    pub condition: Condition,
    /// The GPU and its users at this moment.
    pub gpu: Gpu,
    /// The screen of the machine, and who uses it.
    pub console: Console,
    /// The folder and the disk of recordings.
    pub disk: Disk,
}

/// The screen of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Console {
    /// True if a user is logged in at the machine itself, not only over ssh.
    pub is_used: Fact<bool>,
    /// True if the screen is locked.
    pub is_locked: Fact<bool>,
}

/// The hardware of a machine and its version of macOS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MacFacts {
    /// Name of the chip, such as `Apple M3 Max`.
    pub chip: Fact<String>,
    /// Identifier of the model, such as `Mac15,9`.
    pub model: Fact<String>,
    /// Number of physical CPU cores.
    pub cpu_cores: Fact<u64>,
    /// Number of performance cores of the CPU.
    pub performance_cores: Fact<u64>,
    /// Number of efficiency cores of the CPU.
    pub efficiency_cores: Fact<u64>,
    /// Number of GPU cores.
    pub gpu_cores: Fact<u64>,
    /// Size of the memory, in bytes.
    pub memory_bytes: Fact<u64>,
    /// True if the machine is virtual: its GPU times mean nothing.
    pub is_virtual: Fact<bool>,
    /// True if metalens runs through Rosetta, as a program for Intel on Apple silicon.
    pub is_translated: Fact<bool>,
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

/// The rights of the current user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rights {
    /// True if developer mode is on.
    pub developer_mode: Fact<bool>,
    /// True if the user is in the group `_developer`.
    pub in_developer_group: Fact<bool>,
    /// State of System Integrity Protection.
    pub protection: Fact<Protection>,
}

/// State of System Integrity Protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// Protection is on: programs of the system cannot be traced.
    On,
    /// Protection is completely off.
    Off,
    /// Protection is on only in part.
    Custom,
}

/// The current condition of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Condition {
    /// The current source of power.
    pub power: Fact<Power>,
    /// True if low power mode is on, which makes the machine slower.
    pub low_power_mode: Fact<bool>,
    /// Setting of `pmset` that tells low power mode: `lowpowermode` or `powermode`.
    pub low_power_setting: Fact<String>,
    /// Thermal pressure: the level at which macOS slows down because of heat.
    pub thermal_pressure: Fact<ThermalPressure>,
    /// Speed limit of the CPU of an Intel Mac, in percent of its full speed.
    pub cpu_speed_limit_percent: Fact<u64>,
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

/// The current state of the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gpu {
    /// GPU utilization that the driver reports, in percent.
    pub utilization_percent: Fact<u64>,
    /// Processes that used the GPU within about half a second, the largest first.
    pub users: Fact<Vec<GpuUser>>,
    /// Performance state of the GPU; always null, since macOS reports it only in a recording.
    pub performance_state: Fact<String>,
}

/// A process that used the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GpuUser {
    /// The process that used the GPU.
    pub process: Process,
    /// GPU time within about half a second, in nanoseconds.
    pub gpu_time_ns: u64,
}

impl Gpu {
    /// Leaves out the names of the processes that used the GPU. Those of other recorders are the
    /// names of known programs.
    pub(crate) fn hide_names(&mut self) {
        let users = self.users.value.iter_mut().flatten();
        for (number, user) in zip(1.., users) {
            user.process.name = other_process(number);
        }
    }
}

/// The folder and the disk of recordings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Disk {
    /// Free space on the disk, in bytes.
    pub free_bytes: Fact<u64>,
    /// Folders that unfinished recordings left there.
    pub left_over: Fact<Vec<UnfinishedRecording>>,
    /// The temporary folders to which Instruments writes while it records.
    pub temporary: Vec<TemporaryFolder>,
    /// Scratch files that recordings left in the temporary folders.
    pub scratch: Vec<ScratchFile>,
}

/// A temporary folder to which Instruments may write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TemporaryFolder {
    /// Free space on its disk, in bytes.
    pub free_bytes: Fact<u64>,
    /// True if it is on the disk of the recordings.
    pub shares_disk: bool,
}

/// A folder that an unfinished recording left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnfinishedRecording {
    /// Name of the folder.
    pub name: String,
    /// Size of the folder, in bytes.
    pub bytes: u64,
}
