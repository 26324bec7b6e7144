//! Finds the pull request to comment on: the one that the user names, the one that GitHub's runner
//! reports, or the one of the branch that is checked out here.
//!
//! In a `workflow_run` the number is not taken from any output of the other run, since that run may
//! have executed a stranger's code. GitHub itself reports the commit of that run, and the open pull
//! requests whose head is that commit.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::gh::{Gh, variable};
use crate::pulls::Head;
use crate::repository::{Repository, check_server};

/// The parts of a destination that the user named.
#[derive(Debug, Clone, Default)]
pub struct DestinationRequest {
    /// The repository, in the form `OWNER/NAME`.
    pub repository: Option<String>,
    /// Number of the pull request.
    pub number: Option<u64>,
    /// The commit that was recorded.
    pub commit: Option<String>,
}

/// The pull request that a comment goes to.
#[derive(Debug)]
pub struct Destination {
    /// Repository of the pull request.
    pub repository: Repository,
    /// Reference to the pull request.
    pub pull_request: PullRequestRef,
    /// Facts from the environment of this process.
    pub environment: EnvironmentFacts,
}

/// A reference to a pull request.
#[derive(Debug)]
pub enum PullRequestRef {
    /// The pull request with this number.
    Number(u64),
    /// The open pull request whose head is this commit.
    Head(Head),
}

/// Facts that the environment gives, with or without a pull request.
#[derive(Debug)]
pub struct EnvironmentFacts {
    /// Address of GitHub's pages: `https://github.com`.
    pub server: String,
    /// The commit that was recorded.
    pub commit: Option<String>,
    /// Path of the file with the job summary.
    pub summary: Option<String>,
    /// True if this process runs in a workflow.
    pub is_workflow: bool,
}

const WHAT_TO_DO: &str = "give --repo OWNER/NAME --number N, check out its branch where gh is \
                          logged in, or run on pull_request or workflow_run";

impl Destination {
    /// Finds the pull request that the user or the runner names, else asks `gh` for that of the branch.
    ///
    /// # Errors
    ///
    /// If nothing names a pull request.
    pub fn find(request: &DestinationRequest, gh: &Gh<'_>) -> Result<Self> {
        let event = event();
        let named = repository(request)?;
        let number = request.number.or(event.number);
        let head = || event.head.map(PullRequestRef::Head);
        let of_ref = || number_of_ref(&variable("GITHUB_REF")?).map(PullRequestRef::Number);
        let pull_request = number
            .map(PullRequestRef::Number)
            .or_else(head)
            .or_else(of_ref);
        let (repository, pull_request) = match (named, pull_request) {
            (Some(repository), Some(pull_request)) => (repository, pull_request),
            (named, pull_request) => of_branch(gh, named, pull_request)?,
        };

        Ok(Self {
            repository,
            pull_request,
            environment: EnvironmentFacts::read(request)?,
        })
    }
}

impl EnvironmentFacts {
    /// Reads the variables and the event of the environment.
    ///
    /// # Errors
    ///
    /// If a value there, or in the request, is not valid.
    pub fn read(request: &DestinationRequest) -> Result<Self> {
        let server = server().unwrap_or_else(|| "https://github.com".to_owned());
        check_server(&server)?;

        let commit = match &request.commit {
            Some(commit) if is_hash(commit) => Some(commit.clone()),
            Some(commit) => {
                return Err(Error::Misuse(format!(
                    "--commit {commit:?} is not the hash of a commit"
                )));
            }
            None => event().commit.filter(|commit| is_hash(commit)),
        };

        Ok(Self {
            server,
            commit,
            summary: variable("GITHUB_STEP_SUMMARY"),
            is_workflow: variable("GITHUB_ACTIONS").is_some(),
        })
    }
}

/// Returns the address of GitHub's pages that the environment names.
pub fn server() -> Option<String> {
    let server = variable("GITHUB_SERVER_URL");
    server.map(|server| server.trim_end_matches('/').to_owned())
}

/// Returns the repository that the user or the runner names.
///
/// # Errors
///
/// If the name does not have the form `owner/name`.
pub fn repository(request: &DestinationRequest) -> Result<Option<Repository>> {
    let named = request
        .repository
        .clone()
        .or_else(|| variable("GITHUB_REPOSITORY"));
    named.map(|name| Repository::parse(&name)).transpose()
}

/// Asks `gh` for what is not named: the pull request of the branch that is checked out here, or only
/// the repository.
fn of_branch(
    gh: &Gh<'_>,
    named: Option<Repository>,
    pull_request: Option<PullRequestRef>,
) -> Result<(Repository, PullRequestRef)> {
    let number = match pull_request {
        Some(PullRequestRef::Number(number)) => Some(number),
        _ => None,
    };
    let (repository, number) = gh.view(number).map_err(|error| match error {
        Error::NoGh(_) => error,
        _ => Error::Misuse(format!(
            "cannot tell which pull request is meant ({error}): {WHAT_TO_DO}"
        )),
    })?;

    match named {
        // A pull request of another repository is not the one that the user meant.
        Some(named) if named != repository => Err(Error::Misuse(format!(
            "the branch here has a pull request of {repository}, but {named} was named: {WHAT_TO_DO}"
        ))),
        _ => Ok((repository, PullRequestRef::Number(number))),
    }
}

/// Facts from the event that started this workflow run.
#[derive(Debug, Default, PartialEq, Eq)]
struct WorkflowEvent {
    number: Option<u64>,
    commit: Option<String>,
    head: Option<Head>,
}

/// Largest size of an event file, in bytes. GitHub's files are smaller.
const MAX_EVENT_BYTES: u64 = 32 << 20;

fn event() -> WorkflowEvent {
    let text = variable("GITHUB_EVENT_PATH")
        .and_then(|path| metalens_files::read(path.as_ref(), MAX_EVENT_BYTES).ok());
    let json = text.and_then(|text| serde_json::from_slice(&text).ok());
    json.as_ref().map(parse).unwrap_or_default()
}

fn parse(event: &Value) -> WorkflowEvent {
    let text = |value: &Value| value.as_str().map(str::to_owned);

    let run = &event["workflow_run"];
    if run.is_object() {
        let commit = text(&run["head_sha"]);
        let (owner, branch) = (
            text(&run["head_repository"]["owner"]["login"]),
            text(&run["head_branch"]),
        );
        let head = owner.zip(branch).zip(commit.clone());
        return WorkflowEvent {
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
    let issue_number = issue["number"].as_u64().filter(|_| is_pull);

    WorkflowEvent {
        number: pull["number"].as_u64().or(issue_number),
        commit: text(&pull["head"]["sha"]),
        head: None,
    }
}

/// Parses the number in `refs/pull/7/merge`.
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
    fn events_name_pull_requests() {
        let check =
            |event: &Value, expected: WorkflowEvent| assert_eq!(parse(event), expected, "{event}");
        check(
            &json!({ "number": 7, "pull_request": { "number": 7, "head": { "sha": "abc" } } }),
            WorkflowEvent {
                number: Some(7),
                commit: Some("abc".to_owned()),
                head: None,
            },
        );
        check(
            &json!({ "issue": { "number": 7, "pull_request": {} } }),
            WorkflowEvent {
                number: Some(7),
                ..WorkflowEvent::default()
            },
        );
        check(
            &json!({ "issue": { "number": 7 } }),
            WorkflowEvent::default(),
        );
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
            WorkflowEvent {
                number: None,
                commit: Some("abc".to_owned()),
                head: Some(head),
            },
        );
        check(
            &json!({ "ref": "refs/heads/main" }),
            WorkflowEvent::default(),
        );
    }

    #[test]
    fn refs_name_pull_requests() {
        let check = |name: &str, expected: Option<u64>| assert_eq!(number_of_ref(name), expected);
        check("refs/pull/7/merge", Some(7));
        check("refs/heads/main", None);
        check("refs/pull/x/merge", None);
    }
}
