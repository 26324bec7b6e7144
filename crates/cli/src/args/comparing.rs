//! The words of `compare` and `baseline`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::{MeasureArguments, PartArguments, ReadingArguments};

const AFTER_COMPARE: &str = "\
A run is what analyze takes, or a report.json that it wrote, or the folder of one. BASE NEW NEW2 \
compares each NEW with BASE; one run a side cannot tell a change from noise. Three or more a side \
can: --base A B C --new D E F, or --baseline FILE D E F.

The gate's file, its rules, and what counts as missed: docs/gating.md. A figure that new lacks misses \
its limit, unless the limit is optional.

Exit codes: 0 compared, 2 the same run twice on a side, 5 a limit was missed (--gate), 6 not \
comparable, and why.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_COMPARE)]
pub(crate) struct CompareArguments {
    /// BASE and one NEW or more; with --baseline the runs of new
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The runs to compare with
    #[arg(long, num_args = 1.., value_name = "RUN", requires = "new")]
    pub(crate) base: Vec<PathBuf>,
    /// The runs that are compared
    #[arg(long, num_args = 1.., value_name = "RUN", conflicts_with = "runs")]
    pub(crate) new: Vec<PathBuf>,
    /// Compare with what `metalens baseline save` wrote
    #[arg(long, value_name = "FILE", conflicts_with = "base")]
    pub(crate) baseline: Option<PathBuf>,
    /// What to look for
    #[arg(long, value_enum)]
    pub(crate) preset: Option<PresetChoice>,
    /// Exit with 5 if a limit of the gate in this file is missed [default: metalens.toml, if there is
    /// one here with a gate, else what takes 5 % longer or has 10 % longer gaps]
    #[arg(long, num_args = 0..=1, value_name = "FILE")]
    #[expect(
        clippy::option_option,
        reason = "with a value, without one, or not there"
    )]
    pub(crate) gate: Option<Option<PathBuf>>,
    /// Print the comparison as JSON (of several NEW, an array)
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the comparison as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// Also write the comparison into this folder: comparison.json, comparison.md,
    /// charts/compare*.png and manifest.json
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Keep the inputs' folders in pages and pictures, which leave them out
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Compare sides although they were not recorded alike; the comparison then says so
    #[arg(long)]
    pub(crate) allow_different: bool,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PresetChoice {
    /// Eager against compiled: which of dispatches, gaps, kernel time and wall moved, and whether
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
    /// Keep three runs or more as one file to compare with
    Save(Box<BaselineSaveArguments>),
    /// Show what such a file holds
    Show(BaselineShowArguments),
}

#[derive(Debug, Args)]
pub(crate) struct BaselineSaveArguments {
    /// The runs: what analyze takes, or report.json files
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Overwrite that file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineShowArguments {
    /// What `metalens baseline save` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
