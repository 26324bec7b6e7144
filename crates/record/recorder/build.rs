//! Compiles the probe into a library that the recorder has inside itself, so that one program is all
//! that is installed. Cargo gives the library of another package to nobody who installs a program. The
//! probe and the log depend on nothing else, so the compiler alone can build them.
//!
//! `METALENS_PROBE_IMAGE` names a ready library instead, such as one of two architectures.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates below `crates/record`, each after those that it depends on.
const CRATES: [&str; 2] = ["command-log", "probe"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=METALENS_PROBE_IMAGE");
    let out = PathBuf::from(variable("OUT_DIR")?);
    let image = out.join("probe");
    if let Some(ready) = env::var_os("METALENS_PROBE_IMAGE") {
        println!("cargo::rerun-if-changed={}", Path::new(&ready).display());
        fs::copy(ready, image)?;
        return Ok(());
    }

    let record = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("..");
    for name in CRATES {
        println!(
            "cargo::rerun-if-changed={}",
            record.join(name).join("src").display()
        );
    }
    match compile(&record, &out, &image) {
        Ok(()) => Ok(()),
        // Checks on another system have no linker, or no standard library, for the target.
        Err(why) if variable("HOST")? != variable("TARGET")? => {
            println!("cargo::warning=this build has no probe: {why}");
            Ok(fs::write(image, "")?)
        }
        Err(why) => Err(why),
    }
}

/// Compiles the log, then the probe with it.
fn compile(record: &Path, out: &Path, image: &Path) -> Result<(), Box<dyn Error>> {
    let log = out.join("libmetalens_command_log.rlib");
    let mut command = compiler("metalens_command_log", "rlib")?;
    run(command
        .arg(record.join("command-log/src/lib.rs"))
        .arg("-o")
        .arg(&log))?;

    let mut depends = OsString::from("metalens_command_log=");
    depends.push(&log);
    let mut command = compiler("metalens_probe", "cdylib")?;
    command.arg("--extern").arg(depends);
    run(command
        .arg(record.join("probe/src/lib.rs"))
        .arg("-o")
        .arg(image))
}

/// Returns the compiler with the settings of this build, for a crate of a kind.
fn compiler(name: &str, kind: &str) -> Result<Command, Box<dyn Error>> {
    let mut command = Command::new(variable("RUSTC")?);
    command.args(["--edition", "2024", "--cap-lints", "allow"]);
    command.args(["--crate-name", name, "--crate-type", kind]);
    command.arg("--target").arg(variable("TARGET")?);
    // The same in each profile: a slow probe would change what it measures.
    command.args([
        "-C",
        "opt-level=s",
        "-C",
        "codegen-units=1",
        "-C",
        "strip=symbols",
    ]);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut setting = OsString::from("linker=");
        setting.push(linker);
        command.arg("-C").arg(setting);
    }
    if let Ok(flags) = env::var("CARGO_ENCODED_RUSTFLAGS") {
        command.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    }
    Ok(command)
}

fn run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("the compiler of the probe failed: {}", said.trim()).into())
}

fn variable(name: &str) -> Result<OsString, Box<dyn Error>> {
    env::var_os(name).ok_or_else(|| format!("Cargo sets {name}").into())
}
