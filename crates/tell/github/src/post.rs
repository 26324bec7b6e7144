//! Posts a comment, with its pictures on a branch if the token can write one.

mod comments;

use std::fs::OpenOptions;
use std::io::Write;

use metalens_failure::in_one_line;

use crate::assets::{ASSETS_BRANCH, ChartFile, PlacedChart, on_branch};
use crate::destination::{Destination, PullRequestRef};
use crate::error::{Error, Result, TextError};
use crate::gh::Gh;
use crate::pulls::PullRequest;
use comments::UpsertedComment;

/// Writes the texts to post.
pub trait PostTexts {
    /// Writes a comment with these pictures.
    fn comment(
        &self,
        commit: Option<&str>,
        pictures: &[PlacedChart<'_>],
    ) -> Result<String, TextError>;

    /// Writes a job summary. Earlier steps have already used `used` bytes of its space.
    fn summary(&self, commit: Option<&str>, used: u64) -> Result<String, TextError>;
}

/// A comment to post, with its charts.
pub struct Posting<'a> {
    /// Writer of the texts to post.
    pub texts: &'a dyn PostTexts,
    /// Key of the comment, which the user sees.
    pub key: &'a str,
    /// First words of the comment, which no other comment has.
    pub marker: String,
    /// Charts to put on the branch; without any, they are drawn as text.
    pub charts: &'a [ChartFile],
    /// Notes to report before the comment is posted.
    pub notes: &'a [String],
    /// Receives a line for each step.
    pub notify: &'a dyn Fn(&str),
}

/// The posting of one comment: its content, its destination, and the account that posts it.
pub(crate) struct PostSession<'a> {
    pub(crate) posting: &'a Posting<'a>,
    destination: &'a Destination,
    pub(crate) gh: &'a Gh<'a>,
    pub(crate) pull: PullRequest,
    /// Login of the account that posts.
    pub(crate) viewer: String,
}

/// Posts a comment and returns its address, or `None` if only the job summary was written.
///
/// # Errors
///
/// If nothing could be posted.
pub fn post(
    posting: &Posting<'_>,
    destination: &Destination,
    gh: &Gh<'_>,
) -> Result<Option<String>> {
    let viewer = viewer(gh, destination)?;
    let pull = pull_request(gh, destination)?;

    for note in posting.notes {
        (posting.notify)(&format!("note: {note}"));
    }
    if let Some(commit) = destination
        .environment
        .commit
        .as_deref()
        .filter(|commit| !pull.head.starts_with(*commit))
    {
        (posting.notify)(&format!(
            "note: {commit} was recorded, but the newest commit of #{} is {}",
            pull.number, pull.head
        ));
    }

    let session = PostSession {
        posting,
        destination,
        gh,
        pull,
        viewer,
    };
    session.post()
}

/// Returns the login of the token's account. The token of a workflow run belongs to GitHub's bot.
fn viewer(gh: &Gh<'_>, destination: &Destination) -> Result<String> {
    match gh.viewer() {
        Ok(viewer) => Ok(viewer),
        Err(Error::Refused { status: 403, .. } | Error::Unexpected { .. })
            if destination.environment.is_workflow =>
        {
            Ok("github-actions[bot]".to_owned())
        }
        Err(error) => Err(error.while_doing("cannot find out whose token it is")),
    }
}

fn pull_request(gh: &Gh<'_>, destination: &Destination) -> Result<PullRequest> {
    let repository = &destination.repository;
    let head = match &destination.pull_request {
        PullRequestRef::Number(number) => {
            return gh.pull_request(repository, *number).map_err(|error| {
                if error.is_not_found() {
                    Error::Misuse(format!(
                        "{repository} has no pull request #{number}, or the token may not see it"
                    ))
                } else {
                    error
                }
            });
        }
        PullRequestRef::Head(head) => head,
    };

    let mut found = gh.pull_requests_of(repository, head)?;
    match (found.pop(), found.as_slice()) {
        (Some(pull), []) => Ok(pull),
        (None, _) => Err(Error::Misuse(format!(
            "no open pull request of {repository} has {} of {}:{} as its newest commit: it was \
            closed, or has newer commits; choose one with --number N",
            head.commit, head.owner, head.branch
        ))),
        (Some(pull), more) => Err(Error::Misuse(format!(
            "#{} and {} more pull requests of {repository} have {} as their newest commit: choose \
             one with --number N",
            pull.number,
            more.len(),
            head.commit
        ))),
    }
}

impl PostSession<'_> {
    fn post(&self) -> Result<Option<String>> {
        let pictures = match self.upload() {
            Ok(pictures) => pictures,
            Err(error) => {
                (self.posting.notify)(&format!(
                    "pictures cannot be put on the branch {ASSETS_BRANCH}: {error}"
                ));
                Vec::new()
            }
        };

        let commit = self.destination.environment.commit.as_deref();
        let body = self.posting.texts.comment(commit, &pictures);
        let body = body.map_err(Error::Text)?;
        match self.upsert_comment(&body) {
            Ok(upserted) => Ok(Some(self.report_success(&pictures, upserted))),
            Err(error) if error.is_read_only() => self.only_in_summary(error),
            Err(error) => Err(error.while_doing("the comment was not posted")),
        }
    }

    /// Puts the charts on the branch, and returns their addresses there.
    fn upload(&self) -> Result<Vec<PlacedChart<'_>>> {
        let PullRequest {
            repository,
            is_private,
            ..
        } = &self.pull;
        for chart in self.posting.charts {
            self.gh.keep(repository, chart)?;
        }
        if *is_private && !self.posting.charts.is_empty() {
            let note = "note: the repository is private: only people with access see its pictures, \
                        and some browsers show none";
            (self.posting.notify)(note);
        }

        let server = &self.destination.environment.server;
        Ok(on_branch(
            self.posting.charts,
            server,
            &repository.to_string(),
        ))
    }

    /// Appends the report to the job summary, within the space that earlier steps left: GitHub
    /// drops a summary that is too long, without a message.
    fn summarize(&self) -> Result<(), String> {
        let file = self
            .destination
            .environment
            .summary
            .as_ref()
            .ok_or_else(|| "this is not a workflow run".to_owned())?;
        let used = std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        let commit = self.destination.environment.commit.as_deref();
        let text = self.posting.texts.summary(commit, used);
        let text = text.map_err(|error| in_one_line(error.as_ref()))?;

        let opened = OpenOptions::new().append(true).create(true).open(file);
        let written =
            opened.and_then(|mut summary| summary.write_all(format!("\n{text}\n").as_bytes()));
        written.map_err(|error| format!("cannot write the job summary: {error}"))
    }

    /// Handles a token that may only read, like that of a run on a pull request from a fork:
    /// the job summary is the only place left for the report.
    fn only_in_summary(&self, error: Error) -> Result<Option<String>> {
        let owner = if self.pull.is_from_fork {
            "a fork's pull request"
        } else {
            "this run"
        };

        match self.summarize() {
            Ok(()) => {
                let note = format!(
                    "the comment was not posted: the token of {owner} may only read ({error}). The \
                     report is in the job summary; a workflow on workflow_run may post it"
                );
                (self.posting.notify)(&note);
                Ok(None)
            }
            Err(why) => Err(error.while_doing(&format!(
                "nothing was posted: the token of {owner} may only read, and there is no job \
                 summary ({why}); give it `pull-requests: write`, or post from workflow_run"
            ))),
        }
    }

    /// Reports what was done and returns the comment's address.
    fn report_success(&self, pictures: &[PlacedChart<'_>], upserted: UpsertedComment) -> String {
        let place = if pictures.is_empty() {
            "charts are made of characters".to_owned()
        } else {
            format!("pictures are on the branch {ASSETS_BRANCH}")
        };
        (self.posting.notify)(&format!(
            "{} the comment {:?} on {}#{}; {place}",
            if upserted.is_new { "posted" } else { "updated" },
            self.posting.key,
            self.pull.repository,
            self.pull.number,
        ));

        for duplicate in &upserted.duplicates {
            (self.posting.notify)(&format!(
                "note: {} has the same key, because two runs overlapped; delete it",
                duplicate.url
            ));
        }

        upserted.comment.url
    }
}
