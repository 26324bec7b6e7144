//! Runs `metalens fake-xctrace`, which simulates Apple's `xctrace` as a real process with real
//! arguments, signals, files and pipes. Its settings come from the environment, so that it has the
//! same arguments as `xctrace`:
//!
//! | variable | meaning (and default) |
//! | --- | --- |
//! | `METALENS_FAKE_XCTRACE_SCENARIO` | scenario of every recording: the name of a preset, or a file (`eager`) |
//! | `METALENS_FAKE_XCTRACE_SEED` | seed of its random draws (that of the scenario) |
//! | `METALENS_FAKE_XCTRACE_MISBEHAVE` | names of misbehaviors, separated by commas |
//! | `METALENS_FAKE_XCTRACE_VERSION` | version that it claims to be (`26.0 (17C529)`) |
//! | `METALENS_FAKE_XCTRACE_STATE` | folder to count calls in, for misbehaviors of the first calls only |
//! | `METALENS_FAKE_XCTRACE_SLOW_MS` | duration of saving, in milliseconds (30) |

use std::env::{self, VarError};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail};
use metalens_simulator::fake_xctrace::{self, Exit, Misbehavior, Settings, Streams};
use signal_hook::consts::SIGINT;

use super::{FakeXctraceArguments, synth};
use crate::{exit, out};

/// Exit code for an invalid environment, which no test may take for a code of `xctrace`.
const WRONG_SETTINGS: u8 = 64;

/// Does what `xctrace` would do.
pub(crate) fn run(arguments: FakeXctraceArguments) -> anyhow::Result<ExitCode> {
    let settings = match settings() {
        Ok(settings) => settings,
        Err(error) => {
            exit::print_error(&error);
            return Ok(ExitCode::from(WRONG_SETTINGS));
        }
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&interrupted))
        .context("cannot handle SIGINT")?;
    let streams = Streams {
        input: &mut io::stdin(),
        out: &mut out::untouched(),
        err: &mut out::untouched_notes(),
    };
    match fake_xctrace::run(arguments.arguments, &settings, &interrupted, streams) {
        Exit::Code(code) => Ok(ExitCode::from(code)),
        Exit::Signal(signal) => Ok(kill_self(signal)),
    }
}

/// Ends the process by a signal, or with a shell's exit code for it if that does not work.
fn kill_self(signal: i32) -> ExitCode {
    // Rust's own handler of SIGSEGV only removes itself the first time.
    for _ in 0..2 {
        // If this fails, the exit code below is the fallback.
        let _ = signal_hook::low_level::raise(signal);
    }
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

/// Reads the settings of the fake `xctrace` from the environment.
fn settings() -> anyhow::Result<Settings> {
    let scenario = variable("SCENARIO")?;
    let mut scenario = synth::find(scenario.as_deref().unwrap_or("eager"))
        .context("METALENS_FAKE_XCTRACE_SCENARIO")?;
    if let Some(seed) = number("SEED")? {
        scenario.seed = seed;
    }
    let misbehaviors = variable("MISBEHAVE")?.unwrap_or_default();
    Ok(Settings {
        scenario,
        misbehaviors: Misbehavior::list(&misbehaviors)
            .context("METALENS_FAKE_XCTRACE_MISBEHAVE")?,
        version: variable("VERSION")?.unwrap_or_else(|| Settings::VERSION.to_owned()),
        state: env::var_os("METALENS_FAKE_XCTRACE_STATE").map(Into::into),
        saving: number("SLOW_MS")?.map_or(Settings::SAVING, Duration::from_millis),
    })
}

/// Returns the number that a variable of the environment has. None if it is not set.
fn number(name: &str) -> anyhow::Result<Option<u64>> {
    let number = variable(name)?.map(|text| {
        text.parse()
            .with_context(|| format!("METALENS_FAKE_XCTRACE_{name}: `{text}` is not a number"))
    });
    number.transpose()
}

/// Returns the value of a variable of the environment. None if it is not set.
fn variable(name: &str) -> anyhow::Result<Option<String>> {
    let name = format!("METALENS_FAKE_XCTRACE_{name}");
    match env::var(&name) {
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => bail!("{name} is not text"),
    }
}
