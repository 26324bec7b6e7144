//! Keeps one comment of ours on a pull request up to date.
//!
//! The comment begins with a marker, and it is ours only if our account wrote it: anyone can
//! write a comment with that marker, and a token that may write can change all comments.

use serde::Deserialize;
use serde_json::json;

use crate::address::Repository;
use crate::client::Client;
use crate::curl::{ApiRequest, Method};
use crate::error::{Error, Result};

/// A comment on a pull request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Comment {
    /// Number of the comment in the API.
    pub id: u64,
    /// Address of the comment's page.
    #[serde(default, rename = "html_url")]
    pub url: String,
    /// Text of the comment, as Markdown.
    #[serde(default)]
    pub body: Option<String>,
    /// Account that wrote the comment, or `None` if it was deleted.
    pub user: Option<Author>,
}

/// The account that wrote a comment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Author {
    /// Login name of the account.
    pub login: String,
    /// Type of the account: `User` or `Bot`.
    #[serde(default, rename = "type")]
    pub kind: String,
}

/// Result of posting or updating our comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpsertedComment {
    /// The comment after the change.
    pub comment: Comment,
    /// Change that was made: a new comment or an update.
    pub action: CommentAction,
    /// Other comments of ours with the same marker, from runs that overlapped.
    pub duplicates: Vec<Comment>,
}

/// The change that was made to a pull request's comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommentAction {
    /// A new comment was posted.
    Posted,
    /// An existing comment was updated.
    Updated,
}

impl Comment {
    /// Returns whether the account `viewer` wrote the comment. GraphQL may name an app without the
    /// `[bot]` that REST adds, and a person may have that name too.
    #[must_use]
    pub fn is_by(&self, viewer: &str) -> bool {
        self.user.as_ref().is_some_and(|author| {
            let app = author.login.strip_suffix("[bot]");
            author.login == viewer || (author.kind == "Bot" && app == Some(viewer))
        })
    }

    /// Returns whether the comment's text begins with a marker.
    #[must_use]
    pub fn begins_with(&self, marker: &str) -> bool {
        let body = self.body.as_deref().unwrap_or("");
        body.trim_start().starts_with(marker)
    }
}

impl Client {
    /// Returns all comments on a pull request, the oldest first.
    ///
    /// # Errors
    ///
    /// If the list cannot be read.
    pub fn comments(&self, repository: &Repository, number: u64) -> Result<Vec<Comment>> {
        let path = format!("/issues/{number}/comments?per_page=100");
        let mut comments: Vec<Comment> = self.list(&repository.path(&path))?;
        comments.sort_by_key(|comment| comment.id);
        Ok(comments)
    }

    /// Replaces the text of our oldest comment with the marker, or posts a new comment if
    /// there is none. Two runs at once leave one comment.
    ///
    /// # Errors
    ///
    /// If GitHub refuses.
    pub fn upsert_comment(
        &self,
        (repository, number): (&Repository, u64),
        viewer: &str,
        marker: &str,
        body: &str,
    ) -> Result<UpsertedComment> {
        let ours = self.our_comments((repository, number), viewer, marker)?;
        if let [oldest, duplicates @ ..] = ours.as_slice() {
            return Ok(UpsertedComment {
                comment: self.edit(repository, oldest.id, body)?,
                action: CommentAction::Updated,
                duplicates: duplicates.to_vec(),
            });
        }

        let made = self.post_once((repository, number), viewer, marker, body)?;
        self.merge_into_oldest((repository, number), viewer, marker, made)
    }

    /// Resolves a race with other runs that posted at the same moment: the oldest comment
    /// gets the text of the comment that this run has just posted, which is then deleted.
    ///
    /// # Errors
    ///
    /// If the comments cannot be read, or the older one cannot be changed.
    fn merge_into_oldest(
        &self,
        (repository, number): (&Repository, u64),
        viewer: &str,
        marker: &str,
        made: Comment,
    ) -> Result<UpsertedComment> {
        let mut ours = self.our_comments((repository, number), viewer, marker)?;
        ours.retain(|comment| comment.id != made.id);
        let (older, mut duplicates): (Vec<_>, Vec<_>) =
            ours.into_iter().partition(|comment| comment.id < made.id);

        let Some((oldest, rest)) = older.split_first() else {
            return Ok(UpsertedComment {
                comment: made,
                action: CommentAction::Posted,
                duplicates,
            });
        };

        let body = made.body.clone().unwrap_or_default();
        let comment = self.edit(repository, oldest.id, &body)?;
        duplicates.extend_from_slice(rest);
        if self.delete(repository, made.id).is_err() {
            duplicates.push(made);
        }

        Ok(UpsertedComment {
            comment,
            action: CommentAction::Updated,
            duplicates,
        })
    }

    /// Returns our comments with the marker, the oldest first.
    ///
    /// # Errors
    ///
    /// If the comments cannot be read.
    fn our_comments(
        &self,
        (repository, number): (&Repository, u64),
        viewer: &str,
        marker: &str,
    ) -> Result<Vec<Comment>> {
        let mut comments = self.comments(repository, number)?;
        comments.retain(|comment| comment.is_by(viewer) && comment.begins_with(marker));
        Ok(comments)
    }

    /// Posts a comment once: without an answer, it checks whether the comment was posted.
    fn post_once(
        &self,
        (repository, number): (&Repository, u64),
        viewer: &str,
        marker: &str,
        body: &str,
    ) -> Result<Comment> {
        const ATTEMPTS: usize = 3;

        let path = repository.path(&format!("/issues/{number}/comments"));
        let request = ApiRequest {
            is_repeatable: false,
            ..self.request(Method::Post, &path, Some(json!({ "body": body })))
        };

        let mut attempt = 1;
        loop {
            let posted = self.send(&request);
            let failure = match posted.and_then(|answer| answer.json(&request.summary())) {
                Ok(comment) => return Ok(comment),
                Err(error) if !error.may_be_done() => return Err(error),
                Err(error) => error,
            };

            let ours = self.our_comments((repository, number), viewer, marker)?;
            if let Some(comment) = ours.into_iter().next() {
                return if comment.body.as_deref() == Some(body) {
                    Ok(comment)
                } else {
                    self.edit(repository, comment.id, body)
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
        self.send(&request)?.json(&request.summary())
    }

    /// Deletes a comment that this run posted itself.
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
    fn a_comment_belongs_to_its_author() {
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
