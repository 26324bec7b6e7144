//! How the Mac is just now: whatever slows it down, or records already.

use crate::check::{Check, Verdict};
use crate::facts::{Condition, Gpu, GpuUser, Power, Process, ThermalPressure};

/// Open, it holds nothing; only while it records.
const HARMLESS: [&str; 2] = ["Instruments", "DTServiceHub"];

pub(super) fn recorders(condition: &Condition) -> Check {
    let id = "recorders";
    let Some(all) = &condition.recorders.value else {
        return Check::unknown(id, condition.recorders.why_not.as_ref());
    };
    let is_harmless = |one: &&Process| HARMLESS.contains(&one.name.as_str());
    let (open, others): (Vec<&Process>, Vec<&Process>) = all.iter().partition(is_harmless);
    let named = |all: &[&Process]| {
        let all = all.iter().map(|one| format!("{} ({})", one.name, one.pid));
        all.collect::<Vec<_>>().join(", ")
    };
    match (others.as_slice(), open.as_slice()) {
        ([], []) => Check::ok(id, "nobody else records"),
        ([], open) => Check::ok(
            id,
            format!("{} is open: it must not record meanwhile", named(open)),
        ),
        (others, _) => Check::warning(
            id,
            format!(
                "{} runs: two at a time cannot sample the kernel (kperf)",
                named(others)
            ),
        )
        .remedy("let it end, or end it, if it is yours", &[]),
    }
}

pub(super) fn power(condition: &Condition) -> Check {
    let id = "power";
    let from = match condition.power.value {
        Some(Power::Mains) => "on mains",
        Some(Power::Battery) => "on battery",
        Some(Power::Ups) => "on the battery of a UPS",
        None => "the source of power cannot be told",
    };
    match condition.low_power_mode.value {
        Some(true) => Check::warning(id, format!("{from}, in low power mode: the GPU is slower"))
            .remedy(
                "switch it off before you measure (System Settings, or this)",
                &["sudo pmset -a lowpowermode 0"],
            ),
        Some(false) => Check::ok(id, format!("{from}, low power mode is off")),
        None => Check::new(
            id,
            match condition.power.value {
                Some(Power::Mains) => Verdict::Ok,
                _ => Verdict::Unknown,
            },
            format!("{from}; whether low power mode is on cannot be told"),
        ),
    }
}

pub(super) fn thermal(condition: &Condition) -> Check {
    let id = "thermal";
    let wait = "let it cool down before you measure";
    if let Some(limit @ 0..100) = condition.cpu_speed_limit_percent.value {
        let found = format!("it is hot: the CPU is limited to {limit} %");
        return Check::warning(id, found).remedy(wait, &[]);
    }
    let how = match condition.thermal_pressure.value {
        Some(ThermalPressure::Nominal) => return Check::ok(id, "no thermal pressure"),
        Some(ThermalPressure::Moderate) => "moderate",
        Some(ThermalPressure::Heavy) => "heavy",
        Some(ThermalPressure::Trapping | ThermalPressure::Sleeping) => "extreme",
        None => return Check::unknown(id, condition.thermal_pressure.why_not.as_ref()),
    };
    let found = format!("it is hot: thermal pressure is {how}, and the GPU may be slower");
    Check::warning(id, found).remedy(wait, &[])
}

/// Within half a second. What puts the screen together always takes a little.
const NOTEWORTHY_NS: u64 = 25_000_000;

pub(super) fn gpu_users(gpu: &Gpu) -> Check {
    let id = "gpu-users";
    let Some(users) = &gpu.users.value else {
        return Check::unknown(id, gpu.users.why_not.as_ref());
    };
    let total: u64 = users.iter().map(|user| user.gpu_time_ns).sum();
    let named = |user: &GpuUser| {
        let (process, micros) = (&user.process, user.gpu_time_ns / 1_000);
        format!(
            "{} ({}) {}.{} ms",
            process.name,
            process.pid,
            micros / 1_000,
            micros % 1_000 / 100
        )
    };
    let most: Vec<String> = users.iter().take(3).map(named).collect();
    match (most.as_slice(), total) {
        ([], _) => Check::ok(id, "nobody used the GPU within half a second"),
        (most, ..NOTEWORTHY_NS) => {
            Check::ok(id, format!("within half a second: {}", most.join(", ")))
        }
        (most, _) => Check::warning(
            id,
            format!(
                "others use the GPU; within half a second: {}",
                most.join(", ")
            ),
        )
        .remedy(
            "close what you do not need: their work delays yours (the report tells them apart)",
            &[],
        ),
    }
}

pub(super) fn performance_state(gpu: &Gpu) -> Check {
    Check::unknown("performance-state", gpu.performance_state.why_not.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Fact;

    fn used(times_ns: &[u64]) -> Check {
        let users = (1_u32..).zip(times_ns).map(|(pid, &gpu_time_ns)| GpuUser {
            process: Process {
                pid,
                name: format!("p{pid}"),
            },
            gpu_time_ns,
        });
        gpu_users(&Gpu {
            utilization_percent: Fact::of("", None, String::new),
            users: Fact::of("", Some(users.collect()), String::new),
            performance_state: Fact::of("", None, String::new),
        })
    }

    #[test]
    fn who_is_on_the_gpu() {
        let check = |times: &[u64], verdict: Verdict, expected: &str| {
            let checked = used(times);
            assert_eq!(
                (checked.verdict, checked.found.as_str()),
                (verdict, expected)
            );
        };
        check(&[], Verdict::Ok, "nobody used the GPU within half a second");
        check(
            &[4_150_000],
            Verdict::Ok,
            "within half a second: p1 (1) 4.1 ms",
        );
        // A twentieth of the time; the three that took most are named.
        check(
            &[20_000_000, 3_000_000, 1_990_000, 10_000],
            Verdict::Warning,
            "others use the GPU; within half a second: p1 (1) 20.0 ms, p2 (2) 3.0 ms, p3 (3) 1.9 ms",
        );
    }
}
