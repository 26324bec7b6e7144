//! Keeps one comment of ours on a pull request up to date.
//!
//! The comment begins with a marker, and it is ours only if our account wrote it: anyone can
//! write a comment with that marker, and a token that may write can change all comments.

use serde::Deserialize;
use serde_json::json;

use crate::error::Result;
use crate::gh::ApiRequest;

use super::PostSession;

/// A comment on a pull request.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Comment {
    /// Number of the comment in the API.
    pub(crate) id: u64,
    /// Address of the comment's page.
    #[serde(default, rename = "html_url")]
    pub(crate) url: String,
    /// Text of the comment, as Markdown.
    #[serde(default)]
    body: Option<String>,
    /// Account that wrote the comment, or `None` if it was deleted.
    user: Option<Author>,
}

/// The account that wrote a comment.
#[derive(Debug, Clone, Deserialize)]
struct Author {
    /// Login name of the account.
    login: String,
    /// Type of the account: `User` or `Bot`.
    #[serde(default, rename = "type")]
    kind: String,
}

/// Result of posting or updating our comment.
pub(crate) struct UpsertedComment {
    /// The comment after the change.
    pub(crate) comment: Comment,
    /// True if the comment is new.
    pub(crate) is_new: bool,
    /// Other comments of ours with the same marker, from runs that overlapped.
    pub(crate) duplicates: Vec<Comment>,
}

impl Comment {
    /// Returns whether the account `viewer` wrote the comment. GraphQL may name an app without the
    /// `[bot]` that REST adds, and a person may have that name too.
    fn is_by(&self, viewer: &str) -> bool {
        self.user.as_ref().is_some_and(|author| {
            let app = author.login.strip_suffix("[bot]");
            author.login == viewer || (author.kind == "Bot" && app == Some(viewer))
        })
    }

    /// Returns whether the comment's text begins with a marker.
    fn begins_with(&self, marker: &str) -> bool {
        let body = self.body.as_deref().unwrap_or("");
        body.trim_start().starts_with(marker)
    }
}

impl PostSession<'_> {
    /// Replaces the text of our oldest comment with the marker, or posts a new comment if there is
    /// none.
    pub(crate) fn upsert_comment(&self, body: &str) -> Result<UpsertedComment> {
        let mut ours = self.our_comments()?.into_iter();
        let (comment, is_new) = match ours.next() {
            Some(oldest) => (self.edit(oldest.id, body)?, false),
            None => (self.post_once(body)?, true),
        };
        Ok(UpsertedComment {
            comment,
            is_new,
            duplicates: ours.collect(),
        })
    }

    /// Returns our comments with the marker, the oldest first.
    fn our_comments(&self) -> Result<Vec<Comment>> {
        let mut comments: Vec<Comment> = self.gh.list(&self.comments_path())?;
        comments.sort_by_key(|comment| comment.id);
        let marker = &self.posting.marker;
        comments.retain(|comment| comment.is_by(&self.viewer) && comment.begins_with(marker));
        Ok(comments)
    }

    fn comments_path(&self) -> String {
        let rest = format!("/issues/{}/comments", self.pull.number);
        self.pull.repository.path(&rest)
    }

    /// Posts a comment once: without an answer, it checks whether the comment was posted.
    fn post_once(&self, body: &str) -> Result<Comment> {
        const ATTEMPTS: usize = 3;

        let body_of_request = Some(json!({ "body": body }));
        let request = ApiRequest {
            is_repeatable: false,
            ..ApiRequest::new("POST", self.comments_path(), body_of_request)
        };

        let mut attempt = 1;
        loop {
            let failure = match self.gh.send(&request) {
                Err(error) if error.may_be_done() => error,
                sent => return sent,
            };

            if let Some(comment) = self.our_comments()?.into_iter().next() {
                return if comment.body.as_deref() == Some(body) {
                    Ok(comment)
                } else {
                    self.edit(comment.id, body)
                };
            }

            if attempt == ATTEMPTS {
                return Err(failure);
            }
            attempt += 1;
        }
    }

    fn edit(&self, id: u64, body: &str) -> Result<Comment> {
        let path = format!("/issues/comments/{id}");
        let path = self.pull.repository.path(&path);
        let body = Some(json!({ "body": body }));
        self.gh.send(&ApiRequest::new("PATCH", path, body))
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
