//! Describes the Mac that a recording is made on, before and after the recording.

use std::path::Path;
use std::time::Duration;

use metalens_doctor::{
    CommandRunner, Condition, Disk, MacFacts, Power, SystemCommands, ThermalPressure, preflight,
};
use metalens_files::parent;
use metalens_xctrace::command::Length;
use schemars::JsonSchema;
use serde::Serialize;

use crate::record_request::RecordRequest;

/// The state of a Mac before the recording.
#[derive(Debug)]
pub struct MachineSnapshot {
    machine: MacFacts,
    before: Condition,
    /// Warnings to show before the recording starts.
    pub warnings: Vec<String>,
}

/// Facts about the Mac that a recording was made on. A value is null if the Mac did not report it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "MadeOn")]
pub(crate) struct MachineFacts {
    /// Name of the chip, such as `Apple M3 Max`.
    chip: Option<String>,
    /// Number of GPU cores.
    gpu_cores: Option<u64>,
    /// Model identifier, such as `Mac15,9`.
    model: Option<String>,
    /// Size of the memory, in bytes.
    memory_bytes: Option<u64>,
    /// Version of macOS, such as `26.0`.
    macos: Option<String>,
    /// Build number of macOS.
    macos_build: Option<String>,
    /// Source of power: mains or battery.
    power: BeforeAfter<Power>,
    /// True if low power mode was on, which makes the Mac slower.
    low_power_mode: BeforeAfter<bool>,
    /// Thermal pressure: how much the Mac slowed down because of heat.
    thermal_pressure: BeforeAfter<ThermalPressure>,
}

/// A value before the recording started, and after it was saved.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
struct BeforeAfter<T> {
    before: Option<T>,
    after: Option<T>,
}

/// Access to the system with a short timeout, since these facts are not essential.
const SYSTEM: SystemCommands = SystemCommands {
    time_limit: Duration::from_secs(2),
};

impl MachineSnapshot {
    /// Reads the state of this machine, if it is a Mac that records without a simulator.
    #[must_use]
    pub fn take(request: &RecordRequest) -> Option<Self> {
        if request.is_synthetic() || !cfg!(target_os = "macos") {
            return None;
        }

        let length = request.time_limit_ns.and_then(Length::from_nanoseconds);
        let limit = length.map(|limit| Duration::from_millis(limit.milliseconds()));
        Some(Self::read(&SYSTEM, parent(&request.output), limit))
    }

    /// Reads the facts, and warns of what disturbs a recording.
    fn read(runner: &dyn CommandRunner, folder: &Path, time_limit: Option<Duration>) -> Self {
        let before = Condition::gather(runner);
        Self {
            machine: MacFacts::gather(runner),
            warnings: preflight(
                &before,
                &Disk::gather(runner, folder, Some(&std::env::temp_dir())),
                time_limit,
            ),
            before,
        }
    }

    /// Returns the facts with the state after the recording.
    pub(crate) fn after_recording(self) -> MachineFacts {
        self.with_state_after(&SYSTEM)
    }

    /// Adds the state after the recording.
    fn with_state_after(self, runner: &dyn CommandRunner) -> MachineFacts {
        let (machine, before, after) = (self.machine, self.before, Condition::gather(runner));

        MachineFacts {
            chip: machine.chip.value,
            gpu_cores: machine.gpu_cores.value,
            model: machine.model.value,
            memory_bytes: machine.memory_bytes.value,
            macos: machine.macos.value,
            macos_build: machine.macos_build.value,
            power: both(before.power.value, after.power.value),
            low_power_mode: both(before.low_power_mode.value, after.low_power_mode.value),
            thermal_pressure: both(before.thermal_pressure.value, after.thermal_pressure.value),
        }
    }
}

fn both<T>(before: Option<T>, after: Option<T>) -> BeforeAfter<T> {
    BeforeAfter { before, after }
}

/// Returns the facts of a made-up Mac that heats up.
#[cfg(test)]
pub(crate) fn facts_for_test() -> MachineFacts {
    use metalens_doctor::CommandOutput;

    /// A Mac whose commands have fixed answers.
    struct Mac {
        pressure: &'static str,
    }
    impl CommandRunner for Mac {
        fn run(&self, program: &str, arguments: &[&str]) -> CommandOutput {
            let name = program.rsplit('/').next().unwrap_or(program);
            let out = match (name, arguments) {
                ("sysctl", _) => "machdep.cpu.brand_string: Apple M3 Max\nhw.memsize: 1024\n",
                ("notifyutil", _) => self.pressure,
                ("pmset", ["-g", "batt"]) => "Now drawing from 'AC Power'\n",
                _ => return CommandOutput::Failed("it hangs".to_owned()),
            };
            let (out, err) = (out.to_owned(), String::new());
            let code = Some(0);
            CommandOutput::Exited { code, out, err }
        }
    }
    let before = MachineSnapshot::read(&Mac { pressure: "x 0" }, Path::new("."), None);
    before.with_state_after(&Mac { pressure: "x 1" })
}
