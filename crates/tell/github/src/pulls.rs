//! Reads pull requests, and the account that the token belongs to.

use serde::Deserialize;
use serde_json::json;

use crate::error::{Error, Result};
use crate::gh::{ApiRequest, Gh};
use crate::repository::Repository;

/// Facts about a pull request.
pub(crate) struct PullRequest {
    pub(crate) repository: Repository,
    pub(crate) number: u64,
    /// Newest commit of its branch.
    pub(crate) head: String,
    /// True if its branch is in another repository, or in one that was deleted.
    pub(crate) is_from_fork: bool,
    pub(crate) is_private: bool,
}

/// The commit of a workflow run, as GitHub reports it. A run itself cannot change these values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Owner of the repository with the branch.
    pub owner: String,
    /// Name of the branch.
    pub branch: String,
    /// Hash of the commit.
    pub commit: String,
}

#[derive(Deserialize)]
struct PullRequestAnswer {
    number: u64,
    head: PullRequestSide,
    base: PullRequestSide,
}

#[derive(Deserialize)]
struct PullRequestSide {
    sha: String,
    repo: Option<Repo>,
}

#[derive(Deserialize)]
struct Repo {
    full_name: String,
    #[serde(default)]
    private: bool,
}

impl PullRequestAnswer {
    /// Returns the facts. GitHub names the repository as it is now, also if it was asked by an
    /// earlier name.
    fn facts(self) -> Result<PullRequest> {
        let name = |repo: Option<Repo>| repo.map(|repo| repo.full_name);
        let is_private = self.base.repo.as_ref().is_some_and(|repo| repo.private);
        let (head, base) = (name(self.head.repo), name(self.base.repo));

        Ok(PullRequest {
            repository: Repository::parse(base.as_deref().unwrap_or(""))?,
            number: self.number,
            is_from_fork: head != base,
            is_private,
            head: self.head.sha,
        })
    }
}

impl Gh<'_> {
    /// Returns the pull request with this number.
    pub(crate) fn pull_request(&self, repository: &Repository, number: u64) -> Result<PullRequest> {
        let answer: PullRequestAnswer = self.get(repository.path(&format!("/pulls/{number}")))?;
        answer.facts()
    }

    /// Returns the open pull requests whose head is this commit.
    pub(crate) fn pull_requests_of(
        &self,
        repository: &Repository,
        head: &Head,
    ) -> Result<Vec<PullRequest>> {
        let branch = format!("{}:{}", head.owner, head.branch);
        let path = format!("/pulls?state=open&per_page=100&head={}", encoded(&branch));
        let mut answers: Vec<PullRequestAnswer> = self.get(repository.path(&path))?;

        answers.retain(|pull| pull.head.sha == head.commit);
        answers.into_iter().map(PullRequestAnswer::facts).collect()
    }

    /// Returns the login of the token's account. The request uses GraphQL, since REST answers it only
    /// for people, and not for apps.
    pub(crate) fn viewer(&self) -> Result<String> {
        let body = json!({ "query": "query { viewer { login } }" });
        let request = ApiRequest::new("POST", "graphql".to_owned(), Some(body));

        let answer: serde_json::Value = self.send(&request)?;
        let login = answer["data"]["viewer"]["login"].as_str();
        login.map(str::to_owned).ok_or_else(|| Error::Unexpected {
            request: request.summary(),
            why: "the answer names no account".to_owned(),
        })
    }
}

/// Percent-encodes a text as a part of an address.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_name_cannot_add_parameters() {
        assert_eq!(encoded("a:b/c&state=all"), "a%3Ab%2Fc%26state%3Dall");
        assert_eq!(encoded("ä b"), "%C3%A4%20b");
    }
}
