//! Arguments of the command line.

pub(crate) mod batch;
pub(crate) mod bench;
pub(crate) mod beside;
pub(crate) mod chart;
pub(crate) mod comparing;
pub(crate) mod posting;
pub(crate) mod recording;
pub(crate) mod requests;
pub(crate) mod shared;
pub(crate) mod verify;
pub(crate) mod what_if;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use batch::BatchArguments;
use bench::BenchArguments;
use beside::BesideArguments;
use chart::ChartArguments;
use comparing::{BaselineArguments, CompareArguments};
use posting::PrArguments;
use recording::{DoctorArguments, RecordAndAnalyzeArguments, RecordArguments};
use shared::{MeasureArguments, PartArguments, RecordingGate, nanoseconds};
use verify::VerifyArguments;
use what_if::WhatIfArguments;

use crate::analyzing::AnalyzeOutputs;
use crate::reading::Reading;

const AFTER_HELP: &str = "\
More commands: baseline, completions, skill, stacks, tables, verify. `metalens help COMMAND` explains \
each.

INPUT is a .trace bundle, or what `xctrace export` wrote: a folder with toc.xml and one \
<schema>.xml per table, a single table, or - for standard input. Tables may be compressed (.gz), \
bundles and folders zipped.

Exit codes: 0 success, 1 failure (of any input), 2 wrong usage, 3 this machine cannot do it, \
4 the recording is unusable or has no rows for the process, 5 a limit failed (--gate), \
6 the two sides are not comparable or a gate is inconclusive, 130 \
interrupted.";

/// Is my GPU busy, with what, and why is it idle?
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print neither progress nor notes on stderr
    // After the options of the command.
    #[arg(short, long, global = true, display_order = 900)]
    pub(crate) quiet: bool,
    /// Color the output; auto does on terminals, and obeys NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value_t,
        display_order = 901
    )]
    #[arg(hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// When output has colors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On terminals, and where the environment wants it
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Report how busy the GPU was, with what, and why it was idle
    #[command(aliases = ["analyse", "report", "stats"])]
    Analyze(AnalyzeArguments),
    /// Record a program, or a bundled workload, with xctrace
    Record(RecordArguments),
    /// Record, then write a folder with the bundle, pages, charts and JSON
    #[command(alias = "profile")]
    RecordAndAnalyze(RecordAndAnalyzeArguments),
    /// Record several commands alternately, and say which one is fastest and why
    Bench(Box<BenchArguments>),
    /// Compare recordings, and separate changes from noise
    #[command(alias = "diff")]
    Compare(CompareArguments),
    /// Report on many recordings: a folder each, and an index
    Batch(Box<BatchArguments>),
    /// Predict what a change of the program would leave, such as fewer waits or a faster kernel
    WhatIf(WhatIfArguments),
    /// Draw a chart of a recording as PNG or SVG
    Chart(ChartArguments),
    /// Query recordings and datasets with SQL
    Query(BesideArguments),
    /// Post a report or a comparison as a comment on a pull request, or update it
    Pr(PrArguments),
    /// Check whether this machine can record, and suggest fixes
    Doctor(DoctorArguments),
    /// Export the tables of a bundle as XML, with Apple's xctrace
    Export(ExportArguments),
    // The first screen lists twelve commands and names these: see AFTER_HELP.
    /// Save several runs as a baseline to compare with, and limits for it
    #[command(hide = true)]
    Baseline(BaselineArguments),
    /// Print completions for a shell
    #[command(hide = true)]
    Completions(CompletionsArguments),
    /// Print the skill, a page that teaches a coding agent to profile
    #[command(hide = true)]
    Skill,
    /// Print the JSON Schema of the report, or of another format
    #[command(hide = true)]
    Schema(SchemaArguments),
    /// Print the path of the probe's library, for programs that load it themselves
    #[command(hide = true)]
    Probe,
    /// Draw CPU samples as a flame graph, or print them as folded stacks
    #[command(hide = true, alias = "flamegraph")]
    Stacks(StacksArguments),
    /// Write a synthetic recording with known truth, for tests and dashboards
    #[cfg(feature = "simulate")]
    #[command(hide = true)]
    Synth(crate::simulate::SynthArguments),
    /// List the tables of a recording, or print one
    #[command(hide = true)]
    Tables(TablesArguments),
    /// Test assumptions about xctrace on this Mac, and write the answers for a bug report
    #[command(hide = true)]
    Verify(VerifyArguments),
    /// Run a bundled workload, which metalens starts to record it
    #[command(hide = true)]
    Workload(metalens_workload::command::Arguments),
    /// Act as a fake xctrace, for tests and simulations
    #[cfg(feature = "simulate")]
    #[command(hide = true, disable_help_flag = true)]
    FakeXctrace(crate::simulate::FakeXctraceArguments),
}

const ANALYZE_EXAMPLES: &str = "\
Examples:
  metalens analyze run.trace
  metalens analyze run.trace --section kernels --sort med
  metalens analyze run.trace -o report";

#[derive(Debug, Args)]
#[command(after_help = ANALYZE_EXAMPLES)]
pub(crate) struct AnalyzeArguments {
    /// .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) outputs: AnalyzeOutputs,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) gate: RecordingGate,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
pub(crate) struct StacksArguments {
    /// .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// Process whose samples to print [default: the recorded one, else all]
    #[arg(long = "process", alias = "pid", value_name = "NAME|PID")]
    pub(crate) processes: Vec<String>,
    /// Start at this time of the recording, such as 1.5s or 200ms
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) from: Option<u64>,
    /// End at this time of the recording
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) to: Option<u64>,
    /// Only the threads that submit GPU work, and only while the GPU was idle
    #[arg(long)]
    pub(crate) idle: bool,
    /// File to write: .svg for a flame graph, .folded or .txt for a line per stack [default: lines on standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
pub(crate) struct TablesArguments {
    /// .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// Print the rows of this table
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// Number of the table, from 1, if several have this name [default: that of the largest]
    #[arg(long, value_name = "N", requires = "schema")]
    pub(crate) number: Option<usize>,
    /// Format of the rows
    #[arg(long, value_enum, default_value_t = RowFormat::Csv, requires = "schema")]
    pub(crate) format: RowFormat,
    /// Print the list as JSON
    #[arg(long, conflicts_with = "schema")]
    pub(crate) json: bool,
    /// Print the list as Markdown
    #[arg(long, conflicts_with_all = ["json", "schema"])]
    pub(crate) markdown: bool,
    /// Sort the list by this column, such as rows
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["json", "schema"])]
    pub(crate) sort: Option<String>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// Comma-separated values; null is empty, an empty text is "", and text that a spreadsheet
    /// would run as a formula gets a leading '
    Csv,
    /// One JSON object per line, with every text unchanged
    Jsonl,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  metalens export run.trace
  metalens export run.trace --schema metal-gpu-intervals -o intervals";

#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArguments {
    /// The .trace bundles
    #[arg(required = true, value_name = "BUNDLE")]
    pub(crate) bundles: Vec<PathBuf>,
    /// Folder to write; an earlier export there is replaced. For several bundles, the parent of their folders [default:
    /// X.export beside X.trace]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Run of the recording [default: the last]
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u64>,
    /// Export this table [default: all that metalens needs]
    #[arg(long = "schema", value_name = "NAME")]
    pub(crate) schemas: Vec<String>,
    /// Export every table: may need more than 10 times the size of the bundle
    #[arg(long, conflicts_with = "schemas")]
    pub(crate) all: bool,
    /// Start at this time of the recording, such as 1.5s or 200ms (Xcode 27)
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) from: Option<u64>,
    /// End at this time of the recording (Xcode 27)
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) to: Option<u64>,
    /// Allow a folder that has other files
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the list of exported tables as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Format to describe
    #[arg(value_enum, default_value_t = Form::Report)]
    pub(crate) form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Output of `analyze --json`
    Report,
    /// Input of `analyze --work`
    Work,
    /// X.recording.json: versions, machine and command of a recording
    Recording,
    /// Output of `compare --json`
    Comparison,
    /// Output of `batch --json`
    Index,
    /// Output of `bench --json`
    Bench,
    /// metalens.toml, for editors that complete and check it
    Config,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Shell to print completions for
    pub(crate) shell: clap_complete::Shell,
}

/// Returns arguments with their command. A path in the place of a command is analyzed:
/// `metalens run.trace`. So is one that does not exist, because the error about it says so.
pub(crate) fn with_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let Some(first) = arguments.get(1) else {
        return arguments;
    };
    let is_option = first.as_encoded_bytes().starts_with(b"-");
    // All commands are built for this question, so a path comes first.
    let path = std::path::Path::new(first);
    let looks_like_path = path.extension().is_some() || path.components().nth(1).is_some();
    let is_path = !is_option && (looks_like_path || path.exists());
    let is_command = || first == "help" || Arguments::command().find_subcommand(first).is_some();
    if is_path && !is_command() {
        arguments.insert(1, OsString::from("analyze"));
    }
    arguments
}

/// Commands that only metalens itself starts.
const INTERNAL: [&str; 2] = ["fake-xctrace", "workload"];

/// Returns the whole command line, with the commands that the first screen only names.
pub(crate) fn every_command() -> clap::Command {
    Arguments::command().mut_subcommands(|command| {
        let is_hidden = INTERNAL.contains(&command.get_name());
        command.hide(is_hidden)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_path_in_the_place_of_a_command_is_analyzed() {
        let here = env!("CARGO_MANIFEST_DIR");
        let check = |arguments: &[&str], expected: &[&str]| {
            let arguments = ["metalens"].iter().chain(arguments).map(Into::into);
            let found = with_command(arguments.collect());
            let expected = ["metalens"].iter().chain(expected).map(OsString::from);
            assert_eq!(found, expected.collect::<Vec<_>>());
        };
        check(&[], &[]);
        check(&[here, "--json"], &["analyze", here, "--json"]);
        check(&["report", here], &["report", here]);
        check(&["--json", here], &["--json", here]);
        check(&["no-such.trace"], &["analyze", "no-such.trace"]);
        check(&["no/such"], &["analyze", "no/such"]);
        check(&["reprot"], &["reprot"]);
    }

    /// Commands that the pages, the errors and the header of the probe name where they are of use.
    const RARE: [&str; 3] = ["probe", "schema", "synth"];

    #[test]
    fn the_first_screen_lists_or_names_every_common_command() {
        for command in every_command().get_subcommands() {
            let name = command.get_name();
            let is_listed = Arguments::command()
                .find_subcommand(name)
                .is_some_and(|command| !command.is_hide_set());
            let words = AFTER_HELP.split([' ', ',', '.', '\n']);
            let is_named = words.into_iter().any(|word| word == name);
            let is_meant_to_be = ![&INTERNAL[..], &RARE].concat().contains(&name);
            assert_eq!(is_listed || is_named, is_meant_to_be, "{name}");
        }
    }
}
