//! Reads pull requests, and the account that the token belongs to.

use serde::Deserialize;
use serde_json::json;

use crate::address::Repository;
use crate::client::Client;
use crate::curl::{ApiRequest, Method};
use crate::error::{Error, Result};

/// Facts about a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Number of the pull request.
    pub number: u64,
    /// Address of the pull request's page.
    pub url: String,
    /// Newest commit of its branch.
    pub head: String,
    /// True if its branch is in another repository, or in one that was deleted.
    pub is_from_fork: bool,
    /// True if its repository is private.
    pub is_private: bool,
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
    #[serde(default)]
    html_url: String,
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

impl From<PullRequestAnswer> for PullRequest {
    fn from(answer: PullRequestAnswer) -> Self {
        let (head, base) = (&answer.head.repo, &answer.base.repo);
        let name = |repo: &Option<Repo>| repo.as_ref().map(|repo| repo.full_name.clone());

        Self {
            number: answer.number,
            url: answer.html_url,
            is_from_fork: name(head) != name(base),
            is_private: base.as_ref().is_some_and(|repo| repo.private),
            head: answer.head.sha,
        }
    }
}

impl Client {
    /// Returns the pull request with this number.
    ///
    /// # Errors
    ///
    /// If it does not exist, or the token may not see it.
    pub fn pull_request(&self, repository: &Repository, number: u64) -> Result<PullRequest> {
        let path = repository.path(&format!("/pulls/{number}"));
        let answer: PullRequestAnswer = self.get(&path)?.json(&path)?;
        Ok(answer.into())
    }

    /// Returns the open pull requests whose head is this commit.
    ///
    /// # Errors
    ///
    /// If the list cannot be read.
    pub fn pull_requests_of(
        &self,
        repository: &Repository,
        head: &Head,
    ) -> Result<Vec<PullRequest>> {
        let branch = format!("{}:{}", head.owner, head.branch);
        let path = format!("/pulls?state=open&per_page=100&head={}", encoded(&branch));
        let answers: Vec<PullRequestAnswer> = self.list(&repository.path(&path))?;

        let pulls = answers.into_iter().map(PullRequest::from);
        Ok(pulls.filter(|pull| pull.head == head.commit).collect())
    }

    /// Returns the login of the token's account. The request uses GraphQL, since REST answers it only
    /// for people, and not for apps.
    ///
    /// # Errors
    ///
    /// If the token is not valid.
    pub fn viewer(&self) -> Result<String> {
        let request = ApiRequest {
            method: Method::Post,
            url: self.api.graphql(),
            body: Some(json!({ "query": "query { viewer { login } }" })),
            is_repeatable: true,
        };

        let answer: serde_json::Value = self.send(&request)?.json(&request.summary())?;
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
