//! Posts a comment: tries one upload method after another until one works.

use std::fs::OpenOptions;
use std::io::Write;

use metalens_failure::in_one_line;

use crate::checks::CheckRun;
use crate::client::Client;
use crate::comments::{CommentAction, UpsertedComment};
use crate::destination::{Destination, PullRequestRef};
use crate::error::{Error, Result, TextError};
use crate::images::{self, ChartFile, ImagesChoice, PlacedChart, UploadMethod};
use crate::pulls::PullRequest;
use crate::secret::Token;

/// Writes the texts to post. A link is a text and an address.
pub trait PostTexts {
    /// Writes a comment with these pictures and further links.
    fn comment(
        &self,
        commit: Option<&str>,
        pictures: &[PlacedChart<'_>],
        links: &[(String, String)],
    ) -> Result<String, TextError>;

    /// Writes a job summary. Earlier steps have already used `used` bytes of its space.
    fn summary(&self, commit: Option<&str>, used: u64) -> Result<String, TextError>;
}

/// A comment to post, with its charts and its check run.
pub struct Posting<'a> {
    /// Writer of the texts to post.
    pub texts: &'a dyn PostTexts,
    /// Key of the comment, which the user sees.
    pub key: &'a str,
    /// First words of the comment, which no other comment has.
    pub marker: String,
    /// Charts that the comment may show.
    pub charts: &'a [ChartFile],
    /// Upload method that the user chose.
    pub images: ImagesChoice,
    /// A verdict to write on the recorded commit, once the comment is posted.
    pub check: Option<&'a CheckRun>,
    /// Notes to report before the comment is posted.
    pub notes: &'a [String],
    /// Receives a line for each step.
    pub notify: &'a dyn Fn(&str),
}

/// The posting of one comment: its content, its destination, and the account that posts it.
struct PostSession<'a> {
    posting: &'a Posting<'a>,
    destination: &'a Destination,
    client: &'a Client,
    pull: PullRequest,
    viewer: String,
}

/// The reason why an upload method failed.
enum MethodFailure {
    /// The next method may work.
    TryNext(String),
    /// The token may not write comments, so that no method will work.
    ReadOnly(Error),
    /// Any other error, after which every method would fail.
    Fatal(Error),
}

impl From<Error> for MethodFailure {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

/// Reason for skipping the methods that need pictures.
const NO_PICTURES: &str = "the folder has no pictures";

/// Posts a comment and returns its address, or `None` if only the job summary was written.
///
/// # Errors
///
/// If nothing could be posted.
pub fn post(
    posting: &Posting<'_>,
    destination: &Destination,
    client: &Client,
    token: &Token,
) -> Result<Option<String>> {
    let viewer = viewer(client, token, destination)?;
    let pull = pull_request(client, destination)?;

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
        client,
        pull,
        viewer,
    };

    let mut is_in_summary = false;
    for method in images::methods(posting.images) {
        match session.try_method(method, &mut is_in_summary) {
            Ok(upserted) => {
                let url = session.report_success(method, upserted);
                session.write_check_run(&url);
                return Ok(Some(url));
            }
            Err(MethodFailure::TryNext(why)) => {
                (posting.notify)(&format!("pictures cannot be {}: {why}", participle(method)));
            }
            Err(MethodFailure::Fatal(error)) => return Err(error),
            Err(MethodFailure::ReadOnly(error)) => {
                return session.only_in_summary(error, is_in_summary);
            }
        }
    }

    // Not reached: the last method is text, whose failures are never `TryNext`.
    Err(Error::NoWayLeft)
}

/// Returns the method as the end of the sentence "pictures cannot be …".
fn participle(method: UploadMethod) -> &'static str {
    match method {
        UploadMethod::Assets => "put on the branch metalens-assets",
        UploadMethod::Summary => "shown in the job summary",
        UploadMethod::Text => "drawn as text",
    }
}

/// Returns the login of the token's account. The token of a workflow run belongs to GitHub's bot.
fn viewer(client: &Client, token: &Token, destination: &Destination) -> Result<String> {
    match client.viewer() {
        Ok(viewer) => Ok(viewer),
        Err(Error::Refused { status: 403, .. } | Error::Unexpected { .. })
            if destination.environment.is_workflow && token.is_of_installation() =>
        {
            Ok("github-actions[bot]".to_owned())
        }
        Err(error) => Err(error.while_doing("cannot find out whose token it is")),
    }
}

fn pull_request(client: &Client, destination: &Destination) -> Result<PullRequest> {
    let repository = &destination.repository;
    let head = match &destination.pull_request {
        PullRequestRef::Number(number) => {
            return client.pull_request(repository, *number).map_err(|error| {
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

    let mut found = client.pull_requests_of(repository, head)?;
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
    fn try_method(
        &self,
        method: UploadMethod,
        is_in_summary: &mut bool,
    ) -> Result<UpsertedComment, MethodFailure> {
        match method {
            UploadMethod::Assets => self.upload_to_branch(),
            UploadMethod::Summary => {
                self.summarize().map_err(MethodFailure::TryNext)?;
                *is_in_summary = true;

                let run = self.destination.environment.run.clone();
                let link = run.map(|run| ("Job summary".to_owned(), run));
                self.upsert(&self.body(&[], link.as_slice())?)
            }
            UploadMethod::Text => self.upsert(&self.body(&[], &[])?),
        }
    }

    fn body(&self, pictures: &[PlacedChart<'_>], links: &[(String, String)]) -> Result<String> {
        let commit = self.destination.environment.commit.as_deref();
        let text = self.posting.texts.comment(commit, pictures, links);
        text.map_err(Error::Text)
    }

    fn upsert(&self, body: &str) -> Result<UpsertedComment, MethodFailure> {
        let at = (&self.destination.repository, self.pull.number);
        let upserted = self
            .client
            .upsert_comment(at, &self.viewer, &self.posting.marker, body);

        upserted.map_err(|error| {
            if error.is_read_only() {
                MethodFailure::ReadOnly(error)
            } else {
                MethodFailure::Fatal(error.while_doing("the comment was not posted"))
            }
        })
    }

    fn upload_to_branch(&self) -> Result<UpsertedComment, MethodFailure> {
        let assets = images::assets(self.posting.charts);
        if assets.is_empty() {
            return Err(MethodFailure::TryNext(NO_PICTURES.to_owned()));
        }

        let repository = &self.destination.repository;
        let commit = self.client.keep_assets(repository, &assets);
        let commit = commit.map_err(|error| MethodFailure::TryNext(error.to_string()))?;
        if self.pull.is_private {
            let note = "note: the repository is private: only people with access see its pictures, \
                        and some browsers show none";
            (self.posting.notify)(note);
        }

        let name = repository.to_string();
        let at = (
            self.destination.environment.server.as_str(),
            name.as_str(),
            commit.as_str(),
        );
        self.upsert(&self.body(&images::on_branch(self.posting.charts, at), &[])?)
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
    fn only_in_summary(&self, error: Error, is_there: bool) -> Result<Option<String>> {
        let owner = if self.pull.is_from_fork {
            "a fork's pull request"
        } else {
            "this run"
        };

        let written = if is_there { Ok(()) } else { self.summarize() };
        match written {
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

    /// Writes the check run on the recorded commit, else on the newest commit. If the token may not
    /// write one, only a note says so: the comment has the verdict too.
    fn write_check_run(&self, comment: &str) {
        let Some(run) = self.posting.check else {
            return;
        };

        let recorded = self.destination.environment.commit.as_deref();
        let is_whole = |commit: &&str| commit.len() == self.pull.head.len();
        let commit = recorded.filter(is_whole).unwrap_or(&self.pull.head);

        let repository = &self.destination.repository;
        let note = match self
            .client
            .write_check_run(repository, commit, run, comment)
        {
            Ok(url) => format!("wrote the check run {url}"),
            Err(error) => format!(
                "no check run was written: it needs the token of a workflow with `checks: write` \
                 ({error})"
            ),
        };
        (self.posting.notify)(&note);
    }

    /// Reports what was done and returns the comment's address.
    fn report_success(&self, method: UploadMethod, upserted: UpsertedComment) -> String {
        let action = match upserted.action {
            CommentAction::Posted => "posted",
            CommentAction::Updated => "updated",
        };

        (self.posting.notify)(&format!(
            "{action} the comment {:?} on {}#{}; pictures are {}",
            self.posting.key,
            self.destination.repository,
            self.pull.number,
            method.outcome()
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
