//! Builds a program with cargo and finds its executable.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use serde::Deserialize;

use crate::error::{Error, Result};

/// Options of `cargo build`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CargoBuild {
    /// Value of the option `--package`.
    pub package: Option<String>,
    /// Value of the option `--bin`.
    pub bin: Option<String>,
    /// Value of the option `--example`.
    pub example: Option<String>,
    /// Value of the option `--bench`.
    pub bench: Option<String>,
    /// True to pass `--release`.
    pub release: bool,
    /// Value of the option `--profile`.
    pub profile: Option<String>,
    /// Value of the option `--features`.
    pub features: Option<String>,
    /// True to pass `--no-default-features`.
    pub no_default_features: bool,
}

impl CargoBuild {
    /// Returns the arguments of cargo. Its messages in JSON name the executables.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![
            "build".into(),
            "--message-format=json-render-diagnostics".into(),
        ];
        let named = [
            ("--package", &self.package),
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--bench", &self.bench),
            ("--profile", &self.profile),
            ("--features", &self.features),
        ];
        for (option, value) in named {
            if let Some(value) = value {
                all.extend([option.into(), value.into()]);
            }
        }
        let flags = [
            ("--release", self.release),
            ("--no-default-features", self.no_default_features),
        ];

        all.extend(
            flags
                .iter()
                .filter(|(_, is_set)| *is_set)
                .map(|(flag, _)| flag.into()),
        );
        all
    }

    /// Builds the program and returns its path. cargo's messages go to stderr. A name of cargo is
    /// looked up in `PATH`.
    ///
    /// # Errors
    ///
    /// If the build fails, or makes no program or several.
    pub fn run(&self, cargo: &OsStr) -> Result<PathBuf> {
        // Standard input is reserved for the recorded program.
        // Not a path: duct would look for a relative one in this folder.
        let output = duct::cmd(cargo, self.arguments())
            .stdin_null()
            .stdout_capture()
            .unchecked()
            .run();
        let output = output
            .map_err(|cause| Error::Target(format!("cannot start {}: {cause}", cargo.display())))?;
        if !output.status.success() {
            return Err(Error::Target("cargo build failed".to_owned()));
        }
        only(&programs(&String::from_utf8_lossy(&output.stdout)))
    }
}

/// The part of cargo's messages that is used here.
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    executable: Option<PathBuf>,
    target: Option<CargoTarget>,
}

/// The target of a message of cargo.
#[derive(Deserialize)]
struct CargoTarget {
    name: String,
    kind: Vec<String>,
}

/// Returns the name and path of each program in cargo's messages.
fn programs(messages: &str) -> Vec<(String, PathBuf)> {
    let parsed = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<CargoMessage>(line).ok());
    let built = parsed.filter(|message| message.reason == "compiler-artifact");
    let programs = built.filter_map(|message| {
        let target = message.target?;
        let is_program = |kind: &String| ["bin", "example", "bench"].contains(&kind.as_str());
        // Build scripts are executables too, but not programs to record.
        let is_recordable = target.kind.iter().any(is_program);
        Some((target.name, message.executable?)).filter(|_| is_recordable)
    });
    programs.collect()
}

/// Returns the path of the only program. Refuses none, and several.
fn only(programs: &[(String, PathBuf)]) -> Result<PathBuf> {
    match programs {
        [(_, path)] => Ok(path.clone()),
        [] => Err(Error::Target(
            "cargo built no program: choose one with --bin, --example or --bench".to_owned(),
        )),
        several => {
            let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
            let names = names.join(", ");
            Err(Error::Target(format!(
                "cargo built several programs: {names}; choose one with --bin"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_become_arguments_of_cargo() {
        let check = |build: CargoBuild, expected: &str| {
            let words: Vec<String> = build
                .arguments()
                .iter()
                .map(|word| word.display().to_string())
                .collect();
            assert_eq!(words.join(" "), expected);
        };

        check(
            CargoBuild::default(),
            "build --message-format=json-render-diagnostics",
        );
        let build = CargoBuild {
            example: Some("bench".to_owned()),
            features: Some("a,b".to_owned()),
            release: true,
            ..CargoBuild::default()
        };
        let expected = "build --message-format=json-render-diagnostics --example bench --features a,b --release";
        check(build, expected);
    }

    #[test]
    fn the_only_program_is_found() {
        let artifact = |name: &str, kind: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"name":"{name}","kind":["{kind}"]}},"executable":{executable}}}"#
            )
        };
        let check = |lines: &[String], expected: std::result::Result<&str, &str>| {
            let found = only(&programs(&lines.join("\n")));
            let found = found
                .map(|path| path.display().to_string())
                .map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), expected);
        };

        let library = artifact("lib", "lib", "null");
        let script = artifact("build-script-build", "custom-build", r#""/t/build-script""#);
        let one = artifact("one", "example", r#""/t/one""#);
        let two = artifact("two", "bin", r#""/t/two""#);
        let noise = "not json".to_owned();
        check(
            &[library.clone(), script.clone(), noise, one.clone()],
            Ok("/t/one"),
        );
        let none = "cargo built no program: choose one with --bin, --example or --bench";
        check(&[library, script], Err(none));
        check(
            &[one, two],
            Err("cargo built several programs: one, two; choose one with --bin"),
        );
    }
}
