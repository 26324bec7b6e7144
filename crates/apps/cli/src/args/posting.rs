//! Arguments of `pr`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const AFTER: &str = "\
FOLDER is the output of `analyze -o`, `compare -o` or `bench -o`. Its files are checked against its manifest.

The pull request is --repo and --number, else that of the GitHub workflow run, else that of the \
branch checked out here, as `gh` knows it. The token is GH_TOKEN, else GITHUB_TOKEN, else that of \
`gh`. It is never printed, written to a file, or passed as an argument.

Charts use the first method that works: a branch `metalens-assets` (a token that can write \
contents), the job summary, or text.

Exit codes: 0 posted, or in the job summary; 1 not posted; 2 no pull request or no token; 3 curl is \
missing; 5 a gate failed (--check).";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct PrArguments {
    /// Output folder of `analyze -o`, `compare -o` or `bench -o`
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Repository of the pull request
    #[arg(long, value_name = "OWNER/NAME")]
    pub(crate) repo: Option<String>,
    /// Number of the pull request
    #[arg(long, value_name = "N")]
    pub(crate) number: Option<u64>,
    /// Key of the comment: a pull request has one comment per key, which the next run updates
    /// [default: made from the kind of report and the process]
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Method to show charts
    #[arg(long, value_enum, default_value_t = ImagesChoice::Auto, value_name = "WAY")]
    pub(crate) images: ImagesChoice,
    /// Recorded commit [default: that of the workflow run]
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<String>,
    /// Address of the uploaded folder, to link to
    #[arg(long, value_name = "URL")]
    pub(crate) artifact_url: Option<String>,
    /// Write the gate's verdict as a check run, too, if the token allows it; with a file of limits,
    /// as a path in the repository, annotate the lines of those that failed
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "FILE")]
    #[expect(clippy::option_option, reason = "with a value, without one, or absent")]
    pub(crate) check_run: Option<Option<PathBuf>>,
    /// Exit with 5 if a gate in the folder failed, once the comment is posted
    #[arg(long)]
    pub(crate) check: bool,
    /// Show folders and names of other processes [default: leave them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Print the comment, and the method on stderr; needs no network and no token
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the comment to a file
    #[arg(short, long, value_name = "FILE", requires = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Method to show charts on a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImagesChoice {
    /// First method that works
    Auto,
    /// Files on the branch metalens-assets, else as text
    Assets,
    /// Report in the job summary, and a comment of text with a link
    Summary,
    /// Charts made of characters
    Text,
}
