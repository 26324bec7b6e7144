//! Checks the current condition of the Mac: what slows it down, and what records already.

use crate::check::{Check, CheckVerdict};
use crate::facts::{Condition, Gpu, GpuUser, Power, Process, ThermalPressure};

/// Programs that disturb a recording only while they record, not while they are open.
const HARMLESS: [&str; 2] = ["Instruments", "DTServiceHub"];

/// Checks that no other recorder runs, since only one at a time can sample the kernel (kperf).
pub(super) fn recorders(condition: &Condition) -> Check {
    let id = "recorders";
    let Some(recorders) = &condition.recorders.value else {
        return Check::unknown(id, condition.recorders.why_not.as_ref());
    };
    let (open, recording): (Vec<&Process>, Vec<&Process>) = recorders
        .iter()
        .partition(|process| HARMLESS.contains(&process.name.as_str()));

    match (recording.as_slice(), open.as_slice()) {
        ([], []) => Check::ok(id, "no other recorder runs"),
        ([], open) => Check::ok(
            id,
            format!(
                "{} is open: do not record with it at the same time",
                names(open)
            ),
        ),
        (recording, _) => Check::warning(
            id,
            format!(
                "another recorder runs: {}; only one at a time can sample the kernel (kperf)",
                names(recording)
            ),
        )
        .remedy("wait until it ends, or quit it", &[]),
    }
}

fn names(processes: &[&Process]) -> String {
    let names: Vec<String> = processes
        .iter()
        .map(|process| format!("{} ({})", process.name, process.pid))
        .collect();
    names.join(", ")
}

/// Checks the power source, since low power mode makes the GPU slower.
pub(super) fn power(condition: &Condition) -> Check {
    let id = "power";
    let source = match condition.power.value {
        Some(Power::Mains) => "on AC power",
        Some(Power::Battery) => "on battery",
        Some(Power::Ups) => "on the battery of a UPS",
        None => "unknown power source",
    };

    match condition.low_power_mode.value {
        Some(true) => Check::warning(
            id,
            format!("{source}, in low power mode: the GPU is slower"),
        )
        .remedy(
            "turn low power mode off before you measure (in System Settings, or with this command)",
            &[&format!(
                "sudo pmset -a {} 0",
                condition
                    .low_power_setting
                    .value
                    .as_deref()
                    .unwrap_or("lowpowermode")
            )],
        ),
        Some(false) => Check::ok(id, format!("{source}, low power mode is off")),
        None => Check::new(
            id,
            match condition.power.value {
                Some(Power::Mains) => CheckVerdict::Ok,
                _ => CheckVerdict::Unknown,
            },
            format!("{source}; low power mode is unknown"),
        ),
    }
}

/// Checks that heat does not slow the machine down.
pub(super) fn thermal(condition: &Condition) -> Check {
    let id = "thermal";
    let wait = "let the Mac cool down before you measure";
    if let Some(limit @ 0..100) = condition.cpu_speed_limit_percent.value {
        let found = format!("the Mac is hot: the CPU is limited to {limit} %");
        return Check::warning(id, found).remedy(wait, &[]);
    }
    let level = match condition.thermal_pressure.value {
        Some(ThermalPressure::Nominal) => return Check::ok(id, "no thermal pressure"),
        Some(ThermalPressure::Moderate) => "moderate",
        Some(ThermalPressure::Heavy) => "heavy",
        Some(ThermalPressure::Trapping | ThermalPressure::Sleeping) => "extreme",
        None => return Check::unknown(id, condition.thermal_pressure.why_not.as_ref()),
    };
    let found = format!("the Mac is hot: thermal pressure is {level}, and the GPU may be slower");
    Check::warning(id, found).remedy(wait, &[])
}

/// GPU time of all processes within half a second from which a warning is given. The window
/// server always takes a little.
const NOTEWORTHY_NS: u64 = 25_000_000;

/// Checks that no other process uses much of the GPU.
pub(super) fn gpu_users(gpu: &Gpu) -> Check {
    let id = "gpu-users";
    let Some(users) = &gpu.users.value else {
        return Check::unknown(id, gpu.users.why_not.as_ref());
    };

    let total: u64 = users.iter().map(|user| user.gpu_time_ns).sum();
    let largest: Vec<String> = users.iter().take(3).map(gpu_time).collect();
    match (largest.as_slice(), total) {
        ([], _) => Check::ok(id, "no process used the GPU within half a second"),
        (largest, ..NOTEWORTHY_NS) => Check::ok(
            id,
            format!("GPU time within half a second: {}", largest.join(", ")),
        ),
        (largest, _) => Check::warning(
            id,
            format!(
                "other processes use the GPU; GPU time within half a second: {}",
                largest.join(", ")
            ),
        )
        .remedy(
            "quit programs that you do not need: they delay yours (the report shows this as \
             contention)",
            &[],
        ),
    }
}

/// Returns a user of the GPU with its GPU time, such as `bench (7) 4.1 ms`.
fn gpu_time(user: &GpuUser) -> String {
    let (process, micros) = (&user.process, user.gpu_time_ns / 1_000);
    format!(
        "{} ({}) {}.{} ms",
        process.name,
        process.pid,
        micros / 1_000,
        micros % 1_000 / 100
    )
}

pub(super) fn performance_state(gpu: &Gpu) -> Check {
    Check::unknown("performance-state", gpu.performance_state.why_not.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Fact;

    fn used(times_ns: &[u64], hides_names: bool) -> Check {
        let users = (1_u32..).zip(times_ns).map(|(pid, &gpu_time_ns)| GpuUser {
            process: Process {
                pid,
                name: format!("p{pid}"),
            },
            gpu_time_ns,
        });
        let mut gpu = Gpu {
            utilization_percent: Fact::new("", None, String::new),
            users: Fact::new("", Some(users.collect()), String::new),
            performance_state: Fact::new("", None, String::new),
        };
        if hides_names {
            gpu.hide_names();
        }
        gpu_users(&gpu)
    }

    #[test]
    fn users_of_the_gpu_are_named() {
        let check = |times: &[u64], verdict: CheckVerdict, expected: &str| {
            let checked = used(times, false);
            assert_eq!(
                (checked.verdict, checked.found.as_str()),
                (verdict, expected)
            );
        };

        check(
            &[],
            CheckVerdict::Ok,
            "no process used the GPU within half a second",
        );
        check(
            &[4_150_000],
            CheckVerdict::Ok,
            "GPU time within half a second: p1 (1) 4.1 ms",
        );

        // A twentieth of the time is the limit; the three largest users are named.
        check(
            &[20_000_000, 3_000_000, 1_990_000, 10_000],
            CheckVerdict::Warning,
            "other processes use the GPU; GPU time within half a second: p1 (1) 20.0 ms, p2 (2) 3.0 ms, p3 (3) 1.9 ms",
        );
        assert_eq!(
            used(&[4_150_000], true).found,
            "GPU time within half a second: other process 1 (1) 4.1 ms"
        );
    }
}
