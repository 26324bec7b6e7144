//! Writes fakes of Apple's tools, for experiments without a Mac: an Xcode with a template and a fake
//! `xctrace`, and a `notifyutil`.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use metalens_xctrace::Tool;
use tempfile::TempDir;

use crate::lab::FakeTools;

/// Files of the fakes, removed when this is dropped.
#[derive(Debug)]
pub struct FakeToolFiles {
    folder: TempDir,
}

/// Path of the template in the Xcode.
const TEMPLATE: &str = "Xcode.app/Contents/Applications/Instruments.app/Contents/Packages/GPU.instrdst/\
                        Contents/Templates/Metal System Trace.tracetemplate";
/// Path of the fake `xctrace` in the Xcode.
const XCTRACE: &str = "Xcode.app/Contents/Developer/usr/bin/xctrace";

/// A template in the form of Apple's, with the settings that metalens changes.
const TEMPLATE_TEXT: &str = r#"<?xml version="1.0"?><plist version="1.0"><dict><key>$objects</key><array><dict>
<key>NS.keys</key><array><string>shaderprofiler</string><string>gpuperformancestate</string></array>
<key>NS.objects</key><array><false/><integer>0</integer></array>
</dict></array></dict></plist>
"#;

/// Waits for the file that the fake `xctrace` writes in place of a notification.
const NOTIFYUTIL: &str = "while [ ! -e \"${0%/*}/state/$2.posted\" ]; do sleep 0.05; done";

impl FakeToolFiles {
    /// Writes the files. The fake `xctrace` is `own`, metalens itself, and shows the scenario of a
    /// workload.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn new(own: &Path, scenario: &str) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("metalens-fake-tools-")
            .tempdir()?;
        let files = Self { folder };
        let own = own.display().to_string().replace('\'', r"'\''");
        files.script(XCTRACE, &format!("exec '{own}' fake-xctrace -- \"$@\""))?;
        files.script("notifyutil", NOTIFYUTIL)?;
        files.write(TEMPLATE, TEMPLATE_TEXT)?;

        let scenario = with_signpost(scenario);
        files.write("plain.toml", &scenario)?;
        files.write("counters.toml", &format!("{scenario}{COUNTERS}"))?;
        Ok(files)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.path(name);
        fs::create_dir_all(metalens_files::parent(&path))?;
        fs::write(path, text)
    }

    fn script(&self, name: &str, commands: &str) -> io::Result<()> {
        self.write(name, &format!("#!/bin/sh\n{commands}\n"))?;
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755))
    }

    /// Returns the fakes, each with its scenario and misbehaviors.
    pub fn tools(&self) -> FakeTools {
        let tool = |scenario: &str, more: &[(OsString, OsString)]| Tool {
            environment: [
                variable("SCENARIO", self.path(scenario)),
                variable("STATE", self.path("state")),
            ]
            .into_iter()
            .chain(more.iter().cloned())
            .collect(),
            ..Tool::at(self.path(XCTRACE))
        };
        // It also misbehaves as it was asked to.
        let asked = std::env::var("METALENS_FAKE_XCTRACE_MISBEHAVE").unwrap_or_default();
        let of_child = variable("MISBEHAVE", Path::new(&format!("{asked},child-works")));
        FakeTools {
            plain: tool("plain.toml", &[]),
            with_counters: tool("counters.toml", &[]),
            of_child: tool("plain.toml", &[of_child]),
            notifyutil: self.path("notifyutil"),
        }
    }
}

/// Returns a variable of the environment that the fake `xctrace` reads.
fn variable(name: &str, value: impl AsRef<Path>) -> (OsString, OsString) {
    let name = format!("METALENS_FAKE_XCTRACE_{name}");
    (name.into(), value.as_ref().into())
}

/// Adds to a workload's scenario its signpost, and a shader for its samples.
fn with_signpost(scenario: &str) -> String {
    const SIGNPOST: &str =
        "\n[[process.signpost]]\nname = \"measured\"\nfrom = \"700ms\"\nto = \"720ms\"\n";
    let scenario = scenario.replacen(
        "role = \"target\"\n",
        "role = \"target\"\nshaders = [\"step\"]\n",
        1,
    );
    // The target is the first process.
    let next = scenario.rfind("\n[[process]]").unwrap_or(scenario.len());
    let (target, others) = scenario.split_at(next);
    format!("{target}{SIGNPOST}{others}")
}

const COUNTERS: &str = "\n[[recording.counter]]\nname = \"ALU Limiter\"\nbusy = 60\n";
