//! Which pull request: as asked, as GitHub's runner says, or that of the branch here.
//!
//! Of a `workflow_run` the number is not taken from anything that the other run wrote,
//! since that may have run a stranger's code: GitHub itself says which commit it ran,
//! and which pull requests stand there.

use serde_json::Value;

use crate::address::{Api, Repository};
use crate::error::{Error, Result};
use crate::gh::Gh;
use crate::pulls::Head;
use crate::remote::repository_of_remote;
use crate::secret::Token;

/// Names a pull request, as far as a user does.
#[derive(Debug, Clone, Default)]
pub struct PlaceRequest {
    /// The repository, `OWNER/NAME`.
    pub repository: Option<String>,
    /// The number of the pull request.
    pub number: Option<u64>,
    /// The commit that was recorded.
    pub commit: Option<String>,
}

/// Where a comment goes.
#[derive(Debug)]
pub struct Place {
    /// GitHub's address.
    pub api: Api,
    /// The repository.
    pub repository: Repository,
    /// The pull request.
    pub number: Number,
    /// The facts that the environment tells.
    pub around: Around,
}

/// The choice of a pull request.
#[derive(Debug)]
pub enum Number {
    /// The one of this number.
    Known(u64),
    /// The one that stands here.
    Of(Head),
}

/// What the environment says, whether there is a pull request or not.
#[derive(Debug)]
pub struct Around {
    /// `https://github.com`.
    pub server: String,
    /// The commit that was recorded.
    pub commit: Option<String>,
    /// The page of this workflow run.
    pub run: Option<String>,
    /// The job summary.
    pub summary: Option<String>,
    /// Whether this is a workflow run.
    pub is_workflow: bool,
}

const WHAT_TO_DO: &str = "name it with --repo OWNER/NAME --number N, check its branch out where gh \
    is logged in, or run on pull_request or workflow_run";

impl Place {
    /// Finds it.
    ///
    /// # Errors
    ///
    /// If it is not known which is meant.
    pub fn find(asked: &PlaceRequest) -> Result<Self> {
        let api = variable("GITHUB_API_URL");
        let api = Api::parse(api.as_deref().unwrap_or(Api::PUBLIC))
            .map_err(|error| Error::Address(format!("GITHUB_API_URL: {error}")))?;
        let event = event();
        let named = repository(asked)?;
        let number = match (asked.number, &event) {
            (Some(number), _) => Some(Number::Known(number)),
            (
                None,
                Event {
                    number: Some(number),
                    ..
                },
            ) => Some(Number::Known(*number)),
            (
                None,
                Event {
                    head: Some(head), ..
                },
            ) => Some(Number::Of(head.clone())),
            _ => variable("GITHUB_REF")
                .as_deref()
                .and_then(number_of_ref)
                .map(Number::Known),
        };
        let (repository, number) = match (named, number) {
            (Some(repository), Some(number)) => (repository, number),
            (None, Some(number)) => {
                let found = repository_of_remote();
                let none = || {
                    Error::Misuse(format!(
                        "it is not known which repository is meant: {WHAT_TO_DO}"
                    ))
                };
                (found.ok_or_else(none)?, number)
            }
            (named, None) => of_branch(named)?,
        };
        let around = Around::of(asked, &event)?;
        Ok(Self {
            api,
            repository,
            number,
            around,
        })
    }
}

impl Around {
    /// Looks at the environment.
    ///
    /// # Errors
    ///
    /// If something in it, or what was asked, cannot be.
    pub fn here(asked: &PlaceRequest) -> Result<Self> {
        Self::of(asked, &event())
    }

    fn of(asked: &PlaceRequest, event: &Event) -> Result<Self> {
        let server =
            variable("GITHUB_SERVER_URL").unwrap_or_else(|| "https://github.com".to_owned());
        let server = server.trim_end_matches('/').to_owned();
        // It becomes a part of addresses in the comment: the API's rule holds for it too.
        Api::parse(&server)
            .map_err(|error| Error::Misuse(format!("GITHUB_SERVER_URL: {error}")))?;
        let id =
            variable("GITHUB_RUN_ID").filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
        let of_run = variable("GITHUB_REPOSITORY").and_then(|name| Repository::parse(&name).ok());
        let run = id
            .zip(of_run)
            .map(|(id, repository)| format!("{server}/{repository}/actions/runs/{id}"));
        let commit = match &asked.commit {
            Some(commit) if is_hash(commit) => Some(commit.clone()),
            Some(commit) => {
                return Err(Error::Misuse(format!(
                    "--commit {commit:?} is no commit's hash"
                )));
            }
            None => event.commit.clone().filter(|commit| is_hash(commit)),
        };
        Ok(Self {
            server,
            commit,
            run,
            summary: variable("GITHUB_STEP_SUMMARY"),
            is_workflow: variable("GITHUB_ACTIONS").is_some(),
        })
    }
}

/// Returns a variable that says something.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.into_string().ok()?;
    Some(value).filter(|value| !value.trim().is_empty())
}

/// Returns the token that the environment has, where `gh` looks for it.
///
/// # Errors
///
/// If what stands there is no token.
pub fn environment_token() -> Result<Option<Token>> {
    for name in ["GH_TOKEN", "GITHUB_TOKEN"] {
        if let Some(text) = variable(name) {
            // The text itself is nobody's business.
            let odd = || Error::Misuse(format!("what {name} holds is no token"));
            return Token::new(&text).map(Some).ok_or_else(odd);
        }
    }
    Ok(None)
}

/// Returns the repository, as asked or as the runner says.
///
/// # Errors
///
/// If that is the name of none.
pub fn repository(asked: &PlaceRequest) -> Result<Option<Repository>> {
    let named = asked
        .repository
        .clone()
        .or_else(|| variable("GITHUB_REPOSITORY"));
    named.map(|name| Repository::parse(&name)).transpose()
}

fn of_branch(named: Option<Repository>) -> Result<(Repository, Number)> {
    // A token that is none is told about by whoever posts.
    let token = environment_token().unwrap_or(None);
    let found = Gh::new(token).pull_request();
    let (repository, number) = found.map_err(|error| {
        Error::Misuse(format!(
            "it is not known which pull request is meant ({error}): {WHAT_TO_DO}"
        ))
    })?;
    match named {
        // Another repository's pull request is not the one that was meant.
        Some(named) if named != repository => Err(Error::Misuse(format!(
            "the branch here has a pull request of {repository}, and {named} was named: {WHAT_TO_DO}"
        ))),
        _ => Ok((repository, Number::Known(number))),
    }
}

/// What GitHub says this run is about.
#[derive(Debug, Default, PartialEq, Eq)]
struct Event {
    number: Option<u64>,
    commit: Option<String>,
    head: Option<Head>,
}

/// GitHub sends no longer ones.
const LONGEST_EVENT: u64 = 32 << 20;

fn event() -> Event {
    let text = variable("GITHUB_EVENT_PATH")
        .and_then(|path| metalens_files::read(path.as_ref(), LONGEST_EVENT).ok());
    let json = text.and_then(|text| serde_json::from_slice(&text).ok());
    json.as_ref().map(parse).unwrap_or_default()
}

fn parse(event: &Value) -> Event {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let run = &event["workflow_run"];
    if run.is_object() {
        let commit = text(&run["head_sha"]);
        let (owner, branch) = (
            text(&run["head_repository"]["owner"]["login"]),
            text(&run["head_branch"]),
        );
        let head = owner.zip(branch).zip(commit.clone());
        return Event {
            number: None,
            commit,
            head: head.map(|((owner, branch), commit)| Head {
                owner,
                branch,
                commit,
            }),
        };
    }
    let pull = &event["pull_request"];
    let issue = &event["issue"];
    let is_pull = issue["pull_request"].is_object();
    let of_issue = issue["number"].as_u64().filter(|_| is_pull);
    Event {
        number: pull["number"].as_u64().or(of_issue),
        commit: text(&pull["head"]["sha"]),
        head: None,
    }
}

/// From `refs/pull/7/merge`.
fn number_of_ref(name: &str) -> Option<u64> {
    name.strip_prefix("refs/pull/")?
        .split('/')
        .next()?
        .parse()
        .ok()
}

fn is_hash(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events() {
        let check = |event: &Value, expected: Event| assert_eq!(parse(event), expected, "{event}");
        check(
            &json!({ "number": 7, "pull_request": { "number": 7, "head": { "sha": "abc" } } }),
            Event {
                number: Some(7),
                commit: Some("abc".to_owned()),
                head: None,
            },
        );
        check(
            &json!({ "issue": { "number": 7, "pull_request": {} } }),
            Event {
                number: Some(7),
                ..Event::default()
            },
        );
        check(&json!({ "issue": { "number": 7 } }), Event::default());
        let head = Head {
            owner: "o".to_owned(),
            branch: "b".to_owned(),
            commit: "abc".to_owned(),
        };
        check(
            &json!({ "workflow_run": {
                "head_sha": "abc", "head_branch": "b", "head_repository": { "owner": { "login": "o" } },
                "pull_requests": [{ "number": 9 }],
            } }),
            Event {
                number: None,
                commit: Some("abc".to_owned()),
                head: Some(head),
            },
        );
        check(&json!({ "ref": "refs/heads/main" }), Event::default());
    }

    #[test]
    fn refs() {
        let check = |name: &str, expected: Option<u64>| assert_eq!(number_of_ref(name), expected);
        check("refs/pull/7/merge", Some(7));
        check("refs/heads/main", None);
        check("refs/pull/x/merge", None);
    }
}
