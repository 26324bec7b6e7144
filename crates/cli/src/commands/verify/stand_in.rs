//! Makes what stands in for Apple's tools with `--simulate`: an Xcode with a template and a fake
//! `xctrace`, and a `notifyutil`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use metalens_verify::StandIn;
use metalens_workload::Settings;
use metalens_xctrace::Tool;
use tempfile::TempDir;

/// The files of a stand-in, removed when this is dropped.
pub(super) struct StandInFiles {
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

impl StandInFiles {
    /// Writes the files. The fake `xctrace` shows this workload.
    pub(super) fn new(workload: &str, amount: &Settings) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("metalens-stand-in-")
            .tempdir();
        let files = Self {
            folder: folder.context("cannot make a folder for the fake xctrace")?,
        };
        files
            .fill(workload, amount)
            .context("cannot write the fake xctrace")?;
        Ok(files)
    }

    fn fill(&self, workload: &str, amount: &Settings) -> anyhow::Result<()> {
        let own = std::env::current_exe().context("cannot find metalens itself")?;
        let own = own.display().to_string().replace('\'', r"'\''");
        self.script(XCTRACE, &format!("exec '{own}' fake-xctrace -- \"$@\""))?;
        self.script("notifyutil", NOTIFYUTIL)?;
        self.write(TEMPLATE, TEMPLATE_TEXT)?;

        let plan = metalens_workload::Plan::new(workload, amount)?;
        let scenario = with_signpost(&metalens_workload::scenario(&plan));
        self.write("plain.toml", &scenario)?;
        self.write("counters.toml", &format!("{scenario}{COUNTERS}"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path(name);
        fs::create_dir_all(metalens_files::parent(&path))?;
        Ok(fs::write(path, text)?)
    }

    fn script(&self, name: &str, commands: &str) -> anyhow::Result<()> {
        self.write(name, &format!("#!/bin/sh\n{commands}\n"))?;
        Ok(fs::set_permissions(
            self.path(name),
            fs::Permissions::from_mode(0o755),
        )?)
    }

    pub(super) fn stand_in(&self) -> StandIn {
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
        StandIn {
            plain: tool("plain.toml", &[]),
            with_counters: tool("counters.toml", &[]),
            of_child: tool("plain.toml", &[of_child]),
            notifyutil: self.path("notifyutil"),
        }
    }
}

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
