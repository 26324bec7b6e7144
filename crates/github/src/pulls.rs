//! Pull requests, and who asks.

use serde::Deserialize;
use serde_json::json;

use crate::address::Repository;
use crate::client::Client;
use crate::curl::{Method, Request};
use crate::error::{Error, Result};

/// What is known of a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Its page.
    pub url: String,
    /// The commit it stands at.
    pub head: String,
    /// Whether its branch is in another repository; unknown once that is deleted.
    pub is_from_fork: bool,
    /// Whether only some may see the repository.
    pub is_private: bool,
}

/// Where a workflow run's commit is: GitHub's own word, nothing that a run wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Whose repository.
    pub owner: String,
    /// The branch.
    pub branch: String,
    /// The commit.
    pub commit: String,
}

#[derive(Deserialize)]
struct Said {
    number: u64,
    #[serde(default)]
    html_url: String,
    head: Side,
    base: Side,
}

#[derive(Deserialize)]
struct Side {
    sha: String,
    repo: Option<Repo>,
}

#[derive(Deserialize)]
struct Repo {
    full_name: String,
    #[serde(default)]
    private: bool,
}

impl From<Said> for PullRequest {
    fn from(said: Said) -> Self {
        let (head, base) = (&said.head.repo, &said.base.repo);
        let name = |repo: &Option<Repo>| repo.as_ref().map(|repo| repo.full_name.clone());
        Self {
            number: said.number,
            url: said.html_url,
            is_from_fork: name(head) != name(base),
            is_private: base.as_ref().is_some_and(|repo| repo.private),
            head: said.head.sha,
        }
    }
}

impl Client {
    /// A pull request.
    ///
    /// # Errors
    ///
    /// If there is none of this number, or it may not be seen.
    pub fn pull_request(&self, repository: &Repository, number: u64) -> Result<PullRequest> {
        let path = repository.path(&format!("/pulls/{number}"));
        let said: Said = self.get(&path)?.json(&path)?;
        Ok(said.into())
    }

    /// The open pull requests that stand at a commit of a branch.
    ///
    /// # Errors
    ///
    /// If they cannot be asked for.
    pub fn pull_requests_of(
        &self,
        repository: &Repository,
        head: &Head,
    ) -> Result<Vec<PullRequest>> {
        let branch = format!("{}:{}", head.owner, head.branch);
        let path = format!("/pulls?state=open&per_page=100&head={}", encoded(&branch));
        let found: Vec<Said> = self.list(&repository.path(&path))?;
        let found = found.into_iter().map(PullRequest::from);
        Ok(found.filter(|one| one.head == head.commit).collect())
    }

    /// As whom the token speaks. REST tells only people, GraphQL tells apps too.
    ///
    /// # Errors
    ///
    /// If the token is no good.
    pub fn viewer(&self) -> Result<String> {
        let request = Request {
            method: Method::Post,
            url: self.api.graphql(),
            body: Some(json!({ "query": "query { viewer { login } }" })),
            is_repeatable: true,
        };
        let answer: serde_json::Value = self.send(&request)?.json(&request.asked())?;
        let login = answer["data"]["viewer"]["login"].as_str();
        login.map(str::to_owned).ok_or_else(|| Error::Unexpected {
            asked: request.asked(),
            why: "it does not say who asks".to_owned(),
        })
    }
}

/// A text as a part of an address.
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
    fn a_branch_is_no_more_than_a_name() {
        assert_eq!(encoded("a:b/c&state=all"), "a%3Ab%2Fc%26state%3Dall");
        assert_eq!(encoded("ä b"), "%C3%A4%20b");
    }
}
