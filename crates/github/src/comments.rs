//! The one comment of ours on a pull request, kept up to date.
//!
//! It begins with a marker, and it is ours only if we wrote it: anybody may write a
//! comment that begins so, and a token that may write may change everybody's.

use serde::Deserialize;
use serde_json::json;

use crate::address::Repository;
use crate::client::Client;
use crate::curl::{Method, Request};
use crate::error::{Error, Result};

/// A comment on a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Comment {
    /// Its number.
    pub id: u64,
    /// Its page.
    #[serde(default, rename = "html_url")]
    pub url: String,
    /// What it says.
    #[serde(default)]
    pub body: Option<String>,
    /// Who wrote it; nobody once the account is gone.
    pub user: Option<Author>,
}

/// Who wrote a comment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Author {
    /// The account.
    pub login: String,
    /// `User` or `Bot`.
    #[serde(default, rename = "type")]
    pub kind: String,
}

/// What became of the comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The comment.
    pub comment: Comment,
    /// How it came to be.
    pub outcome: Outcome,
    /// Others of ours with the same marker, from runs that overtook each other.
    pub duplicates: Vec<Comment>,
}

/// How a comment came to say what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is new.
    Posted,
    /// It was there.
    Updated,
}

impl Comment {
    /// Whether `viewer` wrote it. GraphQL may call an app without the `[bot]` that REST
    /// adds; a person may have that name too.
    #[must_use]
    pub fn is_by(&self, viewer: &str) -> bool {
        self.user.as_ref().is_some_and(|author| {
            let app = author.login.strip_suffix("[bot]");
            author.login == viewer || (author.kind == "Bot" && app == Some(viewer))
        })
    }

    /// Whether it begins with a marker.
    #[must_use]
    pub fn begins_with(&self, marker: &str) -> bool {
        let body = self.body.as_deref().unwrap_or("");
        body.trim_start().starts_with(marker)
    }
}

impl Client {
    /// All comments on a pull request, the oldest first.
    ///
    /// # Errors
    ///
    /// If they cannot be asked for.
    pub fn comments(&self, repository: &Repository, number: u64) -> Result<Vec<Comment>> {
        let path = format!("/issues/{number}/comments?per_page=100");
        let mut comments: Vec<Comment> = self.list(&repository.path(&path))?;
        comments.sort_by_key(|comment| comment.id);
        Ok(comments)
    }

    /// One comment.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn comment(&self, repository: &Repository, id: u64) -> Result<Comment> {
        let path = repository.path(&format!("/issues/comments/{id}"));
        self.get(&path)?.json(&path)
    }

    /// The oldest of ours with the marker says `body` from now on; if there is none, a
    /// new one does. Never are there two of them afterwards that were one before.
    ///
    /// # Errors
    ///
    /// If it is refused.
    pub fn keep_comment(
        &self,
        (repository, number): (&Repository, u64),
        viewer: &str,
        marker: &str,
        body: &str,
    ) -> Result<Kept> {
        let ours = self.ours((repository, number), viewer, marker)?;
        if let [oldest, duplicates @ ..] = ours.as_slice() {
            return Ok(Kept {
                comment: self.edit(repository, oldest.id, body)?,
                outcome: Outcome::Updated,
                duplicates: duplicates.to_vec(),
            });
        }
        let made = self.post_once((repository, number), viewer, marker, body)?;
        self.give_way((repository, number), viewer, marker, made)
    }

    /// Another run may have posted at the same moment. The oldest stays: the comment
    /// that this run has just made makes way for it, and is taken away.
    ///
    /// # Errors
    ///
    /// If the comments cannot be asked for, or the older one cannot be changed.
    pub fn give_way(
        &self,
        (repository, number): (&Repository, u64),
        viewer: &str,
        marker: &str,
        made: Comment,
    ) -> Result<Kept> {
        let mut ours = self.ours((repository, number), viewer, marker)?;
        ours.retain(|one| one.id != made.id);
        let (older, mut duplicates): (Vec<_>, Vec<_>) =
            ours.into_iter().partition(|one| one.id < made.id);
        let Some((oldest, rest)) = older.split_first() else {
            return Ok(Kept {
                comment: made,
                outcome: Outcome::Posted,
                duplicates,
            });
        };
        let body = made.body.clone().unwrap_or_default();
        let comment = self.edit(repository, oldest.id, &body)?;
        duplicates.extend_from_slice(rest);
        if self.delete(repository, made.id).is_err() {
            duplicates.push(made);
        }
        Ok(Kept {
            comment,
            outcome: Outcome::Updated,
            duplicates,
        })
    }

    /// Ours with the marker, the oldest first.
    ///
    /// # Errors
    ///
    /// If the comments cannot be asked for.
    pub fn ours(
        &self,
        (repository, number): (&Repository, u64),
        viewer: &str,
        marker: &str,
    ) -> Result<Vec<Comment>> {
        let mut comments = self.comments(repository, number)?;
        comments.retain(|one| one.is_by(viewer) && one.begins_with(marker));
        Ok(comments)
    }

    /// Posts, once: where no answer comes it is looked up whether it was posted.
    fn post_once(
        &self,
        (repository, number): (&Repository, u64),
        viewer: &str,
        marker: &str,
        body: &str,
    ) -> Result<Comment> {
        const ATTEMPTS: usize = 3;
        let path = repository.path(&format!("/issues/{number}/comments"));
        let request = Request {
            is_repeatable: false,
            ..self.request(Method::Post, &path, Some(json!({ "body": body })))
        };
        let mut attempt = 1;
        loop {
            let posted = self.send(&request);
            let failure = match posted.and_then(|answer| answer.json(&request.asked())) {
                Ok(comment) => return Ok(comment),
                Err(error) if !error.may_be_done() => return Err(error),
                Err(error) => error,
            };
            let ours = self.ours((repository, number), viewer, marker)?;
            if let Some(comment) = ours.into_iter().next() {
                return match comment.body.as_deref() == Some(body) {
                    true => Ok(comment),
                    false => self.edit(repository, comment.id, body),
                };
            }
            if attempt == ATTEMPTS {
                return Err(failure);
            }
            attempt += 1;
        }
    }

    fn edit(&self, repository: &Repository, id: u64, body: &str) -> Result<Comment> {
        let path = repository.path(&format!("/issues/comments/{id}"));
        let request = self.request(Method::Patch, &path, Some(json!({ "body": body })));
        self.send(&request)?.json(&request.asked())
    }

    /// Of what this run has made itself, never of anything else.
    fn delete(&self, repository: &Repository, id: u64) -> Result<()> {
        let path = repository.path(&format!("/issues/comments/{id}"));
        let deleted = self.send(&self.request(Method::Delete, &path, None));
        match deleted {
            Err(error) if !matches!(&error, Error::Refused { status: 404, .. }) => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_comment_is() {
        let check = |login: &str, kind: &str, viewer: &str, expected: bool| {
            let comment = Comment {
                id: 1,
                url: String::new(),
                body: None,
                user: Some(Author {
                    login: login.to_owned(),
                    kind: kind.to_owned(),
                }),
            };
            assert_eq!(comment.is_by(viewer), expected, "{login} {kind} {viewer}");
        };
        check("octocat", "User", "octocat", true);
        check("github-actions[bot]", "Bot", "github-actions[bot]", true);
        check("github-actions[bot]", "Bot", "github-actions", true);
        check("github-actions", "User", "github-actions[bot]", false);
        check("mallory", "User", "octocat", false);
    }
}
