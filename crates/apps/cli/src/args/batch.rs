//! Arguments of `metalens batch`.

use std::path::PathBuf;

use clap::Args;

use super::shared::{AnalysisArguments, RecordingGate};

const AFTER_BATCH: &str = "\
Examples:
  metalens batch runs -o reports
  metalens batch 'nightly/*.trace' --parquet fleet

PATH is a folder to search, a .trace bundle, an export, a .zip, a table, or a pattern such as \
'runs/*.trace'. Hidden folders, bundles and exports are not searched.

DIR gets a folder for each recording, with what `analyze -o` writes but the charts, and an index: \
index.html, index.md, index.json, index.csv. In CSV, text that a spreadsheet would run as a formula gets a leading '; JSON has it \
unchanged. The next run analyzes only what changed: an input's size or time, the options, or metalens.

Only recordings of the same work are compared: one program on one GPU that ran the same kernels \
the same number of times, in the same number of command buffers. A bundle and its export count once.

Exit codes: 0 success, 1 an input failed (the others are done), 5 a limit failed (--gate), \
130 interrupted: complete reports, and an index of them.";

#[derive(Debug, Args)]
#[command(after_help = AFTER_BATCH)]
pub(crate) struct BatchArguments {
    /// Folders, .trace bundles, exports, .zip, tables, patterns
    #[arg(required = true, value_name = "PATH")]
    pub(crate) inputs: Vec<PathBuf>,
    /// Folder to write, or to continue
    #[arg(short, long, value_name = "DIR", default_value = "reports")]
    pub(crate) output: PathBuf,
    /// Recordings to analyze at once [default: the number of processors, at most 4]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
    /// Add each run to a dataset in this folder: Parquet files for SQL engines and `query`
    #[arg(long, value_name = "DIR")]
    pub(crate) parquet: Option<PathBuf>,
    /// Draw the charts of each recording, too
    #[arg(long)]
    pub(crate) charts: bool,
    /// Print the index as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show names of other processes and the inputs' folders in pages and charts [default: leave
    /// them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Replace files in DIR that metalens did not write, or that changed since
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) gate: RecordingGate,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

fn jobs(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "a number of recordings is 1 or more".to_owned())
}
