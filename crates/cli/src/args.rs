//! The words of the command line.

pub(crate) mod batch;
pub(crate) mod chart;
pub(crate) mod comparing;
pub(crate) mod posting;
pub(crate) mod query;
pub(crate) mod recording;
pub(crate) mod requests;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use batch::BatchArguments;
use chart::ChartArguments;
use comparing::{BaselineArguments, CompareArguments};
use posting::PrArguments;
use query::QueryArguments;
use recording::{
    CalibrateArguments, DoctorArguments, OwnArguments, RecordAndAnalyzeArguments, RecordArguments,
    WorkloadArguments,
};

const AFTER_HELP: &str = "\
More commands: baseline, calibrate, completions, manual, own, schema, selfcheck, stacks, synth, \
tables, workload. `metalens help COMMAND` explains each.

INPUT is a .trace bundle, or what `xctrace export` wrote: a folder with toc.xml and one \
<schema>.xml per table, a single table, or - for standard input. Tables may be compressed (.gz, \
.zst), bundles and folders zipped.

Exit codes: 0 fine, 1 something failed, 2 bad usage, 3 this machine cannot do it, 4 the trace is \
unusable or has no rows for the target, 5 a target was missed (--check) or a limit (--gate), \
6 two sides are not comparable, 130 interrupted. Of several inputs, 1 if one failed.";

/// Is my GPU busy, with what, and when it is idle, whose fault is that?
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Show neither progress nor notes on stderr
    // clap counts commands too: unless it is told, every new one moves this in everyone's help.
    #[arg(short, long, global = true, display_order = 7)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Report how busy the GPU was, with what, and why it idled
    Analyze(AnalyzeArguments),
    /// Record a program, or a bundled workload, with xctrace
    Record(RecordArguments),
    /// Record, then report: a folder with the bundle, pages, charts and JSON
    RecordAndAnalyze(RecordAndAnalyzeArguments),
    /// Tell what changed between recordings, and whether it is more than noise
    Compare(CompareArguments),
    /// Report on many recordings at once: a folder each, and an index of them
    Batch(Box<BatchArguments>),
    /// Draw a picture of a report, as PNG or SVG
    Chart(ChartArguments),
    /// Ask traces and datasets with SQL
    Query(QueryArguments),
    /// Post a report or a comparison as a comment on a pull request, and keep it up to date
    Pr(PrArguments),
    /// Tell whether this machine can record, and what to do if not
    Doctor(DoctorArguments),
    /// Export a bundle's tables as XML, with Apple's xctrace
    Export(ExportArguments),
    // The first screen lists ten commands; these it only names: see AFTER_HELP.
    /// Keep several runs as one file to compare with, or show it
    #[command(hide = true)]
    Baseline(BaselineArguments),
    /// Tell what recording a bundled workload finds, and what it costs
    #[command(hide = true)]
    Calibrate(CalibrateArguments),
    /// Print what a shell needs to complete these words
    #[command(hide = true)]
    Completions(CompletionsArguments),
    /// Write manual pages, one per command
    #[command(hide = true)]
    Manual(ManualArguments),
    /// Give a bundle that sudo left to root back to its user
    #[command(hide = true)]
    Own(OwnArguments),
    /// Print the JSON Schema of the report, or of another of metalens's forms
    #[command(hide = true)]
    Schema(SchemaArguments),
    /// Compare the native reading of a bundle with an export of it, cell by cell
    #[command(hide = true)]
    Selfcheck(SelfcheckArguments),
    /// Print what CPU samples found as collapsed stacks, for flame graphs
    #[command(hide = true)]
    Stacks(StacksArguments),
    /// Write a synthetic recording with known truth, for tests and dashboards
    #[command(hide = true)]
    Synth(SynthArguments),
    /// List the tables of a trace, or print one
    #[command(hide = true)]
    Tables(TablesArguments),
    /// Run a bundled Metal program whose work is known
    #[command(hide = true)]
    Workload(WorkloadArguments),
    /// Take the place of Apple's xctrace, for tests and simulations
    #[command(hide = true, disable_help_flag = true)]
    StandIn(StandInArguments),
}

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArguments {
    /// What to analyze: .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(required = true, value_name = "INPUT")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Print the report as JSON (of several inputs, an array)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the report as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Keep other processes' names and the input's folder in pages and pictures, and those names
    /// in a dataset, which leave them out
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Also write the whole report into this folder: report.json, report.md, report.html,
    /// charts/*.png and manifest.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Also write the report as a page of its own, with a timeline to zoom into, to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write every gap and where its time went to this file, as CSV; a name that a
    /// spreadsheet would run has ' before it
    #[arg(long, value_name = "FILE")]
    pub(crate) gaps: Option<PathBuf>,
    /// Also write a trace to this file that ui.perfetto.dev and chrome://tracing open
    #[arg(long, value_name = "FILE")]
    pub(crate) perfetto: Option<PathBuf>,
    /// Also add the run to a dataset in this folder: Parquet files for SQL engines and `query`
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    /// Exit with 5 if a target is missed, or was set and cannot be measured
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

/// What a report is measured by.
#[derive(Debug, Clone, Args)]
pub(crate) struct MeasureArguments {
    /// Set a threshold [defaults: average-gap=1us, utilization=80%, launch-efficiency=70%]
    #[arg(long = "threshold", alias = "target", value_name = "ID=VALUE")]
    pub(crate) thresholds: Vec<String>,
    /// File of thresholds, and of findings to leave out [default: metalens.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// How much work each kernel does, as JSON [default: work.json in an export's folder, or
    /// X.work.json beside X.trace]
    #[arg(long, value_name = "FILE")]
    pub(crate) work: Option<PathBuf>,
}

/// Whom and which part of a recording a report is about.
#[derive(Debug, Clone, Args)]
pub(crate) struct PartArguments {
    /// Whom the report is about [default: whom the recording was about]
    #[arg(long = "process", value_name = "NAME|PID")]
    pub(crate) processes: Vec<String>,
    /// Cut off what comes before this time of the recording, such as 1.5s or 200ms
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) from: Option<u64>,
    /// Cut off what comes after this time of the recording
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) to: Option<u64>,
    /// Report only on this phase, named by os_signpost intervals: from its first begin to its
    /// last end
    #[arg(long, value_name = "NAME")]
    pub(crate) phase: Option<String>,
    /// Cut off the target's warm-up, if it has one
    #[arg(long)]
    pub(crate) skip_warmup: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StacksArguments {
    /// .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// Whose samples [default: those whom the recording was about, else everyone's]
    #[arg(long = "process", value_name = "NAME|PID")]
    pub(crate) processes: Vec<String>,
    /// Leave out what comes before this time of the recording, such as 1.5s or 200ms
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) from: Option<u64>,
    /// Leave out what comes after this time of the recording
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) to: Option<u64>,
    /// Print the functions and threads with the most weight instead
    #[arg(long)]
    pub(crate) top: bool,
    /// Print those, and more, as JSON
    #[arg(long, conflicts_with = "top")]
    pub(crate) json: bool,
    /// Write to a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite that file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TablesArguments {
    /// .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// Print the rows of this table
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Option<String>,
    /// How to print rows
    #[arg(long, value_enum, default_value_t = RowFormat::Csv, requires = "schema")]
    pub(crate) format: RowFormat,
    /// Print the list as JSON
    #[arg(long, conflicts_with = "schema")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// Comma-separated values; null is empty, an empty text is "", and a text that a spreadsheet
    /// would run has ' before it
    Csv,
    /// One JSON object per line, with every text as it is
    Jsonl,
}

#[derive(Debug, Args)]
pub(crate) struct SelfcheckArguments {
    /// The .trace bundle
    #[arg(value_name = "BUNDLE")]
    pub(crate) bundle: PathBuf,
    /// What `xctrace export` wrote of it [default: exported here and now, on a Mac with Xcode]
    #[arg(value_name = "EXPORT")]
    pub(crate) export: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The .trace bundles
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The folder to write, or to complete; of several bundles, the folder of their folders
    /// [default: X.export beside X.trace]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Which run of the trace [default: the last]
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u64>,
    /// Export this table [default: those that metalens reads]
    #[arg(long = "schema", value_name = "NAME")]
    pub(crate) schemas: Vec<String>,
    /// Export every table: this may take 10 times the bundle's size and more
    #[arg(long, conflicts_with = "schemas")]
    pub(crate) all: bool,
    /// Leave out what comes before this time of the recording, such as 1.5s or 200ms (Xcode 27)
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) from: Option<u64>,
    /// Leave out what comes after this time of the recording (Xcode 27)
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) to: Option<u64>,
    /// Compress the tables
    #[arg(long)]
    pub(crate) gzip: bool,
    /// Export again what is there, and write into a folder that holds something else
    #[arg(long)]
    pub(crate) force: bool,
    /// Print what the folder holds as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Of what
    #[arg(value_enum, default_value_t = Form::Report)]
    pub(crate) form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// What `analyze --json` prints
    Report,
    /// What `stacks --json` prints
    Profile,
    /// What `analyze --work` reads
    Work,
    /// What lists the files that `analyze -o` writes
    Manifest,
    /// What `doctor --json` prints
    Doctor,
    /// What `record` writes beside a bundle: X.recording.json
    Recording,
    /// What `calibrate --json` prints
    Calibration,
    /// What `compare --json` prints
    Comparison,
    /// What `baseline save` writes
    Baseline,
    /// What `batch --json` prints
    Index,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManualArguments {
    /// The folder to write them in
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Overwrite pages that are there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SynthArguments {
    /// A scenario's file (.toml), or the name of a built-in one
    #[arg(required_unless_present = "list", value_name = "SCENARIO")]
    pub(crate) scenario: Option<String>,
    /// The folder to write: a bundle if it is called X.trace, else an export
    #[arg(short, long, required_unless_present = "list", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write into a folder that has something in it
    #[arg(long)]
    pub(crate) force: bool,
    /// List the built-in scenarios
    #[arg(long, conflicts_with_all = ["scenario", "output", "force"])]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StandInArguments {
    /// What xctrace would be given
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    pub(crate) arguments: Vec<std::ffi::OsString>,
}

/// How to read a trace.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ReadingArguments {
    /// Which run of the trace [default: the last]
    #[arg(long, value_name = "N")]
    pub(crate) run: Option<u64>,
    /// Use the whole rows of a file that breaks off, and say so, instead of refusing it
    #[arg(long)]
    pub(crate) allow_truncated: bool,
    /// What reads a .trace bundle
    #[arg(long, value_enum, default_value_t = ReaderChoice::Auto)]
    pub(crate) reader: ReaderChoice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReaderChoice {
    /// The native reader
    Auto,
    /// metalens itself, on any machine
    Native,
    /// Apple's xctrace, on a Mac with Xcode
    Xctrace,
}

/// `1.5s`, `200ms`, `12us`, `12µs`, `500ns` → ns. The unit is required: a bare
/// number is as likely to be meant in seconds as in nanoseconds.
pub(crate) fn nanoseconds(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u32); 5] = [("ns", 0), ("us", 3), ("µs", 3), ("ms", 6), ("s", 9)];
    let unit = UNITS.iter().find(|(unit, _)| text.ends_with(unit));
    let &(unit, digits) = unit.ok_or("a time needs a unit: 1.5s, 200ms, 12us or 500ns")?;
    let number = text.strip_suffix(unit).unwrap_or(text).trim_end();
    decimal(number, digits).ok_or_else(|| format!("`{number}` is not a number of {unit}"))
}

/// `1.5` with 9 digits → 1,500,000,000, exactly. Finer than 1 ns is refused.
fn decimal(number: &str, digits: u32) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let width = digits as usize;
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || fraction.len() > width {
        return None;
    }
    let fraction: u64 = match width {
        0 => 0,
        _ => format!("{fraction:0<width$}").parse().ok()?,
    };
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(10_u64.pow(digits))?.checked_add(fraction)
}

/// Returns the whole command line, with the commands that the first screen only names.
pub(crate) fn every_command() -> clap::Command {
    Arguments::command().mut_subcommands(|command| {
        let is_hidden = command.get_name() == "stand-in";
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
    fn the_first_screen_lists_or_names_every_command() {
        for command in every_command().get_subcommands() {
            let name = command.get_name();
            let is_listed = Arguments::command()
                .find_subcommand(name)
                .is_some_and(|command| !command.is_hide_set());
            let words = AFTER_HELP.split([' ', ',', '.', '\n']);
            let is_named = words.into_iter().any(|word| word == name);
            assert!(is_listed || is_named || name == "stand-in", "{name}");
        }
    }

    #[test]
    fn times() {
        let cases = [
            ("1.5s", Some(1_500_000_000)),
            ("200ms", Some(200_000_000)),
            ("0.25 us", Some(250)),
            ("12µs", Some(12_000)),
            ("500ns", Some(500)),
            ("1.5ns", None),
            ("15", None),
            ("-1s", None),
            ("s", None),
            ("1e3s", None),
            ("99999999999999999999s", None),
        ];
        for (text, expected) in cases {
            assert_eq!(nanoseconds(text).ok(), expected, "{text}");
        }
    }
}
