//! Arguments of `pr`.

use std::path::PathBuf;

use clap::Args;
use metalens_github::DestinationRequest;

const AFTER: &str = "\
Examples:
  metalens pr report --dry-run --repo OWNER/NAME --number 7
  metalens pr report

FOLDER is the output of `analyze -o`, `compare -o` or `bench -o`. Its files are checked against its manifest.

The pull request is --repo and --number, else that of the GitHub workflow run, else that of the \
branch checked out here. `gh`, GitHub's own program, sends the requests, with GH_TOKEN, else \
GITHUB_TOKEN, else its login. The token is never printed, written to a file, or passed as an argument.

The picture is put on a branch `metalens-assets`, if the token can write contents; else it is drawn \
as text.

Exit codes: 0 posted, or in the job summary; 1 not posted; 2 no pull request or no token; 3 gh is \
missing; 5 a gate failed, 6 it is undecided (--check).";

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
    /// Draw charts as text, and put no picture on a branch
    #[arg(long)]
    pub(crate) text: bool,
    /// Recorded commit [default: that of the workflow run]
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<String>,
    /// Address of the uploaded folder, to link to
    #[arg(long, value_name = "URL")]
    pub(crate) artifact_url: Option<String>,
    /// Exit with 5 if a gate in the folder failed, with 6 if it is undecided, once the comment is posted
    #[arg(long)]
    pub(crate) check: bool,
    /// Show folders and names of other processes [default: leave them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Print the comment, and the requests on stderr; needs no network and no token
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the comment to a file
    #[arg(short, long, value_name = "FILE", requires = "dry_run")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

impl PrArguments {
    /// Returns the pull request, as far as it was named.
    pub(crate) fn place(&self) -> DestinationRequest {
        DestinationRequest {
            repository: self.repo.clone(),
            number: self.number,
            commit: self.commit.clone(),
        }
    }
}
