//! The Mac that a recording is made on: how it was before, and how after.

use std::path::Path;
use std::time::Duration;

use metalens_doctor::{
    CommandRunner, Condition, Disk, Machine, Power, SystemCommands, ThermalPressure, preflight,
};
use metalens_files::parent;
use metalens_xctrace::command::Length;
use schemars::JsonSchema;
use serde::Serialize;

use crate::record_request::RecordRequest;

/// A Mac, before.
#[derive(Debug)]
pub struct Surroundings {
    machine: Machine,
    before: Condition,
    /// What should be known before it records.
    pub warnings: Vec<String>,
}

/// What a recording was made on. A value is null if the Mac did not tell.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MadeOn {
    /// `Apple M3 Max`.
    chip: Option<String>,
    /// GPU cores.
    gpu_cores: Option<u64>,
    /// `Mac15,9`.
    model: Option<String>,
    /// Bytes of memory.
    memory_bytes: Option<u64>,
    /// The version of macOS.
    macos: Option<String>,
    /// Its build.
    macos_build: Option<String>,
    /// Where its power came from.
    power: BeforeAfter<Power>,
    /// Whether it saved power, and was slower for it.
    low_power_mode: BeforeAfter<bool>,
    /// How much it slowed down because it was hot.
    thermal_pressure: BeforeAfter<ThermalPressure>,
}

/// How something was before the recording, and once it was saved.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
struct BeforeAfter<T> {
    before: Option<T>,
    after: Option<T>,
}

/// Nobody waits long for what is only good to know.
const SYSTEM: SystemCommands = SystemCommands {
    time_limit: Duration::from_secs(2),
};

impl Surroundings {
    /// Looks at this machine, if it is a Mac that really records.
    #[must_use]
    pub fn look(asked: &RecordRequest) -> Option<Self> {
        if asked.is_simulated() || !cfg!(target_os = "macos") {
            return None;
        }
        let limit = asked.time_limit_ns.and_then(Length::from_nanoseconds);
        let limit = limit.map(|limit| Duration::from_millis(limit.milliseconds()));
        Some(Self::of(&SYSTEM, parent(&asked.output), limit))
    }

    fn of(runner: &dyn CommandRunner, folder: &Path, time_limit: Option<Duration>) -> Self {
        let before = Condition::gather(runner);
        Self {
            machine: Machine::gather(runner),
            warnings: preflight(&before, &Disk::gather(folder), time_limit),
            before,
        }
    }

    /// Once it has recorded.
    pub(crate) fn made_on(self) -> MadeOn {
        self.then(&SYSTEM)
    }

    fn then(self, runner: &dyn CommandRunner) -> MadeOn {
        let (machine, before, after) = (self.machine, self.before, Condition::gather(runner));
        MadeOn {
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

/// A Mac for tests, which heats up.
#[cfg(test)]
pub(crate) fn of_a_test() -> MadeOn {
    use metalens_doctor::CommandOutput;

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
    let before = Surroundings::of(&Mac { pressure: "x 0" }, Path::new("."), None);
    before.then(&Mac { pressure: "x 1" })
}
