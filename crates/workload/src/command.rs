//! `list` and `run` as a command line has them, for the program of this crate and
//! for any other that offers the same. It writes only to what it is given.

use std::io::Write;
use std::path::PathBuf;

use crate::error::Result;
use crate::output::{Document, WorkFile};
use crate::plan::{Plan, Settings};
use crate::run::{Options, Run};
use crate::words::{List, Outcome, Planned};

/// What may be asked for.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Command {
    /// List the workloads
    List,
    /// Run a workload on the GPU, check its results, and say how much work it was
    Run(RunArguments),
}

/// `run NAME …`
#[derive(Debug, Clone, clap::Args)]
pub struct RunArguments {
    /// Which workload; `list` has them
    #[arg(value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(names()))]
    pub name: String,
    /// Elements of an array (copies: of a transfer; matmul: rows), instead of the workload's own
    #[arg(long, value_name = "N")]
    pub size: Option<u64>,
    /// Steps that are measured
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Steps before those
    #[arg(long, value_name = "N")]
    pub warm_up: Option<u64>,
    /// Write how much work it was, for `metalens analyze --work`
    #[arg(long, short, value_name = "WORK.JSON")]
    pub output: Option<PathBuf>,
    /// Replace an existing WORK.JSON
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Capture the last two warm-up steps for Xcode; needs MTL_CAPTURE_ENABLED=1
    #[arg(long, value_name = "FILE.gputrace")]
    pub capture: Option<PathBuf>,
    /// Print a JSON document instead
    #[arg(long)]
    pub json: bool,
    /// Run nothing: print and write the plan, marked as simulated
    #[arg(long, hide = true, conflicts_with = "capture")]
    pub simulated: bool,
}

fn names() -> impl Iterator<Item = &'static str> {
    crate::workloads().map(crate::Workload::name)
}

/// Does what was asked, and writes the answer to `out`. Where the workload cannot
/// run, its plan is written before the error is returned.
pub fn execute(command: &Command, out: &mut dyn Write) -> Result<()> {
    match command {
        Command::List => Ok(write!(out, "{List}")?),
        Command::Run(arguments) => run(arguments, out),
    }
}

fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<()> {
    let plan = Plan::new(&arguments.name, &arguments.settings())?;
    if let Some(output) = &arguments.output {
        metalens_files::refuse_existing(output, arguments.force)?;
    }
    if !arguments.json {
        let simulated = arguments.simulated;
        write!(
            out,
            "{}",
            Planned {
                plan: &plan,
                simulated
            }
        )?;
        // A person should see what is being waited for.
        out.flush()?;
    }
    let ran = match arguments.simulated {
        true => Ok(None),
        false => crate::run(&plan, &arguments.options()).map(Some),
    };
    let (ran, failed) = match ran {
        Ok(ran) => (ran, None),
        Err(error) => (None, Some(error)),
    };
    answer(arguments, &plan, ran.as_ref(), out)?;
    match failed {
        Some(error) => Err(error),
        None => write_work(arguments, &plan, ran.as_ref()),
    }
}

fn answer(
    arguments: &RunArguments,
    plan: &Plan,
    run: Option<&Run>,
    out: &mut dyn Write,
) -> Result<()> {
    match (arguments.json, run) {
        (true, run) => {
            let document = Document::of(plan, run, arguments.simulated);
            writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
        }
        (false, Some(run)) => write!(out, "{}", Outcome { run })?,
        (false, None) => {}
    }
    Ok(())
}

fn write_work(arguments: &RunArguments, plan: &Plan, run: Option<&Run>) -> Result<()> {
    match &arguments.output {
        Some(output) => WorkFile::of(plan, run).write(output, arguments.force),
        None => Ok(()),
    }
}

impl RunArguments {
    fn settings(&self) -> Settings {
        Settings {
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
