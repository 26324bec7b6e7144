//! Finds the `xctrace` to use, and refuses the shim without Xcode.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::run::{Stdin, ToolOutput};
use crate::tool::Tool;
use crate::version::Version;

/// Variable that selects the tools of an Xcode.
const DEVELOPER_DIR: &str = "DEVELOPER_DIR";

/// The settings that decide which `xctrace` is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSource {
    /// Path in `METALENS_XCTRACE`, if it is set: `xctrace` or a fake one.
    pub named: Option<PathBuf>,
    /// True if this is a Mac.
    pub is_mac: bool,
    /// Folder in which Xcode is looked for if the selected tools have no `xctrace`. None if the user
    /// selected tools for this process.
    pub applications: Option<PathBuf>,
}

impl ToolSource {
    /// Returns the settings of this process.
    #[must_use]
    pub fn from_environment() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let is_selected = set(DEVELOPER_DIR).is_some();
        Self {
            named: set("METALENS_XCTRACE").map(PathBuf::from),
            is_mac: cfg!(target_os = "macos"),
            applications: (!is_selected).then(|| PathBuf::from("/Applications")),
        }
    }
}

/// Path of `xctrace` in the developer folder of an Xcode.
const IN_XCODE: &str = "usr/bin/xctrace";

impl Tool {
    /// Finds the named tool, or else the one of Xcode. Does not use the shim in `/usr/bin`: it
    /// exists without Xcode too, and a signal sent to `xcrun` may not reach the program that it
    /// started. `xcrun` respects `DEVELOPER_DIR`.
    pub fn find(source: &ToolSource) -> Result<Self> {
        match &source.named {
            Some(path) if path.is_file() => Ok(Self::at(path.clone())),
            Some(path) => Err(Error::NoSuchTool {
                path: path.display().to_string(),
            }),
            None if source.is_mac => {
                let selected = Self::find_in_xcode(Path::new("/usr/bin/xcrun"));
                let other = source.applications.as_deref();
                selected.or_else(
                    |error| match (&error, other.and_then(Self::of_the_only_xcode)) {
                        (Error::NoXcode { .. }, Some(tool)) => Ok(tool),
                        _ => Err(error),
                    },
                )
            }
            None => Err(Error::NoMac),
        }
    }

    /// Returns the `xctrace` of the one Xcode in a folder of applications; `None` if none or several
    /// have one. Often the Command Line Tools are selected, and Xcode was installed later.
    fn of_the_only_xcode(applications: &Path) -> Option<Self> {
        let entries = std::fs::read_dir(applications).ok()?.flatten();
        let names = entries.map(|entry| entry.file_name());
        let xcodes = names.filter(|name| name.as_encoded_bytes().starts_with(b"Xcode"));
        let folders = xcodes.map(|name| applications.join(name).join("Contents/Developer"));
        let mut found = folders.filter(|folder| folder.join(IN_XCODE).is_file());
        let (folder, None) = (found.next()?, found.next()) else {
            return None;
        };
        Some(Self {
            environment: vec![(DEVELOPER_DIR.into(), folder.clone().into())],
            ..Self::at(folder.join(IN_XCODE))
        })
    }

    /// Returns the folder of the tools that are used although others are selected, if that is so.
    pub fn unselected(&self) -> Option<&Path> {
        let mut variables = self.environment.iter();
        let folder = variables.find(|(name, _)| name == DEVELOPER_DIR)?;
        Some(Path::new(&folder.1))
    }

    fn find_in_xcode(xcrun: &Path) -> Result<Self> {
        let answer = Self::at(xcrun.to_owned()).run(&["-f".into(), "xctrace".into()])?;
        let path = PathBuf::from(answer.out().trim());

        // xcrun may name the shim itself.
        if answer.code == Some(0) && path.is_file() && !path.starts_with("/usr/bin") {
            Ok(Self::at(path))
        } else {
            let output = answer.summary();
            Err(refusal(&output).unwrap_or(Error::NoXcode { output }))
        }
    }

    /// Runs the tool until it ends. For short commands, not for recordings.
    ///
    /// # Errors
    ///
    /// Fails if the tool cannot be started, takes longer than the time limit, or prints too much.
    pub fn run(&self, arguments: &[OsString]) -> Result<ToolOutput> {
        let running = self.start(arguments, Stdin::Nothing)?;
        running.finish(self.time_limit, || {
            let program = self.program.file_name().unwrap_or(self.program.as_os_str());
            let words: Vec<_> = [program]
                .into_iter()
                .chain(arguments.iter().map(OsString::as_os_str))
                .map(|word| word.to_string_lossy())
                .collect();
            words.join(" ")
        })
    }

    /// Returns the version of the tool and of its Xcode.
    pub fn version(&self) -> Result<Version> {
        let answer = self.run(&["version".into()])?;
        Version::parse(&answer.all()).ok_or_else(|| {
            let output = answer.summary();
            refusal(&output).unwrap_or(Error::Unexpected {
                command: "version".to_owned(),
                output,
            })
        })
    }
}

/// Returns the error that the shim or `xcrun` prints in place of running `xctrace`.
fn refusal(output: &str) -> Option<Error> {
    let output = output.to_owned();
    if output.contains("not agreed to the Xcode license") {
        Some(Error::License { output })
    } else if output.contains("requires Xcode") || output.contains("unable to find utility") {
        Some(Error::NoXcode { output })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_tool_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("xctrace");
        std::fs::write(&tool, "").unwrap();
        let find = |named: Option<&Path>, is_mac: bool| {
            let named = named.map(Path::to_owned);
            Tool::find(&ToolSource {
                named,
                is_mac,
                applications: None,
            })
        };
        for is_mac in [false, true] {
            assert_eq!(find(Some(&tool), is_mac).unwrap(), Tool::at(tool.clone()));
            let absent = find(Some(&folder.path().join("x")), is_mac);
            assert!(matches!(absent, Err(Error::NoSuchTool { .. })));
        }
        assert!(matches!(find(None, false), Err(Error::NoMac)));
    }

    /// An Xcode is used only if no other one is there.
    #[test]
    fn the_only_xcode_is_used_if_another_folder_is_selected() {
        let folder = tempfile::tempdir().unwrap();
        let applications = folder.path();
        let install = |name: &str| {
            let tool = applications
                .join(name)
                .join("Contents/Developer/usr/bin/xctrace");
            std::fs::create_dir_all(tool.parent().unwrap()).unwrap();
            std::fs::write(tool, "").unwrap();
        };
        let found = || {
            let tool = Tool::of_the_only_xcode(applications)?;
            let chosen = tool.unselected()?.strip_prefix(applications).unwrap();
            assert!(tool.program.starts_with(applications.join(chosen)));
            Some(chosen.to_owned())
        };
        std::fs::create_dir(applications.join("Xcodes.app")).unwrap();
        install("Instruments.app");
        assert_eq!(found(), None);
        install("Xcode-beta.app");
        assert_eq!(found(), Some("Xcode-beta.app/Contents/Developer".into()));
        install("Xcode.app");
        assert_eq!(found(), None);
        assert_eq!(Tool::at("/a/xctrace".into()).unselected(), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_shim_is_not_xcode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let real = script("xctrace", "echo 'xctrace version 26.0 (17C529)'");
        let xcrun = script("xcrun", &format!("echo {}", real.display()));
        let found = Tool::find_in_xcode(&xcrun).unwrap();
        assert_eq!(found.version().unwrap().build, "17C529");

        let message = "xcrun: error: unable to find utility \"xctrace\", not a developer tool";
        let without = script("without", &format!("echo '{message}' >&2; exit 72"));
        let error = Tool::find_in_xcode(&without).unwrap_err().to_string();
        assert!(
            error.contains(message) && error.contains("xcode-select -s"),
            "{error}"
        );
        let license = "You have not agreed to the Xcode license agreements.";
        let refuses = script("refuses", &format!("echo '{license}' >&2; exit 69"));
        for error in [
            Tool::find_in_xcode(&refuses).unwrap_err(),
            Tool::at(refuses.clone()).version().unwrap_err(),
        ] {
            assert!(matches!(error, Error::License { .. }), "{error}");
        }
        let shim = script(
            "shim",
            "echo \"xcode-select: error: tool 'xctrace' requires Xcode\" >&2; exit 1",
        );
        let error = Tool::at(shim).version().unwrap_err();
        assert!(matches!(error, Error::NoXcode { .. }), "{error}");
    }
}
