//! Which pull request: as asked, as GitHub's runner says, or that of the branch here.
//!
//! Of a `workflow_run` the number is not taken from anything that the other run wrote,
//! since that may have run a stranger's code: GitHub itself says which commit it ran,
//! and which pull requests stand there.

use anyhow::Context;
use metalens_github::{Api, Gh, Head, Repository, Token, repository_of_remote};
use serde_json::Value;

use crate::args::posting::PrArguments;
use crate::exit::Misuse;

/// Where a comment goes.
pub(super) struct Place {
    pub(super) api: Api,
    pub(super) repository: Repository,
    pub(super) number: Number,
    pub(super) around: Around,
}

/// Which pull request.
pub(super) enum Number {
    Known(u64),
    /// The one that stands here.
    Of(Head),
}

/// What the environment says, whether there is a pull request or not.
pub(super) struct Around {
    /// `https://github.com`.
    pub(super) server: String,
    /// The commit that was recorded.
    pub(super) commit: Option<String>,
    /// The page of this workflow run.
    pub(super) run: Option<String>,
    /// The job summary.
    pub(super) summary: Option<String>,
    pub(super) is_workflow: bool,
}

const WHAT_TO_DO: &str = "name it with --repo OWNER/NAME --number N, check its branch out where gh \
    is logged in, or run on pull_request or workflow_run";

impl Place {
    pub(super) fn find(arguments: &PrArguments) -> anyhow::Result<Self> {
        let api = variable("GITHUB_API_URL");
        let api = Api::parse(api.as_deref().unwrap_or(Api::PUBLIC)).context("GITHUB_API_URL")?;
        let event = event();
        let named = repository(arguments)?;
        let number = match (arguments.number, &event) {
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
                    Misuse(format!(
                        "it is not known which repository is meant: {WHAT_TO_DO}"
                    ))
                };
                (found.ok_or_else(none)?, number)
            }
            (named, None) => of_branch(named)?,
        };
        let around = Around::of(arguments, &event)?;
        Ok(Self {
            api,
            repository,
            number,
            around,
        })
    }
}

impl Around {
    pub(super) fn here(arguments: &PrArguments) -> Result<Self, Misuse> {
        Self::of(arguments, &event())
    }

    fn of(arguments: &PrArguments, event: &Event) -> Result<Self, Misuse> {
        let server =
            variable("GITHUB_SERVER_URL").unwrap_or_else(|| "https://github.com".to_owned());
        let server = server.trim_end_matches('/').to_owned();
        // It becomes a part of addresses in the comment: the API's rule holds for it too.
        Api::parse(&server).map_err(|error| Misuse(format!("GITHUB_SERVER_URL: {error}")))?;
        let id =
            variable("GITHUB_RUN_ID").filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()));
        let of_run = variable("GITHUB_REPOSITORY").and_then(|name| Repository::parse(&name).ok());
        let run = id
            .zip(of_run)
            .map(|(id, repository)| format!("{server}/{repository}/actions/runs/{id}"));
        let commit = match &arguments.commit {
            Some(commit) if is_hash(commit) => Some(commit.clone()),
            Some(commit) => return Err(Misuse(format!("--commit {commit:?} is no commit's hash"))),
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

/// A variable that says something.
pub(super) fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.into_string().ok()?;
    Some(value).filter(|value| !value.trim().is_empty())
}

/// The token that the environment has, where `gh` looks for it.
pub(super) fn token() -> Result<Option<Token>, Misuse> {
    for name in ["GH_TOKEN", "GITHUB_TOKEN"] {
        if let Some(text) = variable(name) {
            // The text itself is nobody's business.
            let odd = || Misuse(format!("what {name} holds is no token"));
            return Token::new(&text).map(Some).ok_or_else(odd);
        }
    }
    Ok(None)
}

/// The repository, as asked or as the runner says.
pub(super) fn repository(arguments: &PrArguments) -> anyhow::Result<Option<Repository>> {
    let named = arguments
        .repo
        .clone()
        .or_else(|| variable("GITHUB_REPOSITORY"));
    Ok(named.map(|name| Repository::parse(&name)).transpose()?)
}

fn of_branch(named: Option<Repository>) -> anyhow::Result<(Repository, Number)> {
    // A token that is none is told about by whoever posts.
    let token = token().unwrap_or(None);
    let found = Gh::new(token).pull_request();
    let (repository, number) = found.map_err(|error| {
        Misuse(format!(
            "it is not known which pull request is meant ({error}): {WHAT_TO_DO}"
        ))
    })?;
    match named {
        // Another repository's pull request is not the one that was meant.
        Some(named) if named != repository => Err(Misuse(format!(
            "the branch here has a pull request of {repository}, and {named} was named: {WHAT_TO_DO}"
        ))
        .into()),
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
