//! Arguments of `metalens verify`.

use std::path::PathBuf;

use clap::Args;

use super::shared::nanoseconds;

#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 0 if no answer contradicts what metalens expects, and with 5 if one \
                  does. With --compare, exits with 5 if a cell differs."
)]
pub(crate) struct VerifyArguments {
    /// Experiments to run, separated by commas; --list lists them
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = ids())]
    #[arg(hide_possible_values = true)]
    pub(crate) only: Vec<String>,
    /// List the experiments, and run nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Compare the native reading of a bundle with its export, cell by cell, and run nothing
    #[arg(long, num_args = 2, value_names = ["BUNDLE", "EXPORT"])]
    #[arg(conflicts_with_all = ["only", "list", "simulate"])]
    pub(crate) compare: Option<Vec<PathBuf>>,
    /// Print the answers of these evidence files as a table, and run nothing
    #[arg(long, num_args = 1.., value_name = "FILE")]
    #[arg(conflicts_with_all = ["only", "list", "simulate", "compare"])]
    pub(crate) read: Option<Vec<PathBuf>>,
    /// Print that table as Markdown
    #[arg(long, requires = "read")]
    pub(crate) markdown: bool,
    /// Stop each recording after this time
    #[arg(long, value_name = "T", value_parser = nanoseconds, default_value = "20s")]
    pub(crate) time_limit: u64,
    /// Folder for evidence.json
    #[arg(short, long, value_name = "DIR", default_value = "metalens-verify")]
    pub(crate) output: PathBuf,
    /// Replace an evidence.json that exists
    #[arg(long)]
    pub(crate) force: bool,
    /// Use a fake xctrace, on any machine: tries the experiments, but says nothing about Apple's
    #[arg(long)]
    pub(crate) simulate: bool,
}

fn ids() -> clap::builder::PossibleValuesParser {
    let experiments = metalens_verify::EXPERIMENTS.iter();
    let ids: Vec<&'static str> = experiments.map(|experiment| experiment.id).collect();
    ids.into()
}
