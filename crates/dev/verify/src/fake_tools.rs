//! Writes fakes of Apple's tools, for experiments without a Mac: an Xcode with a template and a fake
//! `xctrace`, and a `notifyutil`.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use metalens_xctrace::Tool;
use tempfile::TempDir;

/// Fakes of `xctrace`, each of which simulates what it is told to. Their files are removed when this is dropped.
#[derive(Debug)]
pub struct FakeTools {
    folder: TempDir,
    /// Simulates the bundled workload.
    pub(crate) plain: Tool,
    /// Simulates the workload with counters.
    pub(crate) with_counters: Tool,
    /// Simulates the workload as the work of a child.
    pub(crate) of_child: Tool,
    /// A fake of `notifyutil`.
    pub(crate) notifyutil: PathBuf,
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

impl FakeTools {
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
        let path = |name: &str| folder.path().join(name);
        let tool = |scenario: &str, more: Option<(OsString, OsString)>| Tool {
            environment: [
                variable("SCENARIO", path(scenario)),
                variable("STATE", path("state")),
            ]
            .into_iter()
            .chain(more)
            .collect(),
            ..Tool::at(path(XCTRACE))
        };
        // It also misbehaves as it was asked to.
        let asked = std::env::var("METALENS_FAKE_XCTRACE_MISBEHAVE").unwrap_or_default();
        let of_child = variable("MISBEHAVE", Path::new(&format!("{asked},child-works")));
        let tools = Self {
            plain: tool("plain.toml", None),
            with_counters: tool("counters.toml", None),
            of_child: tool("plain.toml", Some(of_child)),
            notifyutil: path("notifyutil"),
            folder,
        };

        let own = own.display().to_string().replace('\'', r"'\''");
        tools.script(XCTRACE, &format!("exec '{own}' fake-xctrace -- \"$@\""))?;
        tools.script("notifyutil", NOTIFYUTIL)?;
        tools.write(TEMPLATE, TEMPLATE_TEXT)?;
        let scenario = with_signpost(scenario);
        tools.write("plain.toml", &scenario)?;
        tools.write("counters.toml", &format!("{scenario}{COUNTERS}"))?;
        Ok(tools)
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.folder.path().join(name);
        fs::create_dir_all(metalens_files::parent(&path))?;
        fs::write(path, text)
    }

    fn script(&self, name: &str, commands: &str) -> io::Result<()> {
        self.write(name, &format!("#!/bin/sh\n{commands}\n"))?;
        let path = self.folder.path().join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
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
