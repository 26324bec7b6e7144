//! Provides a simulated Mac for tests.

use std::collections::BTreeMap;

use metalens_doctor::{CommandOutput, CommandRunner};

/// A Mac whose commands have fixed answers, by the start of the command line.
#[derive(Clone)]
pub(super) struct Mac(pub(super) BTreeMap<String, CommandOutput>);

pub(super) fn exited(code: i32, text: &str) -> CommandOutput {
    CommandOutput::Exited {
        code: Some(code),
        out: text.to_owned(),
        err: String::new(),
    }
}

impl CommandRunner for Mac {
    fn run(&self, program: &str, arguments: &[&str]) -> CommandOutput {
        let name = program.rsplit('/').next().unwrap();
        let line = format!("{name} {}", arguments.join(" "));
        // The longest match wins, since `pmset -g` is not `pmset -g batt`.
        let known = self
            .0
            .iter()
            .filter(|(start, _)| line.starts_with(start.as_str()));
        let known = known.max_by_key(|(start, _)| start.len());
        known.map_or_else(
            || {
                CommandOutput::Failed(format!(
                    "{program} cannot be run: the simulated Mac has no answer to `{line}`"
                ))
            },
            |(_, answer)| answer.clone(),
        )
    }
}

impl Mac {
    /// Returns a laptop that passes all checks.
    pub(super) fn laptop() -> Self {
        let answers = [
            (
                "sysctl",
                1,
                "machdep.cpu.brand_string: Apple M3 Max\nhw.model: Mac15,9\nhw.memsize: 137438953472\n\
                 kern.hv_vmm_present: 0\n",
            ),
            (
                "sw_vers",
                0,
                "ProductName:\t\tmacOS\nProductVersion:\t\t26.3.1\nBuildVersion:\t\t25D2128\n",
            ),
            (
                "xcode-select -p",
                0,
                "/Applications/Xcode.app/Contents/Developer\n",
            ),
            (
                "xcodebuild -version",
                0,
                "Xcode 26.3\nBuild version 17C529\n",
            ),
            ("xcodebuild -license check", 0, ""),
            ("xcodebuild -checkFirstLaunchStatus", 0, ""),
            (
                "DevToolsSecurity -status",
                0,
                "Developer mode is currently enabled.\n",
            ),
            (
                "pmset -g",
                0,
                "Currently in use:\n lowpowermode         0\n",
            ),
            (
                "pmset -g batt",
                0,
                "Now drawing from 'AC Power'\n -InternalBattery-0 (id=1)\t80%; AC attached; not charging present: true\n",
            ),
            ("notifyutil", 0, "com.apple.system.thermalpressurelevel 0\n"),
            (
                "ps",
                0,
                "    1 /sbin/launchd\n  438 /System/Library/PrivateFrameworks/SkyLight.framework/Resources/WindowServer\n",
            ),
            ("file -b", 0, "Mach-O 64-bit executable arm64\n"),
            (
                "ioreg -r -d 1",
                0,
                "+-o AGXAcceleratorG15X  <class AGXAcceleratorG15X>\n  {\n    \"gpu-core-count\" = 40\n  }\n",
            ),
        ];
        let answers = answers.map(|(line, code, text)| (line.to_owned(), exited(code, text)));
        Self(answers.into())
    }

    pub(super) fn with(mut self, line: &str, answer: CommandOutput) -> Self {
        self.0.insert(line.to_owned(), answer);
        self
    }
}
