//! `metalens stand-in`: the program in the place of Apple's `xctrace`, a real process with real
//! arguments, signals, files and pipes. Its settings come from the environment, so that its
//! arguments are `xctrace`'s own and nothing else:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `METALENS_STAND_IN_SCENARIO` | what every recording shows: a built-in scenario or a file; `eager` |
//! | `METALENS_STAND_IN_MISBEHAVE` | in which ways it misbehaves, by name, separated by commas |
//! | `METALENS_STAND_IN_VERSION` | the version it claims to be: `26.0 (17C529)` |
//! | `METALENS_STAND_IN_STATE` | a folder to count calls in, for what happens only the first times |
//! | `METALENS_STAND_IN_SLOW_MS` | how long saving takes, in milliseconds: 30 |

use std::env::{self, VarError};
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, bail};
use metalens_simulator::stand_in::{self, Ending, Misbehaviour, Settings, Streams};
use signal_hook::consts::SIGINT;

use super::synth;
use crate::args::StandInArguments;
use crate::{exit, out};

/// The exit code of an environment that makes no sense, which no test may take for `xctrace`'s.
const WRONG_SETTINGS: u8 = 64;

pub(crate) fn run(arguments: StandInArguments) -> anyhow::Result<ExitCode> {
    let settings = match settings() {
        Ok(settings) => settings,
        Err(error) => {
            exit::tell(&error);
            return Ok(ExitCode::from(WRONG_SETTINGS));
        }
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(SIGINT, Arc::clone(&interrupted)).context("cannot hear SIGINT")?;
    let streams = Streams {
        input: &mut io::stdin(),
        out: &mut out::untouched(),
        err: &mut out::untouched_notes(),
    };
    match stand_in::run(arguments.arguments, &settings, &interrupted, streams) {
        Ending::Code(code) => Ok(ExitCode::from(code)),
        Ending::Signal(signal) => Ok(die_of(signal)),
    }
}

/// Ends the process as that signal would; a shell's code for it where that does not work.
fn die_of(signal: i32) -> ExitCode {
    // Rust's own handler of SIGSEGV takes itself away the first time.
    for _ in 0..2 {
        // What to do if it fails comes next.
        let _ = signal_hook::low_level::raise(signal);
    }
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

fn settings() -> anyhow::Result<Settings> {
    let scenario = variable("SCENARIO")?;
    let slow_ms = variable("SLOW_MS")?.map(|text| {
        let ms = text.parse().map(Duration::from_millis);
        ms.with_context(|| format!("METALENS_STAND_IN_SLOW_MS: `{text}` is no number"))
    });
    let misbehaviours = variable("MISBEHAVE")?.unwrap_or_default();
    Ok(Settings {
        scenario: synth::find(scenario.as_deref().unwrap_or("eager"))
            .context("METALENS_STAND_IN_SCENARIO")?,
        misbehaviours: Misbehaviour::list(&misbehaviours).context("METALENS_STAND_IN_MISBEHAVE")?,
        version: variable("VERSION")?.unwrap_or_else(|| Settings::VERSION.to_owned()),
        state: env::var_os("METALENS_STAND_IN_STATE").map(Into::into),
        saving: slow_ms.transpose()?.unwrap_or(Settings::SAVING),
    })
}

fn variable(name: &str) -> anyhow::Result<Option<String>> {
    let name = format!("METALENS_STAND_IN_{name}");
    match env::var(&name) {
        Ok(value) => Ok(Some(value)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => bail!("{name} is not text"),
    }
}
