//! Implements the command that runs a workload. Writes only to the writer it is given.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::output::{SIMULATED, WorkFile};
use crate::plan::WorkloadPlan;
use crate::workloads::{Workload, workloads};

/// Arguments that run a workload.
#[derive(Debug, Clone, clap::Args)]
pub struct Arguments {
    /// Name of the workload
    #[arg(value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(names()))]
    pub name: String,
    /// Number of measured steps
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Write the amount of work of each label, for `metalens analyze --work`
    #[arg(long, short, value_name = "WORK.JSON")]
    pub output: Option<PathBuf>,
    /// Replace an existing WORK.JSON
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Wait until this file exists, at most ten seconds
    #[arg(long, value_name = "FILE", hide = true)]
    pub wait_for: Option<PathBuf>,
    /// Print and write the plan without running it, marked as simulated
    #[arg(long, hide = true)]
    pub simulated: bool,
}

fn names() -> impl Iterator<Item = &'static str> {
    workloads().map(Workload::name)
}

/// Lists the workloads with their descriptions.
pub fn list(out: &mut dyn Write) -> Result<()> {
    for workload in workloads() {
        writeln!(out, "{:<10} {}", workload.name(), workload.description())?;
    }
    Ok(())
}

/// Plans the workload, runs it if possible, and writes the results to `out` and to the file.
pub fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<()> {
    let plan = WorkloadPlan::new(Workload::from_name(&arguments.name)?, arguments.count)?;
    if let Some(output) = &arguments.output {
        metalens_files::refuse_existing(output, arguments.force)?;
    }
    if arguments.simulated {
        writeln!(out, "{SIMULATED}")?;
    }
    write!(out, "{plan}")?;
    // The run takes seconds: show what it will do before it starts.
    out.flush()?;

    let has_waited = arguments
        .wait_for
        .as_deref()
        .is_none_or(|file| appears(file, START_LIMIT));
    let mut run = if arguments.simulated {
        None
    } else {
        Some(crate::run(&plan)?)
    };
    if let Some(run) = &mut run {
        if !has_waited {
            run.notes.push(
                "the recorder did not say in time that it records: the first work may not be recorded"
                    .to_owned(),
            );
        }
        write!(out, "{run}")?;
    }
    match &arguments.output {
        Some(output) => WorkFile::new(&plan, run.as_ref()).write(output, arguments.force),
        None => Ok(()),
    }
}

/// Time to wait for the recorder. A workload that nobody records must not wait for ever.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Waits for a file, and returns whether it appeared in time.
fn appears(file: &Path, limit: Duration) -> bool {
    let start = Instant::now();
    loop {
        if file.exists() {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_awaited_for_a_limited_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("recording");
        assert!(!appears(&file, Duration::from_millis(20)));
        let writer = thread::spawn({
            let file = file.clone();
            move || {
                thread::sleep(Duration::from_millis(50));
                std::fs::write(file, "").unwrap();
            }
        });
        assert!(appears(&file, Duration::from_secs(60)));
        writer.join().unwrap();
    }
}
