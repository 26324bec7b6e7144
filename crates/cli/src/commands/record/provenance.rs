//! `X.recording.json`: how a bundle was made, so that two of them can be compared
//! and one can be made again.

use std::ffi::OsStr;
use std::path::PathBuf;

use metalens_recorder::{Recording, StoppedBy};
use serde::Serialize;

use super::plan::Plan;
use crate::args::recording::RecordingArguments;
use crate::whole;

/// The form's name.
const SCHEMA: &str = "metalens.recording/1";

/// How a bundle was made. What names its user is left out.
#[derive(Debug, Serialize)]
struct Provenance<'a> {
    schema: &'static str,
    metalens: &'static str,
    /// Whether a simulator took `xctrace`'s place.
    synthetic: bool,
    xctrace: Xctrace<'a>,
    template: &'a str,
    instruments: &'a [String],
    /// What was recorded, as it was asked for; the home folder is `~`.
    command: Vec<String>,
    /// The names of the variables that were set; their values may be secrets.
    environment: Vec<&'a str>,
    time_limit_ns: Option<u64>,
    window_ns: Option<u64>,
    ended_by: &'static str,
    exit_code: Option<i32>,
    warnings: &'a [String],
}

#[derive(Debug, Serialize)]
struct Xctrace<'a> {
    version: &'a str,
    build: &'a str,
}

/// Writes it beside the bundle. Of a bundle that is replaced or appended to, it
/// is replaced too.
pub(super) fn write(
    plan: &Plan,
    arguments: &RecordingArguments,
    recorded: &Recording,
) -> anyhow::Result<PathBuf> {
    let version = &plan.request.version;
    let home = std::env::var_os("HOME");
    let shown = |word: &OsStr| without_home(&word.to_string_lossy(), home.as_deref());
    let provenance = Provenance {
        schema: SCHEMA,
        metalens: env!("CARGO_PKG_VERSION"),
        synthetic: plan.is_simulated,
        xctrace: Xctrace {
            version: &version.dotted,
            build: &version.build,
        },
        template: &arguments.template,
        instruments: &plan.request.record.instruments,
        command: match arguments.command.as_slice() {
            [] => vec![plan.subject.clone()],
            words => words.iter().map(|word| shown(word)).collect(),
        },
        environment: arguments
            .env
            .iter()
            .map(|(name, _)| name.as_str())
            .collect(),
        time_limit_ns: arguments.time_limit,
        window_ns: arguments.window,
        ended_by: match recorded.stopped_by {
            StoppedBy::TimeLimit => "time-limit",
            StoppedBy::TargetExit => "target-exit",
            StoppedBy::Wish => "interrupt",
            StoppedBy::Unknown => "unknown",
        },
        exit_code: recorded.code,
        warnings: &recorded.warnings,
    };
    let file = recorded.bundle.with_extension("recording.json");
    whole::write(&file, true, |out| {
        serde_json::to_writer_pretty(&mut *out, &provenance)?;
        Ok(writeln!(out)?)
    })?;
    Ok(file)
}

/// A text in which the home folder is `~`.
fn without_home(text: &str, home: Option<&OsStr>) -> String {
    match home.and_then(OsStr::to_str).filter(|home| home.len() > 1) {
        Some(home) => text.replace(home, "~"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_named() {
        let check = |text: &str, home: &str, expected: &str| {
            assert_eq!(without_home(text, Some(OsStr::new(home))), expected);
        };
        check("--data=/Users/ada/x", "/Users/ada", "--data=~/x");
        check("/x", "/", "/x");
        check("/x", "", "/x");
    }
}
