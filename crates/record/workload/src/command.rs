//! Implements the subcommands `list` and `run`, for the program of this crate and for any
//! other that offers them. Writes only to the writer it is given.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::output::{WorkDocument, WorkFile};
use crate::plan::{WorkloadPlan, WorkloadSettings};
use crate::run::{Options, WorkloadRun};
use crate::summary::{PlanSummary, RunSummary, WorkloadList};

/// A subcommand of the workload program.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Command {
    /// List the workloads by name
    List,
    /// Run a workload on the GPU and check its results
    Run(RunArguments),
}

/// Arguments of `run NAME …`.
#[derive(Debug, Clone, clap::Args)]
pub struct RunArguments {
    /// Name of the workload (see `list`)
    #[arg(value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(names()))]
    pub name: String,
    /// Elements of an array (copies: of a transfer; matmul: rows) [default: depends on the workload]
    #[arg(long, value_name = "N")]
    pub size: Option<u64>,
    /// Number of measured steps
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Number of steps before the measured ones
    #[arg(long, value_name = "N")]
    pub warm_up: Option<u64>,
    /// Write the amount of work of each label, for `metalens analyze --work`
    #[arg(long, short, value_name = "WORK.JSON")]
    pub output: Option<PathBuf>,
    /// Replace an existing WORK.JSON
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Capture the last two warm-up steps for Xcode; needs MTL_CAPTURE_ENABLED=1
    #[arg(long, value_name = "FILE.gputrace")]
    pub capture: Option<PathBuf>,
    /// Print a JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Wait until this file exists, at most ten seconds
    #[arg(long, value_name = "FILE", hide = true)]
    pub wait_for: Option<PathBuf>,
    /// Print and write the plan without running it, marked as simulated
    #[arg(long, hide = true, conflicts_with = "capture")]
    pub simulated: bool,
}

fn names() -> impl Iterator<Item = &'static str> {
    crate::workloads().map(crate::Workload::name)
}

/// Runs a subcommand and writes its output to `out`. If the workload cannot run, its plan is
/// written before the error is returned.
pub fn execute(command: &Command, out: &mut dyn Write) -> Result<()> {
    match command {
        Command::List => Ok(write!(out, "{WorkloadList}")?),
        Command::Run(arguments) => run(arguments, out),
    }
}

/// Plans the workload, runs it if possible, and writes the results.
fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<()> {
    let plan = WorkloadPlan::new(&arguments.name, &arguments.settings())?;
    if let Some(output) = &arguments.output {
        metalens_files::refuse_existing(output, arguments.force)?;
    }

    if !arguments.json {
        let simulated = arguments.simulated;
        write!(
            out,
            "{}",
            PlanSummary {
                plan: &plan,
                simulated
            }
        )?;
        // The run takes seconds: show what it will do before it starts.
        out.flush()?;
    }

    let has_waited = arguments
        .wait_for
        .as_deref()
        .is_none_or(|file| appears(file, START_LIMIT));
    let outcome = if arguments.simulated {
        Ok(None)
    } else {
        crate::run(&plan, &arguments.options()).map(Some)
    };
    let (mut run, failure) = match outcome {
        Ok(run) => (run, None),
        Err(error) => (None, Some(error)),
    };
    if let Some(run) = run.as_mut().filter(|_| !has_waited) {
        run.notes.push(
            "the recorder did not say in time that it records: the first work may not be recorded"
                .to_owned(),
        );
    }

    write_result(arguments, &plan, run.as_ref(), out)?;
    match failure {
        Some(error) => Err(error),
        None => write_work(arguments, &plan, run.as_ref()),
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

fn write_result(
    arguments: &RunArguments,
    plan: &WorkloadPlan,
    run: Option<&WorkloadRun>,
    out: &mut dyn Write,
) -> Result<()> {
    if arguments.json {
        let document = WorkDocument::new(plan, run, arguments.simulated);
        writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
    } else if let Some(run) = run {
        write!(out, "{}", RunSummary { run })?;
    }

    Ok(())
}

fn write_work(
    arguments: &RunArguments,
    plan: &WorkloadPlan,
    run: Option<&WorkloadRun>,
) -> Result<()> {
    match &arguments.output {
        Some(output) => WorkFile::new(plan, run).write(output, arguments.force),
        None => Ok(()),
    }
}

impl RunArguments {
    fn settings(&self) -> WorkloadSettings {
        WorkloadSettings {
            size: self.size,
            count: self.count,
            warm_up: self.warm_up,
        }
    }

    fn options(&self) -> Options {
        Options {
            capture: self.capture.clone(),
        }
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
