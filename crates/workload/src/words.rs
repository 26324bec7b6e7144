//! Plans and runs in words.

use std::fmt::{self, Display, Formatter};

use crate::output::{PHASE, SIMULATED};
use crate::plan::{Phase, Plan};
use crate::recipes::workloads;
use crate::run::Run;

/// Every workload with what it shows.
pub(crate) struct List;

impl Display for List {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for workload in workloads() {
            writeln!(f, "{:<10} {}", workload.name(), workload.about())?;
        }
        Ok(())
    }
}

/// What a plan will do.
pub(crate) struct Planned<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) simulated: bool,
}

impl Display for Planned<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let plan = self.plan;
        let name = plan.workload.name();
        if self.simulated {
            writeln!(f, "{SIMULATED}")?;
        }
        writeln!(f, "{name}: {}", plan.workload.about())?;
        let (whole, measured) = (plan.whole(), plan.measured());
        let unit = match plan.workload {
            crate::Workload::Matmul => "rows",
            _ => "elements",
        };
        writeln!(
            f,
            "{} steps after {} of warm-up; {} {unit}; {} of memory; {}",
            plan.count,
            plan.warm_up,
            plan.size,
            bytes(plan.memory_bytes()),
            match plan.in_flight {
                1 => "each command buffer waited for".to_owned(),
                most => format!("up to {most} command buffers in flight"),
            }
        )?;
        writeln!(f, "\n{:>22} {:>12} {:>12}", "", "measured", "whole run")?;
        for (what, measured, whole) in [
            (
                "command buffers",
                measured.command_buffers,
                whole.command_buffers,
            ),
            ("encoders", measured.encoders, whole.encoders),
            ("dispatches", measured.dispatches, whole.dispatches),
        ] {
            writeln!(f, "{what:>22} {measured:>12} {whole:>12}")?;
        }
        let row = |f: &mut Formatter<'_>, what: &str, measured: &str, whole: &str| {
            writeln!(f, "{what:>22} {measured:>12} {whole:>12}")
        };
        row(f, "bytes", &bytes(measured.bytes), &bytes(whole.bytes))?;
        row(f, "operations", &flops(measured.flops), &flops(whole.flops))?;
        self.labels(f)?;
        writeln!(
            f,
            "\ncommand buffers are labelled `{}` and `{}`; the signpost interval `{PHASE}` is \
             around the latter",
            plan.command_buffer_label(Phase::WarmUp),
            plan.command_buffer_label(Phase::Measured),
        )
    }
}

impl Planned<'_> {
    fn labels(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "\n{:<20} {:>9} {:>12} {:>12} {:>12}",
            "encoder label", "per step", "dispatches", "bytes", "operations"
        )?;
        for label in self.plan.labels() {
            writeln!(
                f,
                "{:<20} {:>9} {:>12} {:>12} {:>12}",
                label.label,
                label.encoders_per_step,
                label.dispatches_per_encoder,
                bytes(label.per_encoder.bytes),
                flops(label.per_encoder.flops),
            )?;
        }
        writeln!(f, "(dispatches, bytes and operations: of one encoder)")
    }
}

/// What came of a run.
pub(crate) struct Outcome<'a> {
    pub(crate) run: &'a Run,
}

impl Display for Outcome<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { run } = self;
        let measured = run
            .buffers
            .iter()
            .filter(|one| one.phase == Phase::Measured);
        let gpu_ns = measured.fold(0_u64, |sum, one| {
            sum.saturating_add(one.end_ns.saturating_sub(one.start_ns))
        });
        writeln!(f, "\nran on {}", run.device)?;
        writeln!(
            f,
            "{:>22} {:>12}",
            "measured, wall",
            milliseconds(run.measured_ns)
        )?;
        // Command buffers in flight may overlap, so it may exceed the wall.
        writeln!(
            f,
            "{:>22} {:>12}",
            "sum of buffers on GPU",
            milliseconds(gpu_ns)
        )?;
        for one in &run.checked {
            writeln!(
                f,
                "`{}` is right: {} of {} elements compared with the CPU, at most {:.1e} off",
                one.array, one.compared, one.elements, one.worst_difference
            )?;
        }
        for note in &run.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

fn milliseconds(ns: u64) -> String {
    format!("{}.{:03} ms", ns / 1_000_000, ns / 1_000 % 1_000)
}

/// In the smallest unit that leaves three digits before the point.
fn bytes(bytes: u64) -> String {
    scaled(bytes, ["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

fn flops(flops: Option<u64>) -> String {
    let words = ["op", "kop", "Mop", "Gop", "Top", "Pop", "Eop"];
    flops.map_or_else(|| "-".to_owned(), |flops| scaled(flops, words))
}

fn scaled(value: u64, units: [&str; 7]) -> String {
    let mut below = 1_u128;
    for (at, unit) in units.iter().enumerate() {
        let tenths = (u128::from(value) * 10 + below / 2) / below;
        // What would be written as 1000.0 is one of the next.
        if tenths < 10_000 {
            return match at {
                0 => format!("{value} {unit}"),
                _ => format!("{}.{} {unit}", tenths / 10, tenths % 10),
            };
        }
        below *= 1_000;
    }
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_in_fitting_units() {
        for (value, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (8_388_608, "8.4 MB"),
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(value), expected);
        }
        assert_eq!(flops(None), "-");
        assert_eq!(flops(Some(2_147_483_648)), "2.1 Gop");
    }
}
