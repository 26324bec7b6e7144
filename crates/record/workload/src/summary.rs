//! Formats the list of workloads, a plan, and the result of a run as text.

use std::fmt::{self, Display, Formatter};

use crate::output::{PHASE, SIMULATED};
use crate::plan::{Phase, WorkloadPlan};
use crate::run::WorkloadRun;
use crate::workloads::workloads;

/// The list of workloads with their descriptions.
pub(crate) struct WorkloadList;

impl Display for WorkloadList {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for workload in workloads() {
            writeln!(f, "{:<10} {}", workload.name(), workload.description())?;
        }
        Ok(())
    }
}

/// The text that describes a plan before it runs.
pub(crate) struct PlanSummary<'a> {
    pub(crate) plan: &'a WorkloadPlan,
    pub(crate) simulated: bool,
}

impl Display for PlanSummary<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let plan = self.plan;
        let name = plan.workload.name();
        if self.simulated {
            writeln!(f, "{SIMULATED}")?;
        }
        writeln!(f, "{name}: {}", plan.workload.description())?;

        let (total, measured) = (plan.total(), plan.measured());
        let unit = match plan.workload {
            crate::Workload::Matmul => "rows",
            _ => "elements",
        };
        writeln!(
            f,
            "{} steps after {} warm-up steps; {} {unit}; {} of memory; {}",
            plan.count,
            plan.warm_up,
            plan.size,
            bytes(plan.memory_bytes()),
            match plan.in_flight {
                1 => "a wait after each command buffer".to_owned(),
                max => format!("up to {max} command buffers in flight"),
            }
        )?;

        writeln!(f, "\n{:>22} {:>12} {:>12}", "", "measured", "whole run")?;
        for (name, measured, total) in [
            (
                "command buffers",
                measured.command_buffers,
                total.command_buffers,
            ),
            ("encoders", measured.encoders, total.encoders),
            ("dispatches", measured.dispatches, total.dispatches),
        ] {
            writeln!(f, "{name:>22} {measured:>12} {total:>12}")?;
        }
        for (name, measured, total) in [
            ("bytes", bytes(measured.bytes), bytes(total.bytes)),
            ("operations", flops(measured.flops), flops(total.flops)),
        ] {
            writeln!(f, "{name:>22} {measured:>12} {total:>12}")?;
        }

        self.labels(f)?;

        writeln!(
            f,
            "\ncommand buffers are labeled `{}` (warm-up) and `{}` (measured); the signpost interval \
            `{PHASE}` spans the measured ones",
            plan.command_buffer_label(Phase::WarmUp),
            plan.command_buffer_label(Phase::Measured),
        )
    }
}

impl PlanSummary<'_> {
    /// Writes the table of encoder labels.
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
        writeln!(f, "(dispatches, bytes and operations are per encoder)")
    }
}

/// The text that describes the result of a run.
pub(crate) struct RunSummary<'a> {
    pub(crate) run: &'a WorkloadRun,
}

impl Display for RunSummary<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { run } = self;
        let measured = run
            .buffers
            .iter()
            .filter(|buffer| buffer.phase == Phase::Measured);
        let gpu_ns = measured.fold(0_u64, |sum, buffer| {
            sum.saturating_add(buffer.end_ns.saturating_sub(buffer.start_ns))
        });

        writeln!(f, "\nran on {}", run.device)?;
        writeln!(
            f,
            "{:>22} {:>12}",
            "measured, wall time",
            milliseconds(run.measured_ns)
        )?;
        // Command buffers in flight overlap, so that the sum may exceed the wall time.
        writeln!(
            f,
            "{:>22} {:>12}",
            "sum of buffers on GPU",
            milliseconds(gpu_ns)
        )?;

        for checked in &run.checked {
            writeln!(
                f,
                "`{}` is correct: {} of {} elements compared with the CPU, largest difference {:.1e}",
                checked.array, checked.compared, checked.elements, checked.worst_difference
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

/// Formats bytes in the unit that leaves at most three digits before the point.
fn bytes(bytes: u64) -> String {
    scaled(bytes, ["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

fn flops(flops: Option<u64>) -> String {
    let units = ["op", "kop", "Mop", "Gop", "Top", "Pop", "Eop"];
    flops.map_or_else(|| "-".to_owned(), |flops| scaled(flops, units))
}

fn scaled(value: u64, units: [&str; 7]) -> String {
    let mut unit_size = 1_u128;
    for (index, unit) in units.iter().enumerate() {
        let tenths = (u128::from(value) * 10 + unit_size / 2) / unit_size;
        // A value that would round to 1000.0 is written in the next unit.
        if tenths < 10_000 {
            return match index {
                0 => format!("{value} {unit}"),
                _ => format!("{}.{} {unit}", tenths / 10, tenths % 10),
            };
        }
        unit_size *= 1_000;
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
