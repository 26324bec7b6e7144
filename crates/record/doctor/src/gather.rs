//! Gathers the facts of a Mac, each with its source.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;

use crate::command::{CommandOutput, CommandRunner};
use crate::facts::{Condition, Disk, Fact, Facts, MacFacts, Process, Xcode};
use crate::parse;
use crate::scratch::temporary_folders;

impl Facts {
    /// Gathers all facts at the same time: this takes as long as the slowest command.
    pub fn gather(runner: &dyn CommandRunner, folder: &Path, temporary: Option<&Path>) -> Self {
        thread::scope(|scope| {
            let xcode = scope.spawn(|| Xcode::gather(runner));
            let developer_mode_is_on = scope.spawn(|| developer_mode(runner));
            let condition = scope.spawn(|| Condition::gather(runner));
            Self {
                machine: MacFacts::gather(runner),
                disk: Disk::gather(runner, folder, temporary),
                // If a thread panicked, its facts are gathered again here.
                xcode: xcode.join().unwrap_or_else(|_| Xcode::gather(runner)),
                developer_mode: developer_mode_is_on
                    .join()
                    .unwrap_or_else(|_| developer_mode(runner)),
                condition: condition
                    .join()
                    .unwrap_or_else(|_| Condition::gather(runner)),
            }
        })
    }
}

const SYSCTL: &str = "/usr/sbin/sysctl";
const IOREG: &str = "/usr/sbin/ioreg";
const PMSET: &str = "/usr/bin/pmset";

impl MacFacts {
    /// Gathers the facts about the hardware and macOS.
    pub fn gather(runner: &dyn CommandRunner) -> Self {
        let names = [
            "machdep.cpu.brand_string",
            "hw.model",
            "hw.memsize",
            "kern.hv_vmm_present",
        ];

        // sysctl prints the names that it knows, and an error for each other one.
        let hardware = runner.run(SYSCTL, &names);
        let text = |name: &str| {
            let source = format!("sysctl {name}");
            Fact::parsed(&source, &hardware, |text| parse::field(text, name))
        };

        let number = |name: &str| {
            let source = format!("sysctl {name}");
            Fact::new(
                &source,
                parse::number(&hardware.text(), name),
                || match &hardware {
                    CommandOutput::Failed(why) => why.clone(),
                    CommandOutput::Exited { .. } => {
                        "sysctl has no such value on this Mac".to_owned()
                    }
                },
            )
        };

        let is_one = |name: &str| {
            let setting = number(name);
            Fact {
                value: setting.value.map(|value| value == 1),
                why_not: setting.why_not,
                source: setting.source,
            }
        };

        let version = runner.run("/usr/bin/sw_vers", &[]);
        let gpu = runner.run(IOREG, &["-r", "-d", "1", "-w", "0", "-c", "IOAccelerator"]);
        let of_system =
            |name: &str| Fact::parsed("sw_vers", &version, |text| parse::field(text, name));
        Self {
            chip: text("machdep.cpu.brand_string"),
            model: text("hw.model"),
            gpu_cores: Fact::new(
                "ioreg -c IOAccelerator",
                parse::registry_number(&gpu.text(), "gpu-core-count"),
                || "the driver does not report it".to_owned(),
            ),
            memory_bytes: number("hw.memsize"),
            is_virtual: is_one("kern.hv_vmm_present"),
            macos: of_system("ProductVersion"),
            macos_build: of_system("BuildVersion"),
        }
    }
}

impl Xcode {
    /// Gathers the facts about Xcode.
    pub fn gather(runner: &dyn CommandRunner) -> Self {
        let xcodebuild = |arguments: &[&str]| runner.run("/usr/bin/xcodebuild", arguments);
        let folder = runner.run("/usr/bin/xcode-select", &["-p"]);
        let version = xcodebuild(&["-version"]);
        let named = parse::xcode(&version.text());
        let is_done = |what: &[&str]| {
            let source = format!("xcodebuild {}", what.join(" "));
            let answer = xcodebuild(what);
            let value = match answer.code() {
                Some(0) => Some(true),
                // 69 is EX_UNAVAILABLE. Other codes have other reasons: without an Xcode it is 1.
                Some(69) => Some(false),
                _ => None,
            };
            Fact::new(&source, value, || answer.summary())
        };

        let part =
            |value: Option<String>| Fact::new("xcodebuild -version", value, || version.summary());
        Self {
            folder: Fact::parsed("xcode-select -p", &folder, parse::folder),
            license_accepted: is_done(&["-license", "check"]),
            first_launch_done: is_done(&["-checkFirstLaunchStatus"]),
            version: part(named.as_ref().map(|(version, _)| version.clone())),
            build: part(named.as_ref().map(|(_, build)| build.clone())),
        }
    }
}

/// Asks whether developer mode is on.
pub fn developer_mode(runner: &dyn CommandRunner) -> Fact<bool> {
    let mode = runner.run("/usr/sbin/DevToolsSecurity", &["-status"]);
    Fact::parsed("DevToolsSecurity -status", &mode, parse::developer_mode)
}

/// Programs that may block a recording: only one at a time can sample the kernel's counters
/// (kperf) or own its trace buffer (ktrace).
const RECORDERS: [&str; 7] = [
    "xctrace",
    "Instruments",
    "DTServiceHub",
    "ktrace",
    "artrace",
    "fs_usage",
    "sc_usage",
];

impl Condition {
    /// Gathers the facts about the current condition.
    pub fn gather(runner: &dyn CommandRunner) -> Self {
        let battery = runner.run(PMSET, &["-g", "batt"]);
        let settings = runner.run(PMSET, &["-g"]);
        let key = "com.apple.system.thermalpressurelevel";
        let pressure = runner.run("/usr/bin/notifyutil", &["-g", key]);
        let running = runner.run("/bin/ps", &["-axo", "pid=,comm="]);

        let low_power = parse::low_power_mode(&settings.text());
        Self {
            power: Fact::parsed("pmset -g batt", &battery, parse::power),
            low_power_mode: Fact::new("pmset -g", low_power, || match &settings {
                CommandOutput::Failed(why) => why.clone(),
                CommandOutput::Exited { .. } => {
                    "pmset lists no low power mode on this Mac".to_owned()
                }
            }),
            thermal_pressure: Fact::parsed(
                "notifyutil -g com.apple.system.thermalpressurelevel",
                &pressure,
                parse::thermal_pressure,
            ),
            recorders: Fact::parsed("ps", &running, recorders),
        }
    }
}

/// Returns the processes that record, of those listed in a text.
fn recorders(text: &str) -> Option<Vec<Process>> {
    let mut recorders = parse::processes(text)?;
    recorders.retain(|process| RECORDERS.contains(&process.name.as_str()));
    Some(recorders)
}

impl Disk {
    /// Gathers the facts about the folder of recordings, and about temporary folders: that of
    /// `TMPDIR`, if it is given, and the user's own. Which of them Instruments uses is unknown.
    #[must_use]
    pub fn gather(runner: &dyn CommandRunner, folder: &Path, tmpdir: Option<&Path>) -> Self {
        let folders = temporary_folders(runner, tmpdir);
        let disk = |folder: &Path| folder.metadata().map(|facts| facts.dev()).ok();
        let free_bytes = folders.iter().fold(free(folder), |least, temporary| {
            let other = free(temporary);
            if other.value < least.value {
                other
            } else {
                least
            }
        });
        Self {
            free_bytes,
            holds_temporary: (!folders.is_empty()).then(|| {
                let mut disks = folders.iter().map(|temporary| disk(temporary));
                disks.any(|of_temporary| of_temporary == disk(folder))
            }),
        }
    }
}

/// Returns the free space on the disk of a folder, in bytes.
fn free(folder: &Path) -> Fact<u64> {
    let free = metalens_files::free_bytes(folder);
    let why = free.as_ref().err().map(ToString::to_string);
    Fact::new("statvfs", free.ok(), || why.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::SystemCommands;

    #[test]
    fn the_space_of_a_folder_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let runner = SystemCommands::default();
        let disk = Disk::gather(&runner, folder.path(), Some(folder.path()));
        assert!(disk.free_bytes.value.unwrap() > 0 && disk.holds_temporary == Some(true));
        let absent = Disk::gather(&runner, &folder.path().join("absent"), None);
        assert!(absent.free_bytes.value.is_none());
        assert_eq!(
            absent.free_bytes.why_not.unwrap(),
            "No such file or directory"
        );
    }
}
