//! Arguments of `compare` and `baseline`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use metalens_comparison::{Gate, PerUnit};

use super::shared::AnalysisArguments;
use crate::config;
use crate::view::View;

const AFTER_COMPARE: &str = "\
Examples:
  metalens compare before.trace after.trace
  metalens compare --base a1.trace a2.trace a3.trace --new b1.trace b2.trace b3.trace --gate
  metalens compare --baseline main.json b1.trace b2.trace b3.trace --gate -o comparison

RUN is an input of analyze, a report.json, or a report folder. One run per side cannot separate a change from noise; three or more can: \
--base A B C --new D E F, or --baseline FILE D E F.

`metalens baseline figures` lists all figures that may have a limit, and docs/gating.md explains the rules. A limit whose figure NEW lacks fails, unless \
the limit is optional.

Exit codes: 0 compared, 2 the same run twice on one side, 5 a limit failed (--gate), 6 the sides \
are not comparable, or their runs cannot decide a limit (--gate).";

#[derive(Debug, Args)]
#[command(after_help = AFTER_COMPARE)]
pub(crate) struct CompareArguments {
    /// BASE and NEW; with --baseline only runs of NEW
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
    /// Unit to compare times per: step, buffer or "kernel NAME" [default: the whole run, and a unit of
    /// which one side has more, if all units are alike]
    #[arg(long, value_name = "UNIT", value_parser = per_unit)]
    pub(crate) per: Option<PerUnit>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the comparison as Markdown
    #[arg(long, conflicts_with_all = ["json", "format"])]
    pub(crate) markdown: bool,
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
    pub(crate) view: View,
    #[command(flatten)]
    pub(crate) gate: GateChoice,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

/// Parses a unit of work.
fn per_unit(text: &str) -> Result<PerUnit, String> {
    match (text, text.strip_prefix("kernel ")) {
        ("step", _) => Ok(PerUnit::Step),
        ("buffer", _) => Ok(PerUnit::CommandBuffer),
        (_, Some(name)) if !name.is_empty() => Ok(PerUnit::Kernel(name.to_owned())),
        _ => Err("a unit is step, buffer or \"kernel NAME\"".to_owned()),
    }
}

/// The limits to judge by.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct GateChoice {
    /// Exit with 5 if a limit in this file fails, and with 6 if runs cannot decide one [default:
    /// metalens.toml, if it has a gate, else at most 5 % more time of a step's own and of each kernel, and as
    /// much work]
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "FILE")]
    #[expect(clippy::option_option, reason = "with a value, without one, or absent")]
    gate: Option<Option<PathBuf>>,
    /// Let the gate pass with a warning if there are fewer runs than base has, or if runs are too few
    /// or vary too much to decide a limit
    #[arg(long, requires = "gate")]
    allow_inconclusive: bool,
}

impl GateChoice {
    /// Returns the gate; none if none is wanted.
    pub(crate) fn gate(&self, config: Option<&PathBuf>) -> anyhow::Result<Option<Gate>> {
        let Some(file) = &self.gate else {
            return Ok(None);
        };
        Ok(Some(Gate {
            allow_inconclusive: self.allow_inconclusive,
            ..config::gate(file.as_ref(), config)?
        }))
    }
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
    /// List the figures that limits can be about, and the rules
    Figures,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineSaveArguments {
    /// Runs: inputs of analyze, or report.json files
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Add the runs to those of the file, such as those of another day
    #[arg(long, conflicts_with = "force")]
    pub(crate) add: bool,
    /// Save the baseline with a warning, although its runs are far apart, drift or had two clocks
    #[arg(long)]
    pub(crate) allow_spread: bool,
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
