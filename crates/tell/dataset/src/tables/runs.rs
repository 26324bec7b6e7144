//! Defines `runs`: facts of the recording, and the figures of its report.

use std::path::Path;

use metalens_analyzer::{FIGURES, Report};

use super::field::{TableField, columns, fill, of_figure};
use crate::cells::MemoryTable;
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
    columns! { r:
        "input" TEXT "File name of the input." = file_name(&r.source.path);
        "kind" TEXT "bundle, export, xml." = source(r.source.kind);
        "reader" TEXT "native, xml." = reader(r.source.reader);
        "run_number" INTEGER "Number of the run, from 1." = r.run.number;
        "synthetic" FLAG "True if a simulator wrote the recording." = r.run.synthetic;
        "template" TEXT "Instruments template." = r.run.template.as_deref();
        "instruments_version" TEXT "Version of Instruments." = r.run.instruments_version.as_deref();
        "start" TEXT "Start of the recording, ISO 8601." = r.run.start.as_deref();
        "end_reason" TEXT "Reason why the recording ended." = r.run.end_reason.as_deref();
        "recording_mode" TEXT "`Deferred`, or `Windowed (…)`, which keeps only the end."
            = r.run.recording_mode.as_deref();
        "os" TEXT "System and version." = r.run.device.os.as_deref();
        "gpu" TEXT "GPU." = r.run.device.gpu.as_deref();
    }
}

fn about<'t>() -> Vec<TableField<&'t Report>> {
    columns! { r:
        "process" TEXT "Analyzed process, or all if there are several." = r.process.name.as_str();
        "process_pid" INTEGER "Process id; null if there are several." = r.process.pid.map(u64::from);
        "process_chosen_by" TEXT "launched, attached, recorded, requested, busiest."
            = chosen_by(r.process.chosen_by);
        "window_start_ns" NS "Start of the window." = r.window.start_ns;
        "window_end_ns" NS "End of the window." = r.window.end_ns;
    }
}

fn machine<'t>() -> Vec<TableField<&'t Report>> {
    columns! { r:
        "performance_state" TEXT "GPU performance state with the most time." = state(r);
        "performance_unknown_ns" NS "Time in the window with an unknown performance state."
            = r.machine.performance.as_ref().map(|found| found.unknown_ns);
        "thermal_worst" TEXT "Worst thermal state." = thermal(r);
        "bandwidth_gb_per_s" GB_PER_S "Memory bandwidth while the process was busy, by hardware counters."
            = bandwidth(r);
        "metalens_version" TEXT "Version of metalens." = env!("CARGO_PKG_VERSION");
    }
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
