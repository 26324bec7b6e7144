//! Asking a Mac for its facts, and where each comes from.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::ask::{Answer, Ask};
use crate::facts::{
    Condition, Disk, Fact, Facts, Gpu, GpuUser, LeftOver, Machine, Process, Rights, Xcode,
};
use crate::read;

/// For how long the GPU's users are watched.
const WATCHED: Duration = Duration::from_millis(500);

impl Facts {
    /// Asks for everything, all at once: it takes as long as the slowest answer.
    pub fn gather(ask: &dyn Ask, folder: &Path) -> Self {
        thread::scope(|scope| {
            let xcode = scope.spawn(|| Xcode::gather(ask));
            let gpu = scope.spawn(|| Gpu::gather(ask, WATCHED));
            let rights = scope.spawn(|| Rights::gather(ask));
            let condition = scope.spawn(|| Condition::gather(ask));
            Self {
                machine: Machine::gather(ask),
                disk: Disk::gather(folder),
                // A thread that panicked is asked for once more, here.
                xcode: xcode.join().unwrap_or_else(|_| Xcode::gather(ask)),
                gpu: gpu.join().unwrap_or_else(|_| Gpu::gather(ask, WATCHED)),
                rights: rights.join().unwrap_or_else(|_| Rights::gather(ask)),
                condition: condition.join().unwrap_or_else(|_| Condition::gather(ask)),
            }
        })
    }
}

const SYSCTL: &str = "/usr/sbin/sysctl";
const IOREG: &str = "/usr/sbin/ioreg";
const PMSET: &str = "/usr/bin/pmset";

impl Machine {
    /// Asks for it.
    pub fn gather(ask: &dyn Ask) -> Self {
        let names = [
            "machdep.cpu.brand_string",
            "hw.model",
            "hw.physicalcpu",
            "hw.perflevel0.physicalcpu",
            "hw.perflevel1.physicalcpu",
            "hw.memsize",
        ];
        // It answers what it knows, and complains of the rest.
        let hardware = ask.ask(SYSCTL, &names);
        let text = |name: &str| {
            let source = format!("sysctl {name}");
            Fact::read(&source, &hardware, |text| read::field(text, name))
        };
        let number = |name: &str| {
            let source = format!("sysctl {name}");
            Fact::of(
                &source,
                read::number(&hardware.text(), name),
                || match &hardware {
                    Answer::Silent(why) => why.clone(),
                    Answer::Said { .. } => "this Mac has no such number".to_owned(),
                },
            )
        };
        let version = ask.ask("/usr/bin/sw_vers", &[]);
        let gpu = ask.ask(IOREG, &["-r", "-d", "1", "-w", "0", "-c", "IOAccelerator"]);
        let of_system =
            |name: &str| Fact::read("sw_vers", &version, |text| read::field(text, name));
        Self {
            chip: text("machdep.cpu.brand_string"),
            model: text("hw.model"),
            cpu_cores: number("hw.physicalcpu"),
            performance_cores: number("hw.perflevel0.physicalcpu"),
            efficiency_cores: number("hw.perflevel1.physicalcpu"),
            gpu_cores: Fact::of(
                "ioreg -c IOAccelerator",
                read::registry_number(&gpu.text(), "gpu-core-count"),
                || "the driver names no number".to_owned(),
            ),
            memory_bytes: number("hw.memsize"),
            macos: of_system("ProductVersion"),
            macos_build: of_system("BuildVersion"),
        }
    }
}

impl Xcode {
    /// Asks for it.
    pub fn gather(ask: &dyn Ask) -> Self {
        let xcodebuild = |arguments: &[&str]| ask.ask("/usr/bin/xcodebuild", arguments);
        let folder = ask.ask("/usr/bin/xcode-select", &["-p"]);
        let version = xcodebuild(&["-version"]);
        let named = read::xcode(&version.text());
        let is_done = |what: &[&str]| {
            let source = format!("xcodebuild {}", what.join(" "));
            let answer = xcodebuild(what);
            let value = match answer.code() {
                Some(0) => Some(true),
                // EX_UNAVAILABLE. Other codes have other reasons: without an Xcode it is 1.
                Some(69) => Some(false),
                _ => None,
            };
            Fact::of(&source, value, || answer.gist())
        };
        let of = |value: Option<String>| Fact::of("xcodebuild -version", value, || version.gist());
        Self {
            folder: Fact::read("xcode-select -p", &folder, read::folder),
            licence_accepted: is_done(&["-license", "check"]),
            first_launch_done: is_done(&["-checkFirstLaunchStatus"]),
            version: of(named.as_ref().map(|named| named.0.clone())),
            build: of(named.as_ref().map(|named| named.1.clone())),
        }
    }
}

impl Rights {
    /// Asks for it.
    pub fn gather(ask: &dyn Ask) -> Self {
        let mode = ask.ask("/usr/sbin/DevToolsSecurity", &["-status"]);
        let groups = ask.ask("/usr/bin/id", &["-Gn"]);
        let status = ask.ask("/usr/bin/csrutil", &["status"]);
        let in_group = |text: &str| read::is_in_group(text, "_developer");
        Self {
            developer_mode: Fact::read("DevToolsSecurity -status", &mode, read::developer_mode),
            in_developer_group: Fact::read("id -Gn", &groups, in_group),
            protection: Fact::read("csrutil status", &status, read::protection),
        }
    }
}

/// Programs that may hold what a recording needs: one at a time can sample the
/// kernel's counters (kperf), or have its trace buffer (ktrace).
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
    /// Asks for it.
    pub fn gather(ask: &dyn Ask) -> Self {
        let battery = ask.ask(PMSET, &["-g", "batt"]);
        let settings = ask.ask(PMSET, &["-g"]);
        let limits = ask.ask(PMSET, &["-g", "therm"]);
        let key = "com.apple.system.thermalpressurelevel";
        let pressure = ask.ask("/usr/bin/notifyutil", &["-g", key]);
        let running = ask.ask("/bin/ps", &["-axo", "pid=,comm="]);
        let recorders = |text: &str| {
            let mut all = read::processes(text)?;
            all.retain(|one| RECORDERS.contains(&one.name.as_str()));
            Some(all)
        };
        let low_power = read::low_power_mode(&settings.text());
        let limit = read::speed_limit(&limits.text());
        Self {
            power: Fact::read("pmset -g batt", &battery, read::power),
            low_power_mode: Fact::of("pmset -g", low_power, || match &settings {
                Answer::Silent(why) => why.clone(),
                Answer::Said { .. } => "pmset lists no such mode on this Mac".to_owned(),
            }),
            thermal_pressure: Fact::read(
                "notifyutil -g com.apple.system.thermalpressurelevel",
                &pressure,
                read::thermal_pressure,
            ),
            cpu_speed_limit_percent: Fact::of("pmset -g therm", limit, || match &limits {
                Answer::Silent(why) => why.clone(),
                Answer::Said { .. } => {
                    "pmset names no limit: Apple silicon has none to name".to_owned()
                }
            }),
            recorders: Fact::read("ps", &running, recorders),
        }
    }
}

impl Gpu {
    /// Asks twice, and says who used it in between.
    pub fn gather(ask: &dyn Ask, watched: Duration) -> Self {
        let clients = || ask.ask(IOREG, &["-r", "-l", "-w", "0", "-c", "IOAccelerator"]);
        let before = clients();
        thread::sleep(watched);
        let after = clients();
        let source = "ioreg -c IOAccelerator, twice";
        let users = used_between(&before.text(), &after.text());
        Self {
            utilization_percent: Fact::of(
                "ioreg -c IOAccelerator",
                read::registry_number(&after.text(), "Device Utilization %"),
                || "the driver does not say".to_owned(),
            ),
            users: Fact::of(source, users, || match &after {
                Answer::Silent(why) => why.clone(),
                Answer::Said { .. } => "the driver does not count who uses it".to_owned(),
            }),
            performance_state: Fact::of("none", None, || {
                "macOS tells it only within a recording, where metalens analyze shows it".to_owned()
            }),
        }
    }
}

/// Those whose count rose, the most first. None if nobody's time is counted.
fn used_between(before: &str, after: &str) -> Option<Vec<GpuUser>> {
    let (before, after) = (read::gpu_clients(before)?, read::gpu_clients(after)?);
    if after.iter().all(|(_, time)| time.is_none()) {
        return None;
    }
    let rose = |(process, time): &(Process, Option<u64>)| {
        // One that was not there then has used it only since.
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
    /// Looks at the folder that recordings go to.
    #[must_use]
    pub fn gather(folder: &Path) -> Self {
        let space = rustix::fs::statvfs(folder);
        let why = space.as_ref().err().map(ToString::to_string);
        let free = space
            .ok()
            .map(|space| space.f_bavail.saturating_mul(space.f_frsize));
        Self {
            free_bytes: Fact::of("statvfs", free, || why.unwrap_or_default()),
            left_over: left_over(folder),
        }
    }
}

fn left_over(folder: &Path) -> Fact<Vec<LeftOver>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(cause) => return Fact::of("the folder", None, || cause.to_string()),
    };
    let staging = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_staging = name.starts_with(".metalens-") && name.ends_with(".recording");
        is_staging.then(|| LeftOver {
            bytes: metalens_files::folder_size(&entry.path()),
            name,
        })
    });
    let mut all: Vec<LeftOver> = staging.collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Fact::of("the folder", Some(all), String::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients(times: &[(u32, Option<u64>)]) -> String {
        let one = |&(pid, time): &(u32, Option<u64>)| {
            let usage = time.map_or(String::new(), |time| {
                format!("{{\"accumulatedGPUTime\"={time}}}")
            });
            format!(
                "+-o AGXDeviceUserClient\n {{\n \"IOUserClientCreator\" = \"pid {pid}, p{pid}\"\n \"AppUsage\" = ({usage})\n }}\n"
            )
        };
        times.iter().map(one).collect()
    }

    #[test]
    fn who_used_the_gpu() {
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
        // A count that begins anew is no use.
        check(&[(1, Some(50))], &[(1, Some(5))], Some(&[]));
        check(&[(1, None)], &[(1, None)], None);
        check(&[], &[], None);
    }

    #[test]
    fn what_is_left_of_recordings() {
        let folder = tempfile::tempdir().unwrap();
        let staging = folder.path().join(".metalens-a1.recording");
        std::fs::create_dir(&staging).unwrap();
        std::fs::write(staging.join("x"), [0; 10]).unwrap();
        std::fs::create_dir(folder.path().join("a.trace")).unwrap();
        let disk = Disk::gather(folder.path());
        let expected = LeftOver {
            name: ".metalens-a1.recording".to_owned(),
            bytes: 10,
        };
        assert_eq!(disk.left_over.value, Some(vec![expected]));
        assert!(disk.free_bytes.value.unwrap() > 0);
        let absent = Disk::gather(&folder.path().join("absent"));
        assert!(absent.free_bytes.value.is_none() && absent.left_over.value.is_none());
        assert_eq!(
            absent.free_bytes.why_not.unwrap(),
            "No such file or directory (os error 2)"
        );
    }
}
