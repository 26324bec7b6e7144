//! Where Apple's tool is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::run::{Answer, Stdin};
use crate::tool::Tool;
use crate::version::Version;

/// What decides which `xctrace` is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// `METALENS_XCTRACE`: the tool itself, or what takes its place.
    pub named: Option<PathBuf>,
    /// Whether this is a Mac.
    pub is_mac: bool,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn here() -> Self {
        let named = std::env::var_os("METALENS_XCTRACE").filter(|name| !name.is_empty());
        Self {
            named: named.map(PathBuf::from),
            is_mac: cfg!(target_os = "macos"),
        }
    }
}

impl Tool {
    /// The one that was named, else Xcode's. Not through the shim in `/usr/bin`:
    /// that is there without Xcode too, and a signal sent to `xcrun` need not
    /// reach what it started. `xcrun` heeds `DEVELOPER_DIR`.
    pub fn find(surroundings: &Surroundings) -> Result<Self> {
        match &surroundings.named {
            Some(path) if path.is_file() => Ok(Self::at(path.clone())),
            Some(path) => Err(Error::NoSuchTool {
                path: path.display().to_string(),
            }),
            None if surroundings.is_mac => Self::of_xcode(Path::new("/usr/bin/xcrun")),
            None => Err(Error::NoMac),
        }
    }

    fn of_xcode(xcrun: &Path) -> Result<Self> {
        let asked = Self::at(xcrun.to_owned());
        let answer = asked.ask(&["-f".into(), "xctrace".into()])?;
        let path = PathBuf::from(answer.out().trim());
        // The shim may be named; what lies beside it is no Xcode either.
        match answer.code == Some(0) && path.is_file() && !path.starts_with("/usr/bin") {
            true => Ok(Self::at(path)),
            false => Err(Error::NoXcode {
                said: answer.said(),
            }),
        }
    }

    /// Runs it to its end, which is soon: for questions, not for recordings.
    pub fn ask(&self, arguments: &[OsString]) -> Result<Answer> {
        self.start(arguments, Stdin::Nothing)?.finish()
    }

    /// Which Xcode it belongs to.
    pub fn version(&self) -> Result<Version> {
        let answer = self.ask(&["version".into()])?;
        Version::parse(&answer.all()).ok_or_else(|| {
            let said = answer.said();
            // The shim without an Xcode behind it.
            match said.contains("requires Xcode") || said.contains("unable to find utility") {
                true => Error::NoXcode { said },
                false => Error::Unexpected {
                    asked: "version".to_owned(),
                    said,
                },
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("xctrace");
        std::fs::write(&tool, "").unwrap();
        let find = |named: Option<&Path>, is_mac: bool| {
            let named = named.map(Path::to_owned);
            Tool::find(&Surroundings { named, is_mac })
        };
        for is_mac in [false, true] {
            assert_eq!(find(Some(&tool), is_mac).unwrap(), Tool::at(tool.clone()));
            let absent = find(Some(&folder.path().join("x")), is_mac);
            assert!(matches!(absent, Err(Error::NoSuchTool { .. })));
        }
        assert!(matches!(find(None, false), Err(Error::NoMac)));
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
        let found = Tool::of_xcode(&xcrun).unwrap();
        assert_eq!(found.version().unwrap().build, "17C529");

        let said = "xcrun: error: unable to find utility \"xctrace\", not a developer tool";
        let without = script("without", &format!("echo '{said}' >&2; exit 72"));
        let error = Tool::of_xcode(&without).unwrap_err().to_string();
        assert!(
            error.contains(said) && error.contains("xcode-select -s"),
            "{error}"
        );
        let shim = script(
            "shim",
            "echo \"xcode-select: error: tool 'xctrace' requires Xcode\" >&2; exit 1",
        );
        let error = Tool::at(shim).version().unwrap_err();
        assert!(matches!(error, Error::NoXcode { .. }), "{error}");
    }
}
