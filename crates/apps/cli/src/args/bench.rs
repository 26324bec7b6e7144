//! Arguments of `metalens bench`.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use super::comparing::GateChoice;
use super::recording::{RecorderArguments, RecordingArguments};
use super::shared::{MeasureArguments, PartArguments, nanoseconds};

const AFTER_BENCH: &str = "\
Examples:
  metalens bench ./eager ./fused
  metalens bench './infer --batch {size}' -L size 1,4,16
  metalens bench --simulate --workload eager --workload fused

COMMAND is one argument, such as './bench --size 4'. It is split into words as in a shell, but no \
shell reads it: the recorder starts the program itself. --setup, --prepare and --cleanup are run \
by sh.

{size} in a command stands for each value of the parameter; with two parameters, each pair of values is a \
variant.

The runs alternate: ABC CBA ABC … With -o, the same command resumes a stopped benchmark, and a \
larger --runs adds runs to it.

Exit codes: 0 success, 1 a run failed, 2 wrong usage, 3 this machine cannot record, 4 a recording has \
no GPU work of the program, 5 a limit failed (--gate), 6 not comparable with the baseline, \
125 undecided (--until-decided), \
130 interrupted: the runs so far are shown and kept.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_BENCH)]
pub(crate) struct BenchArguments {
    /// Programs to compare, each with its arguments in quotation marks
    #[arg(value_name = "COMMAND", required_unless_present = "workloads")]
    pub(crate) commands: Vec<String>,
    /// Bundled workload with its options, such as 'eager --count 50', beside or instead of commands
    #[arg(long = "workload", value_name = "NAME")]
    pub(crate) workloads: Vec<String>,
    /// Name of a variant; give it once for each, in their order [default: its command]
    #[arg(short = 'n', long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Run each command with each of these values: -L n 64,256
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUES"])]
    pub(crate) parameter_list: Vec<String>,
    /// Runs of each variant; fewer than four give less than 95 % confidence [default: 6, at most 30 with
    /// --until-decided]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=999))]
    runs: Option<u32>,
    /// End as soon as the limits of --gate are decided: with 0 if they are kept, with 5 if not, with 125 if --runs or
    /// --within end it, or anything fails
    #[arg(long, requires = "gate", conflicts_with_all = ["baseline", "allow_inconclusive"])]
    pub(crate) until_decided: bool,
    /// Begin no round after this time, such as 1200s
    #[arg(long, value_name = "T", requires = "until_decided", value_parser = nanoseconds)]
    pub(crate) within: Option<u64>,
    /// Runs of each variant that are recorded first and do not count
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=99))]
    pub(crate) warmup: u32,
    /// Run this before the first run of each variant
    #[arg(short, long, value_name = "CMD")]
    pub(crate) setup: Option<String>,
    /// Run this before each run
    #[arg(short, long, value_name = "CMD")]
    pub(crate) prepare: Option<String>,
    /// Run this after the last run of each variant
    #[arg(short, long, value_name = "CMD")]
    pub(crate) cleanup: Option<String>,
    /// Also measure programs that exit with a code other than 0
    #[arg(short, long)]
    pub(crate) ignore_failure: bool,
    /// Show the output of the programs on stderr [default: discard it]
    #[arg(long)]
    pub(crate) show_output: bool,
    /// Compare whole runs, or times per unit of work where the work differs [default: whole runs,
    /// unless the time limit ended one]
    #[arg(long, value_enum)]
    pub(crate) per: Option<PerChoice>,
    /// Folder for the result, the reports and the recordings; a stopped benchmark resumes there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Start over in that folder, and replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    /// Open the page in the browser
    #[arg(long, requires = "output")]
    pub(crate) open: bool,
    /// Keep only the reports in the folder, not the recordings
    #[arg(long, requires = "output")]
    pub(crate) drop_recordings: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Compare all variants with a baseline, instead of the first variant
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Save the runs of the first variant as a baseline
    #[arg(long, value_name = "FILE")]
    pub(crate) save_baseline: Option<PathBuf>,
    /// Compare with a baseline that was recorded differently
    #[arg(long, requires = "baseline")]
    pub(crate) allow_different: bool,
    /// Show names of other processes and folders in the reports of the runs [default: leave them
    /// out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Use a fake xctrace, on any machine: measures nothing
    #[arg(long)]
    pub(crate) simulate: bool,
    #[command(flatten)]
    pub(crate) view: crate::view::View,
    #[command(flatten)]
    pub(crate) gate: GateChoice,
    #[command(flatten)]
    pub(crate) recorder: RecorderArguments,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerChoice {
    /// Whole runs, even if their work differs
    Run,
    /// Command buffers if all variants have the same number, else GPU intervals
    Unit,
}

/// Words of `--workload`.
#[derive(Debug, Parser)]
#[command(name = "--workload", no_binary_name = true, disable_help_flag = true)]
pub(crate) struct WorkloadWords {
    /// Name of the workload
    pub(crate) name: String,
    #[arg(long)]
    count: Option<u64>,
}

impl BenchArguments {
    /// Returns the number of rounds, or the largest if fewer may decide.
    pub(crate) fn rounds(&self) -> u32 {
        self.runs.unwrap_or(if self.until_decided { 30 } else { 6 })
    }

    /// Returns the arguments with which `record` would record a program, or a workload.
    pub(crate) fn recording(
        &self,
        command: Vec<std::ffi::OsString>,
        workload: Option<WorkloadWords>,
    ) -> RecordingArguments {
        let count = workload.as_ref().and_then(|words| words.count);
        RecordingArguments {
            command,
            workload: workload.map(|words| words.name),
            count,
            attach: None,
            all_processes: false,
            recorder: self.recorder.clone(),
            cargo: None,
            dry_run: false,
            simulate: self.simulate,
        }
    }
}
