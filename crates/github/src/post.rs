//! Posting: down the ladder until the comment stands.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use metalens_failure::in_one_line;

use crate::client::Client;
use crate::comments::{Comment, Kept, Outcome};
use crate::error::{Error, NoText, Result};
use crate::gh::{Gh, GhVersion};
use crate::images::{self, Chart, ImagesChoice, PlacedChart, Way};
use crate::place::{Number, Place};
use crate::pulls::PullRequest;
use crate::secret::{Token, TokenKind};

/// Writes the texts that are posted. Links are a text and an address each.
pub trait Texts {
    /// Writes a comment with these pictures and further links.
    fn comment(
        &self,
        commit: Option<&str>,
        pictures: &[PlacedChart<'_>],
        links: &[(String, String)],
    ) -> Result<String, NoText>;

    /// Writes a job summary of which so many bytes are used already.
    fn summary(&self, commit: Option<&str>, used: u64) -> Result<String, NoText>;
}

/// A comment to be posted.
pub struct Posting<'a> {
    /// The writer of its texts.
    pub texts: &'a dyn Texts,
    /// The name of the comment.
    pub key: &'a str,
    /// The first words of the comment, which no other has.
    pub marker: String,
    /// The charts that it may show.
    pub charts: &'a [Chart],
    /// The folder that they are in.
    pub folder: &'a Path,
    /// The way in which they shall get there.
    pub images: ImagesChoice,
    /// Notes that are told besides.
    pub notes: &'a [String],
    /// Is told how it goes.
    pub tell: &'a dyn Fn(&str),
}

/// Whom we talk to, as whom, and about what.
struct Talk<'a> {
    posted: &'a Posting<'a>,
    place: &'a Place,
    client: &'a Client,
    token: &'a Token,
    pull: PullRequest,
    viewer: String,
}

/// Why a rung did not hold, or why nothing does.
enum Fall {
    /// The next one may.
    Next(String),
    /// The token may not write comments: none will.
    ReadOnly(Error),
    Never(Error),
}

impl From<Error> for Fall {
    fn from(error: Error) -> Self {
        Self::Never(error)
    }
}

/// Posts. Returns where it is, unless it is in the job summary alone.
///
/// # Errors
///
/// If nothing could be posted.
pub fn post(
    posted: &Posting<'_>,
    place: &Place,
    client: &Client,
    token: &Token,
) -> Result<Option<String>> {
    let viewer = viewer(client, token, place)?;
    let pull = pull_request(client, place)?;
    for note in posted.notes {
        (posted.tell)(&format!("note: {note}"));
    }
    if let Some(commit) = place
        .around
        .commit
        .as_deref()
        .filter(|commit| !pull.head.starts_with(*commit))
    {
        (posted.tell)(&format!(
            "note: #{} has moved on from {commit}, which was recorded, to {}",
            pull.number, pull.head
        ));
    }
    let talk = Talk {
        posted,
        place,
        client,
        token,
        pull,
        viewer,
    };
    let mut is_in_summary = false;
    for way in images::ladder(posted.images) {
        match talk.along(way, &mut is_in_summary) {
            Ok(kept) => return Ok(Some(talk.told(way, kept))),
            Err(Fall::Next(why)) => {
                (posted.tell)(&format!("pictures cannot be {}: {why}", rung(way)));
            }
            Err(Fall::Never(error)) => return Err(error),
            Err(Fall::ReadOnly(error)) => return talk.only_in_summary(error, is_in_summary),
        }
    }
    // The last rung is text, which only falls for good.
    Err(Error::NoWayLeft)
}

fn rung(way: Way) -> &'static str {
    match way {
        Way::Attach => "attached",
        Way::Assets => "put on the branch metalens-assets",
        Way::Summary => "referred to in the job summary",
        Way::Text => "text",
    }
}

/// As whom the token speaks. One that does not say is a workflow's.
fn viewer(client: &Client, token: &Token, place: &Place) -> Result<String> {
    match client.viewer() {
        Ok(viewer) => Ok(viewer),
        Err(Error::Refused { status: 403, .. } | Error::Unexpected { .. })
            if place.around.is_workflow && token.kind() == TokenKind::Installation =>
        {
            Ok("github-actions[bot]".to_owned())
        }
        Err(error) => Err(error.while_doing("the token does not say whose it is")),
    }
}

fn pull_request(client: &Client, place: &Place) -> Result<PullRequest> {
    let repository = &place.repository;
    let head = match &place.number {
        Number::Known(number) => {
            return client.pull_request(repository, *number).map_err(|error| {
                match error.is_not_found() {
                    true => Error::Misuse(format!(
                        "{repository} has no pull request #{number}, or none that the token may see"
                    )),
                    false => error,
                }
            });
        }
        Number::Of(head) => head,
    };
    let mut found = client.pull_requests_of(repository, head)?;
    match (found.pop(), found.as_slice()) {
        (Some(pull), []) => Ok(pull),
        (None, _) => Err(Error::Misuse(format!(
            "no open pull request of {repository} stands at {} of {}:{}: it was closed, or has moved \
             on; --number N names one",
            head.commit, head.owner, head.branch
        ))),
        (Some(pull), more) => Err(Error::Misuse(format!(
            "#{} and {} more pull requests of {repository} stand at {}: --number N names one",
            pull.number,
            more.len(),
            head.commit
        ))),
    }
}

impl Talk<'_> {
    fn along(&self, way: Way, is_in_summary: &mut bool) -> Result<Kept, Fall> {
        match way {
            Way::Attach => self.attach(),
            Way::Assets => self.assets(),
            Way::Summary => {
                self.summarize().map_err(Fall::Next)?;
                *is_in_summary = true;
                let run = self.place.around.run.clone();
                let link = run.map(|run| ("Job summary".to_owned(), run));
                self.keep(&self.body(&[], link.as_slice())?)
            }
            Way::Text => self.keep(&self.body(&[], &[])?),
        }
    }

    fn body(&self, pictures: &[PlacedChart<'_>], links: &[(String, String)]) -> Result<String> {
        let commit = self.place.around.commit.as_deref();
        let text = self.posted.texts.comment(commit, pictures, links);
        text.map_err(Error::Text)
    }

    fn keep(&self, body: &str) -> Result<Kept, Fall> {
        let at = (&self.place.repository, self.pull.number);
        let kept = self
            .client
            .keep_comment(at, &self.viewer, &self.posted.marker, body);
        kept.map_err(|error| match error.is_read_only() {
            true => Fall::ReadOnly(error),
            false => Fall::Never(error.while_doing("the comment was not posted")),
        })
    }

    fn assets(&self) -> Result<Kept, Fall> {
        let assets = images::assets(self.posted.charts);
        if assets.is_empty() {
            return Err(Fall::Next("the folder has none".to_owned()));
        }
        let repository = &self.place.repository;
        let commit = self.client.keep_assets(repository, &assets);
        let commit = commit.map_err(|error| Fall::Next(error.to_string()))?;
        if self.pull.is_private {
            let said = "note: the repository is private: its pictures show only to who may see it, \
                        and in some browsers not at all";
            (self.posted.tell)(said);
        }
        let name = repository.to_string();
        let at = (
            self.place.around.server.as_str(),
            name.as_str(),
            commit.as_str(),
        );
        self.keep(&self.body(&images::on_branch(self.posted.charts, at), &[])?)
    }

    /// `gh` makes a comment, or changes the last one of its user: it knows no others.
    fn attach(&self) -> Result<Kept, Fall> {
        let next = |why: String| Fall::Next(why);
        let gh = Gh::new(Some(self.token.clone()));
        self.can_attach(&gh).map_err(next)?;
        let (pictures, files) = images::attached(self.posted.charts);
        let at = (&self.place.repository, self.pull.number);
        let ours = self
            .client
            .ours(at, &self.viewer, &self.posted.marker)
            .map_err(|error| next(error.to_string()))?;
        let ours = ours.split_first();
        if let Some((oldest, _)) = ours {
            self.check_last(oldest).map_err(next)?;
        }
        let body = self.body(&pictures, &[])?;
        let folder = self.posted.folder;
        let attached = gh.comment(at, (&body, &files), ours.is_some(), folder);
        let attached = attached.map_err(|error| next(error.to_string()))?;
        let number = ours.map(|(oldest, _)| oldest.id).or(attached.comment);
        if let Some(failure) = attached.failure {
            return Err(next(format!("gh: {failure}")));
        }
        let number = number.ok_or_else(|| next("gh did not say where".to_owned()))?;
        let comment = self.client.comment(&self.place.repository, number);
        let comment = comment.map_err(|error| next(error.to_string()))?;
        self.check_attached(&comment, &files).map_err(next)?;
        match ours {
            Some((_, duplicates)) => Ok(Kept {
                comment,
                outcome: Outcome::Updated,
                duplicates: duplicates.to_vec(),
            }),
            None => {
                let kept = self
                    .client
                    .give_way(at, &self.viewer, &self.posted.marker, comment);
                kept.map_err(Fall::Never)
            }
        }
    }

    fn can_attach(&self, gh: &Gh) -> Result<(), String> {
        if self.posted.charts.is_empty() {
            return Err("the folder has none".to_owned());
        }
        let kind = Some(self.token.kind());
        if let Some(why) = images::cannot_attach(&self.place.api, kind) {
            return Err(why.to_owned());
        }
        let version = gh.version().map_err(|error| error.to_string())?;
        let GhVersion(major, minor) = version;
        match version >= GhVersion::FIRST_TO_ATTACH {
            true => Ok(()),
            false => Err(format!("gh is {major}.{minor}, and attaches from 2.99 on")),
        }
    }

    /// Whether `gh --edit-last` would change ours and no other.
    fn check_last(&self, ours: &Comment) -> Result<(), String> {
        let comments = self
            .client
            .comments(&self.place.repository, self.pull.number);
        let comments = comments.map_err(|error| error.to_string())?;
        let last = comments.iter().rev().find(|one| one.is_by(&self.viewer));
        match last.is_some_and(|last| last.id == ours.id) {
            true => Ok(()),
            false => Err(format!(
                "gh changes only the last comment of {}, and that is another",
                self.viewer
            )),
        }
    }

    fn check_attached(&self, comment: &Comment, files: &[String]) -> Result<(), String> {
        let body = comment.body.as_deref().unwrap_or("");
        if !comment.begins_with(&self.posted.marker) {
            return Err(format!("gh changed another comment than {}", comment.url));
        }
        match files
            .iter()
            .find(|file| body.contains(&format!("]({file})")))
        {
            Some(file) => Err(format!("gh left {file} where its address should be")),
            None => Ok(()),
        }
    }

    /// The whole report into the job summary, whose room all steps before us have not
    /// used: GitHub drops one that is too long, and says so nowhere.
    fn summarize(&self) -> Result<(), String> {
        let none = || "this is no workflow run".to_owned();
        let file = self.place.around.summary.as_ref().ok_or_else(none)?;
        let used = std::fs::metadata(file).map_or(0, |found| found.len());
        let commit = self.place.around.commit.as_deref();
        let text = self.posted.texts.summary(commit, used);
        let text = text.map_err(|error| in_one_line(error.as_ref()))?;
        let opened = OpenOptions::new().append(true).create(true).open(file);
        let written =
            opened.and_then(|mut summary| summary.write_all(format!("\n{text}\n").as_bytes()));
        written.map_err(|error| format!("the job summary cannot be written: {error}"))
    }

    /// A run on a pull request from a fork may read, and not write: what it has to say
    /// is in its job summary, or nowhere.
    fn only_in_summary(&self, error: Error, is_there: bool) -> Result<Option<String>> {
        let whose = if self.pull.is_from_fork {
            "a fork's pull request"
        } else {
            "this run"
        };
        let written = if is_there { Ok(()) } else { self.summarize() };
        match written {
            Ok(()) => {
                let said = format!(
                    "the comment was not posted: the token of {whose} may only read ({error}). The \
                     report is in the job summary; a workflow on workflow_run may post it"
                );
                (self.posted.tell)(&said);
                Ok(None)
            }
            Err(why) => Err(error.while_doing(&format!(
                "nothing was posted: the token of {whose} may only read, and there is no job \
                 summary ({why}); give it `pull-requests: write`, or post from workflow_run"
            ))),
        }
    }

    fn told(&self, way: Way, kept: Kept) -> String {
        let did = match kept.outcome {
            Outcome::Posted => "posted",
            Outcome::Updated => "updated",
        };
        let said = format!(
            "{did} the comment {:?} on {}#{}; pictures are {}",
            self.posted.key,
            self.place.repository,
            self.pull.number,
            way.says()
        );
        (self.posted.tell)(&said);
        for duplicate in &kept.duplicates {
            let said = format!(
                "note: {} is another comment of the same key, from runs that overtook each other; \
                 delete it",
                duplicate.url
            );
            (self.posted.tell)(&said);
        }
        kept.comment.url
    }
}
