//! Defines `runs`: facts of the recording, and the figures of its report.

use std::path::Path;

use metalens_analyzer::{FIGURES, Report};

use super::field::{TableField, field, fill, ns, of_figure, text};
use crate::cells::{CellKind, MemoryTable};
use crate::error::Result;
use crate::report_names::{chosen_by, reader, source};

pub(crate) fn table(report: &Report) -> Result<MemoryTable> {
    fill(&fields(), [report])
}

pub(crate) fn fields<'t>() -> Vec<TableField<&'t Report>> {
    let mut fields = recording();
    fields.extend(about());
    let figures = FIGURES.iter().filter(|figure| !figure.column.is_empty());
    fields
        .extend(figures.map(|figure| of_figure(figure, |figure, r: &&Report| figure.recorded(r))));
    fields.extend(machine());
    fields
}

fn recording<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        text("input", "File name of the input.", |r| {
            file_name(&r.source.path).into()
        }),
        text("kind", "bundle, export, xml.", |r| {
            source(r.source.kind).into()
        }),
        text("reader", "native, xml.", |r| reader(r.source.reader).into()),
        field(
            "run_number",
            CellKind::Integer,
            "",
            "Number of the run, from 1.",
            |r| r.run.number.into(),
        ),
        field(
            "synthetic",
            CellKind::Flag,
            "",
            "True if a simulator wrote the recording.",
            |r| r.run.synthetic.into(),
        ),
        text("template", "Instruments template.", |r| {
            r.run.template.as_deref().into()
        }),
        text("instruments_version", "Version of Instruments.", |r| {
            r.run.instruments_version.as_deref().into()
        }),
        text("start", "Start of the recording, ISO 8601.", |r| {
            r.run.start.as_deref().into()
        }),
        text("end_reason", "Reason why the recording ended.", |r| {
            r.run.end_reason.as_deref().into()
        }),
        text(
            "recording_mode",
            "`Deferred`, or `Windowed (…)`, which keeps only the end.",
            |r| r.run.recording_mode.as_deref().into(),
        ),
        text("os", "System and version.", |r| {
            r.run.device.os.as_deref().into()
        }),
        text("gpu", "GPU.", |r| r.run.device.gpu.as_deref().into()),
    ]
}

fn about<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        text(
            "process",
            "Analyzed process, or all if there are several.",
            |r| r.process.name.as_str().into(),
        ),
        field(
            "process_pid",
            CellKind::Integer,
            "",
            "Process id; null if there are several.",
            |r| r.process.pid.map(u64::from).into(),
        ),
        text(
            "process_chosen_by",
            "launched, attached, recorded, requested, busiest.",
            |r| chosen_by(r.process.chosen_by).into(),
        ),
        ns("window_start_ns", "Start of the window.", |r| {
            r.window.start_ns.into()
        }),
        ns("window_end_ns", "End of the window.", |r| {
            r.window.end_ns.into()
        }),
    ]
}

fn machine<'t>() -> Vec<TableField<&'t Report>> {
    vec![
        text(
            "performance_state",
            "GPU performance state with the most time.",
            |r| state(r).into(),
        ),
        ns(
            "performance_unknown_ns",
            "Time in the window with an unknown performance state.",
            |r| {
                r.machine
                    .performance
                    .as_ref()
                    .map(|found| found.unknown_ns)
                    .into()
            },
        ),
        text("thermal_worst", "Worst thermal state.", |r| {
            thermal(r).into()
        }),
        field(
            "bandwidth_gb_per_s",
            CellKind::Number,
            "GB/s",
            "Memory bandwidth while the process was busy, by hardware counters.",
            |r| bandwidth(r).into(),
        ),
        text("metalens_version", "Version of metalens.", |_| {
            env!("CARGO_PKG_VERSION").into()
        }),
    ]
}

/// Returns the file name of the input. Its folder may be private.
fn file_name(path: &str) -> &str {
    let name = Path::new(path).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(path)
}

fn state(report: &Report) -> Option<&str> {
    let longest = report.machine.performance.as_ref()?.states.first()?;
    Some(&longest.state)
}

fn bandwidth(report: &Report) -> Option<f64> {
    let counted = report.counters.as_ref()?.bandwidth?;
    Some(counted.gb_per_s)
}

fn thermal(report: &Report) -> Option<&str> {
    report.machine.thermal.as_ref()?.worst.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_name_is_kept() {
        for (path, expected) in [("/Users/me/a.trace", "a.trace"), ("a/b/", "b"), ("-", "-")] {
            assert_eq!(file_name(path), expected);
        }
    }
}
