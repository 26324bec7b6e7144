//! Finds the Pythons of this machine, and tries whether the probe reaches them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use metalens_recorder::{Probe, loadable};

/// Places where people have Pythons. The one of `/usr/bin` is none: without the Command Line Tools it asks
/// to install them.
const PLACES: [(&str, &str); 4] = [
    ("homebrew", "/opt/homebrew/bin/python3"),
    ("usr-local", "/usr/local/bin/python3"),
    (
        "command-line-tools",
        "/Library/Developer/CommandLineTools/usr/bin/python3",
    ),
    (
        "python.org",
        "/Library/Frameworks/Python.framework/Versions/Current/bin/python3",
    ),
];
/// Variables that name the folder of an environment.
const ENVIRONMENTS: [(&str, &str); 2] = [("venv", "VIRTUAL_ENV"), ("conda", "CONDA_PREFIX")];

/// Time that an interpreter has: one in a guarded folder may hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// Prints whether the probe is in the interpreter, and where its libraries are.
const SCRIPT: &str =
    "import ctypes, sys; print(hasattr(ctypes.CDLL(None), 'metalens_start'), sys.prefix)";

/// Word for a Python that the probe reaches as it should.
pub(crate) const REACHED: &str = "reached";

/// Returns what becomes of the probe in the Pythons that run, by the kind of their place.
pub(crate) fn found(probe: &Probe) -> Vec<(&'static str, &'static str)> {
    let places = PLACES.map(|(kind, path)| (kind, PathBuf::from(path)));
    let environments = ENVIRONMENTS.into_iter().filter_map(|(kind, variable)| {
        let folder = PathBuf::from(std::env::var_os(variable)?);
        Some((kind, folder.join("bin/python")))
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path);
    let may_ask = |folder: &PathBuf| cfg!(target_os = "macos") && folder == Path::new("/usr/bin");
    let on_path = folders.filter(|folder| !may_ask(folder));
    let on_path = on_path.map(|folder| ("on-path", folder.join("python3")));
    let on_path = on_path.filter(|(_, python)| python.exists()).take(1);
    let all = places.into_iter().chain(environments).chain(on_path);
    all.filter_map(|(kind, python)| Some((kind, reach(probe, python.into_os_string())?)))
        .collect()
}

/// Returns what becomes of the probe in a Python; `None` if that runs not even without it.
fn reach(probe: &Probe, python: OsString) -> Option<&'static str> {
    let command = vec![python, "-c".into(), SCRIPT.into()];
    let (_, prefix) = said(&command, Vec::new())?;
    let Ok(command) = loadable(command) else {
        return Some("refused before the start");
    };
    let folder = tempfile::tempdir().ok()?;
    let log = folder.path().join("python.jsonl");
    Some(match said(&command, probe.variables(&log, false)) {
        None => "it fails with the probe in it",
        Some((false, _)) => "the probe is not in it",
        Some((true, with_probe)) if with_probe != prefix => "it has another prefix",
        Some(_) => REACHED,
    })
}

/// Runs a command with more variables, and returns what the script says.
fn said(command: &[OsString], variables: Vec<(OsString, OsString)>) -> Option<(bool, String)> {
    let (program, arguments) = command.split_first()?;
    let run = duct::cmd(program, arguments).stdin_null().stderr_null();
    let set = |run: duct::Expression, (name, value)| run.env(name, value);
    let run = variables.into_iter().fold(run, set).stdout_capture();
    let running = run.unchecked().start().ok()?;
    let output = running.wait_timeout(PATIENCE).ok().flatten().cloned();
    // It has ended, or hangs.
    let _ = running.kill();
    let output = output.filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (is_there, prefix) = text.trim().split_once(' ')?;
    Some((is_there == "True", prefix.to_owned()))
}
