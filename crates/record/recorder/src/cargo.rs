//! Builds a program with cargo and finds its executable.

use std::ffi::OsStr;
use std::path::PathBuf;

use serde::Deserialize;

use crate::error::{Error, Result};

/// A build of a program with `cargo build`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CargoBuild {
    /// Options for `cargo build`, such as `--release`.
    pub options: Vec<String>,
}

impl CargoBuild {
    /// Returns the name that the options give to what is built.
    pub(crate) fn name(&self) -> Option<&str> {
        let naming = ["--bin", "--example", "--bench", "--package", "-p"];
        naming.into_iter().find_map(|option| self.value(option))
    }

    /// Returns the value of an option: `x` of `--bin x`, and of `--bin=x`.
    fn value(&self, name: &str) -> Option<&str> {
        let mut options = self.options.iter().map(String::as_str);
        let option = options.find(|option| option.split('=').next() == Some(name))?;
        match option.split_once('=') {
            Some((_, value)) => Some(value),
            None => options.next(),
        }
    }

    /// Returns the arguments of cargo. Its messages in JSON name the executables.
    fn arguments(&self) -> impl Iterator<Item = &str> {
        let first = ["build", "--message-format=json-render-diagnostics"];
        first
            .into_iter()
            .chain(self.options.iter().map(String::as_str))
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
            .run()
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
    fn options_are_passed_to_cargo_and_name_the_program() {
        let check = |options: &[&str], expected: Option<&str>| {
            let build = CargoBuild {
                options: options.iter().map(ToString::to_string).collect(),
            };
            let first = ["build", "--message-format=json-render-diagnostics"];
            let arguments: Vec<&str> = build.arguments().collect();
            assert_eq!(arguments, [&first, options].concat());
            assert_eq!(build.name(), expected);
        };

        check(&[], None);
        check(&["--release", "--features", "a,b"], None);
        check(&["--release", "--example", "shown"], Some("shown"));
        check(&["--example=shown", "-p", "tiny"], Some("shown"));
        check(&["-p", "tiny"], Some("tiny"));
        check(&["--bin"], None);
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
