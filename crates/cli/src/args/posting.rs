//! The words of `pr`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const AFTER: &str = "\
FOLDER is what `analyze -o` or `compare -o` wrote. Its files are checked against its manifest.

The pull request: --repo and --number, else what GitHub's runner says in its environment, else the \
branch that is checked out here, as `gh` knows it. The token: GH_TOKEN, else GITHUB_TOKEN, else that \
of `gh`. It is never printed, written, or made an argument of another program.

Pictures take the first way that works, and which is said: attached by gh 2.99 or newer (a person's \
token), a branch `metalens-assets` (a token that may write contents), the job summary, text alone.

Exit codes: 0 posted, or in the job summary; 1 nothing could be posted; 2 no pull request or no token; \
3 there is no curl.";

#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct PrArguments {
    /// A folder that `analyze -o` or `compare -o` wrote
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// The repository
    #[arg(long, value_name = "OWNER/NAME")]
    pub(crate) repo: Option<String>,
    /// The pull request
    #[arg(long, value_name = "N")]
    pub(crate) number: Option<u64>,
    /// What the comment is called, so that a pull request can have several: a run updates the one
    /// of its key [default: from what it is and whom it is about]
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// How pictures get there
    #[arg(long, value_enum, default_value_t = ImagesChoice::Auto, value_name = "WAY")]
    pub(crate) images: ImagesChoice,
    /// The commit that was recorded [default: that of the pull request's workflow run]
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<String>,
    /// Where the folder was uploaded, for readers who want all of it
    #[arg(long, value_name = "URL")]
    pub(crate) artifact_url: Option<String>,
    /// Keep folders and other processes' names, which are left out
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Print what would be posted, and on stderr how; asks nobody and needs no token
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write it to a file
    #[arg(short, long, value_name = "FILE", requires = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite that file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// How pictures get to a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImagesChoice {
    /// The first of these that works
    Auto,
    /// Attached by gh, else as text
    Attach,
    /// On the branch metalens-assets, else as text
    Assets,
    /// The whole report in the job summary, the comment as text with a link to it
    Summary,
    /// Charts made of characters
    Text,
}
