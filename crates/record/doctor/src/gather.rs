//! Gathers the facts of a Mac, each with its source.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::command::{CommandOutput, CommandRunner};
use crate::facts::{
    Condition, Console, Disk, Fact, Facts, Gpu, GpuUser, MacFacts, Process, Rights,
    TemporaryFolder, UnfinishedRecording, Xcode,
};
use crate::parse;
use crate::scratch::{scratch_files, temporary_folders};

/// Time during which the users of the GPU are watched.
const WATCHED: Duration = Duration::from_millis(500);

impl Facts {
    /// Gathers all facts at the same time: this takes as long as the slowest command.
    pub fn gather(runner: &dyn CommandRunner, folder: &Path, temporary: Option<&Path>) -> Self {
        thread::scope(|scope| {
            let xcode = scope.spawn(|| Xcode::gather(runner));
            let gpu = scope.spawn(|| Gpu::gather(runner, WATCHED));
            let rights = scope.spawn(|| Rights::gather(runner));
            let condition = scope.spawn(|| Condition::gather(runner));
            Self {
                console: Console::gather(runner),
                machine: MacFacts::gather(runner),
                disk: Disk::gather(runner, folder, temporary),
                // If a thread panicked, its facts are gathered again here.
                xcode: xcode.join().unwrap_or_else(|_| Xcode::gather(runner)),
                gpu: gpu.join().unwrap_or_else(|_| Gpu::gather(runner, WATCHED)),
                rights: rights.join().unwrap_or_else(|_| Rights::gather(runner)),
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
            "hw.physicalcpu",
            "hw.perflevel0.physicalcpu",
            "hw.perflevel1.physicalcpu",
            "hw.memsize",
            "kern.hv_vmm_present",
            "sysctl.proc_translated",
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
            cpu_cores: number("hw.physicalcpu"),
            performance_cores: number("hw.perflevel0.physicalcpu"),
            efficiency_cores: number("hw.perflevel1.physicalcpu"),
            gpu_cores: Fact::new(
                "ioreg -c IOAccelerator",
                parse::registry_number(&gpu.text(), "gpu-core-count"),
                || "the driver does not report it".to_owned(),
            ),
            memory_bytes: number("hw.memsize"),
            is_virtual: is_one("kern.hv_vmm_present"),
            is_translated: is_one("sysctl.proc_translated"),
            macos: of_system("ProductVersion"),
            macos_build: of_system("BuildVersion"),
        }
    }
}

impl Console {
    /// Gathers the facts about the screen.
    pub fn gather(runner: &dyn CommandRunner) -> Self {
        let root = runner.run(IOREG, &["-n", "Root", "-d", "1", "-w", "0"]);
        let console = parse::console(&root.text());
        let fact = |value: Option<bool>| {
            Fact::new("ioreg -n Root", value, || match &root {
                CommandOutput::Failed(why) => why.clone(),
                CommandOutput::Exited { .. } => "ioreg names no users of the screen".to_owned(),
            })
        };
        Self {
            is_used: fact(console.map(|(is_used, _)| is_used)),
            is_locked: fact(console.map(|(_, is_locked)| is_locked)),
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

impl Rights {
    /// Gathers the facts about the rights of the user.
    pub fn gather(runner: &dyn CommandRunner) -> Self {
        let groups = runner.run("/usr/bin/id", &["-Gn"]);
        let status = runner.run("/usr/bin/csrutil", &["status"]);
        let in_group = |text: &str| parse::is_in_group(text, "_developer");
        Self {
            developer_mode: Self::developer_mode(runner),
            in_developer_group: Fact::parsed("id -Gn", &groups, in_group),
            protection: Fact::parsed("csrutil status", &status, parse::protection),
        }
    }

    /// Asks whether developer mode is on.
    pub fn developer_mode(runner: &dyn CommandRunner) -> Fact<bool> {
        let mode = runner.run("/usr/sbin/DevToolsSecurity", &["-status"]);
        Fact::parsed("DevToolsSecurity -status", &mode, parse::developer_mode)
    }
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
        let limits = runner.run(PMSET, &["-g", "therm"]);
        let key = "com.apple.system.thermalpressurelevel";
        let pressure = runner.run("/usr/bin/notifyutil", &["-g", key]);
        let running = runner.run("/bin/ps", &["-axo", "pid=,comm="]);

        let low_power = parse::low_power_mode(&settings.text());
        let no_low_power = || match &settings {
            CommandOutput::Failed(why) => why.clone(),
            CommandOutput::Exited { .. } => "pmset lists no low power mode on this Mac".to_owned(),
        };
        let limit = parse::speed_limit(&limits.text());
        Self {
            power: Fact::parsed("pmset -g batt", &battery, parse::power),
            low_power_mode: Fact::new("pmset -g", low_power.map(|(_, is_on)| is_on), no_low_power),
            low_power_setting: Fact::new(
                "pmset -g",
                low_power.map(|(setting, _)| setting.to_owned()),
                no_low_power,
            ),
            thermal_pressure: Fact::parsed(
                "notifyutil -g com.apple.system.thermalpressurelevel",
                &pressure,
                parse::thermal_pressure,
            ),
            cpu_speed_limit_percent: Fact::new("pmset -g therm", limit, || match &limits {
                CommandOutput::Failed(why) => why.clone(),
                CommandOutput::Exited { .. } => {
                    "pmset reports no limit, which is normal on Apple silicon".to_owned()
                }
            }),
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

impl Gpu {
    /// Gathers the facts about the GPU: compares the GPU times at two moments.
    pub fn gather(runner: &dyn CommandRunner, watched: Duration) -> Self {
        let clients = || runner.run(IOREG, &["-r", "-l", "-w", "0", "-c", "IOAccelerator"]);
        let before = clients();
        thread::sleep(watched);
        let after = clients();
        let source = "ioreg -c IOAccelerator, twice";
        let users = used_between(&before.text(), &after.text());
        Self {
            utilization_percent: Fact::new(
                "ioreg -c IOAccelerator",
                parse::registry_number(&after.text(), "Device Utilization %"),
                || "the driver does not report it".to_owned(),
            ),
            users: Fact::new(source, users, || match &after {
                CommandOutput::Failed(why) => why.clone(),
                CommandOutput::Exited { .. } => {
                    "the driver does not count GPU time by process".to_owned()
                }
            }),
            performance_state: Fact::new("none", None, || {
                "macOS reports it only in a recording, where `metalens analyze` shows it".to_owned()
            }),
        }
    }
}

/// Returns the processes whose GPU time rose, the largest first. None if the driver counts no
/// times.
fn used_between(before: &str, after: &str) -> Option<Vec<GpuUser>> {
    let (before, after) = (parse::gpu_clients(before)?, parse::gpu_clients(after)?);
    if after.iter().all(|(_, time)| time.is_none()) {
        return None;
    }
    let rose = |(process, time): &(Process, Option<u64>)| {
        // A process that is new has used the GPU only since then.
        let earlier = before.iter().find(|(known, _)| known.pid == process.pid);
        let earlier = earlier.and_then(|(_, time)| *time).unwrap_or(0);
        let gpu_time_ns = time.as_ref()?.checked_sub(earlier)?;
        let process = process.clone();
        (gpu_time_ns > 0).then_some(GpuUser {
            process,
            gpu_time_ns,
        })
    };
    let mut users: Vec<GpuUser> = after.iter().filter_map(rose).collect();
    users.sort_by_key(|user| (std::cmp::Reverse(user.gpu_time_ns), user.process.pid));
    Some(users)
}

impl Disk {
    /// Gathers the facts about the folder of recordings, and about temporary folders: that of
    /// `TMPDIR`, if it is given, and the user's own.
    #[must_use]
    pub fn gather(runner: &dyn CommandRunner, folder: &Path, tmpdir: Option<&Path>) -> Self {
        let folders = temporary_folders(runner, tmpdir);
        let disk = |folder: &Path| folder.metadata().map(|facts| facts.dev()).ok();
        let temporary = folders.iter().map(|temporary| TemporaryFolder {
            free_bytes: free(temporary),
            shares_disk: disk(temporary) == disk(folder),
        });
        Self {
            free_bytes: free(folder),
            left_over: left_over(folder),
            temporary: temporary.collect(),
            scratch: scratch_files(&folders),
        }
    }
}

/// Returns the free space on the disk of a folder, in bytes.
fn free(folder: &Path) -> Fact<u64> {
    let space = rustix::fs::statvfs(folder);
    let why = space.as_ref().err().map(ToString::to_string);
    let free = space
        .ok()
        .map(|space| space.f_bavail.saturating_mul(space.f_frsize));
    Fact::new("statvfs", free, || why.unwrap_or_default())
}

/// Finds the staging folders of unfinished recordings.
fn left_over(folder: &Path) -> Fact<Vec<UnfinishedRecording>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(cause) => return Fact::new("the folder", None, || cause.to_string()),
    };
    let staging = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_staging = name.starts_with(".metalens-") && name.ends_with(".recording");
        is_staging.then(|| UnfinishedRecording {
            bytes: metalens_files::path_size(&entry.path()),
            name,
        })
    });
    let mut recordings: Vec<UnfinishedRecording> = staging.collect();
    recordings.sort_by(|a, b| a.name.cmp(&b.name));
    Fact::new("the folder", Some(recordings), String::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::SystemCommands;

    fn clients(times: &[(u32, Option<u64>)]) -> String {
        let client = |&(pid, time): &(u32, Option<u64>)| {
            let usage = time.map_or(String::new(), |time| {
                format!("{{\"accumulatedGPUTime\"={time}}}")
            });
            format!(
                "+-o AGXDeviceUserClient\n {{\n \"IOUserClientCreator\" = \"pid {pid}, p{pid}\"\n \"AppUsage\" = ({usage})\n }}\n"
            )
        };
        times.iter().map(client).collect()
    }

    #[test]
    fn users_of_the_gpu_are_those_whose_time_rose() {
        let check = |before: &[(u32, Option<u64>)],
                     after: &[(u32, Option<u64>)],
                     expected: Option<&[(u32, u64)]>| {
            let found = used_between(&clients(before), &clients(after));
            let found: Option<Vec<(u32, u64)>> = found.map(|users| {
                users
                    .iter()
                    .map(|user| (user.process.pid, user.gpu_time_ns))
                    .collect()
            });
            assert_eq!(found.as_deref(), expected);
        };

        // 1 is idle, 2 and 3 used it, 4 came in between, 5 never used it, 6 left.
        check(
            &[
                (1, Some(5)),
                (2, Some(10)),
                (3, Some(7)),
                (5, None),
                (6, Some(100)),
            ],
            &[
                (1, Some(5)),
                (2, Some(30)),
                (3, Some(90)),
                (4, Some(3)),
                (5, None),
            ],
            Some(&[(3, 83), (2, 20), (4, 3)]),
        );
        check(&[(1, Some(5))], &[(1, Some(5))], Some(&[]));

        // A count that starts again is ignored.
        check(&[(1, Some(50))], &[(1, Some(5))], Some(&[]));
        check(&[(1, None)], &[(1, None)], None);
        check(&[], &[], None);
    }

    #[test]
    fn unfinished_recordings_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let staging = folder.path().join(".metalens-a1.recording");
        std::fs::create_dir(&staging).unwrap();
        std::fs::write(staging.join("x"), [0; 10]).unwrap();
        std::fs::create_dir(folder.path().join("a.trace")).unwrap();
        let runner = SystemCommands::default();
        let disk = Disk::gather(&runner, folder.path(), None);
        let expected = UnfinishedRecording {
            name: ".metalens-a1.recording".to_owned(),
            bytes: 10,
        };
        assert_eq!(disk.left_over.value, Some(vec![expected]));
        assert!(disk.free_bytes.value.unwrap() > 0);
        let absent = Disk::gather(&runner, &folder.path().join("absent"), None);
        assert!(absent.free_bytes.value.is_none() && absent.left_over.value.is_none());
        assert_eq!(
            absent.free_bytes.why_not.unwrap(),
            "there is no such file or folder"
        );
    }
}
