//! What a machine says of itself: each fact with where it comes from, or why it
//! cannot be told.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ask::Answer;

/// Something that a machine said, or why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Fact<T> {
    /// What it is. Null if it cannot be told.
    pub value: Option<T>,
    /// Why it cannot be told.
    pub why_not: Option<String>,
    /// What was asked.
    pub source: String,
}

impl<T> Fact<T> {
    /// What an answer says, or the gist of one that is not understood.
    pub(crate) fn read(
        source: &str,
        answer: &Answer,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Self {
        Self::of(source, read(&answer.text()), || answer.gist())
    }

    /// A value, or why there is none.
    pub(crate) fn of(source: &str, value: Option<T>, why_not: impl FnOnce() -> String) -> Self {
        Self {
            why_not: value.is_none().then(why_not),
            value,
            source: source.to_owned(),
        }
    }
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Facts {
    /// What it is.
    pub machine: Machine,
    /// Its developer tools.
    pub xcode: Xcode,
    /// What its user may do.
    pub rights: Rights,
    /// How it is just now.
    pub condition: Condition,
    /// Its GPU just now.
    pub gpu: Gpu,
    /// Where recordings go.
    pub disk: Disk,
}

/// What a machine is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Machine {
    /// `Apple M3 Max`.
    pub chip: Fact<String>,
    /// `Mac15,9`.
    pub model: Fact<String>,
    /// CPU cores.
    pub cpu_cores: Fact<u64>,
    /// Those of them that are fast.
    pub performance_cores: Fact<u64>,
    /// Those of them that are frugal.
    pub efficiency_cores: Fact<u64>,
    /// GPU cores.
    pub gpu_cores: Fact<u64>,
    /// Bytes of memory.
    pub memory_bytes: Fact<u64>,
    /// The version of macOS.
    pub macos: Fact<String>,
    /// Its build.
    pub macos_build: Fact<String>,
}

/// Its developer tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Xcode {
    /// The developer folder that is chosen.
    pub folder: Fact<String>,
    /// The version of Xcode.
    pub version: Fact<String>,
    /// Its build.
    pub build: Fact<String>,
    /// Whether its licence was accepted.
    pub licence_accepted: Fact<bool>,
    /// Whether it has installed what it installs when it is first opened.
    pub first_launch_done: Fact<bool>,
}

/// What its user may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rights {
    /// Whether developer mode is on.
    pub developer_mode: Fact<bool>,
    /// Whether the user is in the group `_developer`.
    pub in_developer_group: Fact<bool>,
    /// System Integrity Protection.
    pub protection: Fact<Protection>,
}

/// System Integrity Protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Protection {
    /// On: the system's own programs cannot be traced.
    On,
    /// Off.
    Off,
    /// Partly on.
    Custom,
}

/// How a machine is just now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Condition {
    /// Where its power comes from.
    pub power: Fact<Power>,
    /// Whether it saves power, and is slower for it.
    pub low_power_mode: Fact<bool>,
    /// How much it slows down because it is hot.
    pub thermal_pressure: Fact<ThermalPressure>,
    /// The share of its speed that an Intel Mac is limited to, in percent.
    pub cpu_speed_limit_percent: Fact<u64>,
    /// Programs that record, or may.
    pub recorders: Fact<Vec<Process>>,
}

/// Where power comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// The wall.
    Mains,
    /// The battery.
    Battery,
    /// An uninterruptible supply that runs on its battery.
    Ups,
}

/// How much macOS slows down because of heat: its own five steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThermalPressure {
    /// Not at all.
    Nominal,
    /// A little.
    Moderate,
    /// Much.
    Heavy,
    /// Very much.
    Trapping,
    /// It is about to sleep.
    Sleeping,
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, without its folder.
    pub name: String,
}

/// The GPU just now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Gpu {
    /// How busy its driver says it is, in percent.
    pub utilization_percent: Fact<u64>,
    /// Who used it within half a second.
    pub users: Fact<Vec<GpuUser>>,
    /// Its performance state.
    pub performance_state: Fact<String>,
}

/// Who used the GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GpuUser {
    /// Who.
    pub process: Process,
    /// For how long within about half a second.
    pub gpu_time_ns: u64,
}

/// Where recordings go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Disk {
    /// Bytes that can be written there.
    pub free_bytes: Fact<u64>,
    /// Folders that recordings which did not end left there.
    pub left_over: Fact<Vec<LeftOver>>,
}

/// What a recording that did not end left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LeftOver {
    /// The folder's name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
}
