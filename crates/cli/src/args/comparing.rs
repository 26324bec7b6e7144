//! Arguments of `compare` and `baseline`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::ViewArguments;
use super::shared::AnalysisArguments;

const AFTER_COMPARE: &str = "\
RUN is an input of analyze, a report.json, or a report folder. BASE NEW NEW2 compares each NEW \
with BASE. One run per side cannot separate a change from noise; three or more can: \
--base A B C --new D E F, or --baseline FILE D E F.

`metalens gate init BASELINE` writes a file of limits, `metalens gate ids` lists all figures that \
may have one, and docs/gating.md explains the rules. A limit whose figure NEW lacks fails, unless \
the limit is optional.

Exit codes: 0 compared, 2 the same run twice on one side, 5 a limit failed (--gate), 6 the sides \
are not comparable.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_COMPARE)]
pub(crate) struct CompareArguments {
    /// BASE and one or more NEW; with --baseline only NEW
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Runs to compare with
    #[arg(long, num_args = 1.., value_name = "RUN", requires = "new")]
    pub(crate) base: Vec<PathBuf>,
    /// Runs to compare
    #[arg(long, num_args = 1.., value_name = "RUN", conflicts_with = "runs")]
    pub(crate) new: Vec<PathBuf>,
    /// Compare with a baseline, which `metalens baseline save` wrote
    #[arg(long, value_name = "FILE", conflicts_with = "base")]
    pub(crate) baseline: Option<PathBuf>,
    /// Question to answer
    #[arg(long, value_enum)]
    pub(crate) preset: Option<PresetChoice>,
    /// Exit with 5 if a limit in this file fails [default: metalens.toml, if it has a gate, else
    /// the same number of GPU intervals, at most 5 % more time and 10 % longer gaps]
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "FILE")]
    #[expect(clippy::option_option, reason = "with a value, without one, or absent")]
    pub(crate) gate: Option<Option<PathBuf>>,
    /// Print the comparison as JSON (an array for several NEW)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the comparison as Markdown
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) view: ViewArguments,
    /// Write the comparison to this folder: comparison.json, comparison.md, comparison.html,
    /// charts/compare*.png and manifest.json. A stored baseline or report has no intervals, so that
    /// the page has bars instead of the charts
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Show the folders of the inputs in pages and charts [default: leave them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Compare sides that were recorded differently; the comparison says so
    #[arg(long)]
    pub(crate) allow_different: bool,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetChoice {
    /// Eager versus compiled: changes of GPU intervals, idle time, kernel time and wall time, and whether
    /// kernels were fused
    Fusion,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineArguments {
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Save three or more runs as a baseline
    Save(Box<BaselineSaveArguments>),
    /// Show a baseline
    Show(BaselineShowArguments),
}

#[derive(Debug, Args)]
pub(crate) struct GateArguments {
    #[command(subcommand)]
    pub(crate) command: GateCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Write a file of limits with every figure and kernel of a baseline
    Init(GateInitArguments),
    /// List the figures that limits can be about, and the rules
    Ids,
}

#[derive(Debug, Args)]
pub(crate) struct GateInitArguments {
    /// File that `metalens baseline save` wrote
    #[arg(value_name = "BASELINE")]
    pub(crate) baseline: PathBuf,
    /// File to write, such as metalens.toml [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineSaveArguments {
    /// Runs: inputs of analyze, or report.json files
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineShowArguments {
    /// File that `metalens baseline save` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print the baseline as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
