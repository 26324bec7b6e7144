//! Sends requests through `gh`, GitHub's own program, which knows hosts, tokens and proxies. A request is
//! sent again after failures that another attempt may avoid.

use std::process::Output;
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::answer::{ServerAnswer, one_line};
use crate::error::{Error, Result};
use crate::repository::Repository;

/// The program `gh`. It uses the token of its environment, else that of its login.
pub struct Gh<'a> {
    /// Host of the API, or `None` for the host that `gh` is set to.
    host: Option<String>,
    /// Receives a line for each wait.
    notify: &'a dyn Fn(&str),
}

/// A request to the API.
#[derive(Debug)]
pub(crate) struct ApiRequest {
    pub(crate) method: &'static str,
    /// Path without a slash at its beginning.
    pub(crate) path: String,
    /// JSON to send, if any.
    pub(crate) body: Option<Value>,
    /// True if sending the request twice does no harm.
    pub(crate) is_repeatable: bool,
}

impl ApiRequest {
    /// Returns a request that may be sent twice.
    pub(crate) fn new(method: &'static str, path: String, body: Option<Value>) -> Self {
        Self {
            method,
            path,
            body,
            is_repeatable: true,
        }
    }

    /// Returns method and path, as errors print them.
    pub(crate) fn summary(&self) -> String {
        format!("{} /{}", self.method, self.path)
    }
}

#[derive(Deserialize)]
struct PullRequestView {
    number: u64,
    url: String,
}

/// Variables from which `gh` takes a token.
const TOKENS: [&str; 4] = [
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
];
/// Exit code of `gh` without a token.
const NOT_LOGGED_IN: i32 = 4;
/// Number of times that the same request is sent.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest time that a request waits at a rate limit, in seconds. A longer one is an error, since a
/// CI job costs money while it waits.
const LONGEST_WAIT: u64 = 90;
/// Number of items of a page, and limit on the pages of a list: ten thousand comments.
const PAGE: usize = 100;
const PAGES: usize = 100;

impl<'a> Gh<'a> {
    /// Returns a `gh` that asks the server of this address, and reports what it waits for.
    #[must_use]
    pub fn new(server: Option<&str>, notify: &'a dyn Fn(&str)) -> Self {
        let host = server.and_then(|server| server.strip_prefix("https://"));
        Self {
            host: host.map(str::to_owned),
            notify,
        }
    }

    /// Returns repository and number of the pull request with this number in the repository of the
    /// branch that is checked out here; without a number, of that branch.
    pub(crate) fn view(&self, number: Option<u64>) -> Result<(Repository, u64)> {
        let number = number.map(|number| number.to_string());
        let arguments = ["pr", "view", "--json", "number,url"];
        let output = run(arguments.into_iter().chain(number.as_deref()), "")?;
        if !output.status.success() {
            return Err(Error::Gh(one_line(&text(&output.stderr))));
        }

        let unreadable = || Error::Gh("cannot read the answer of gh pr view".to_owned());
        let view: PullRequestView =
            serde_json::from_slice(&output.stdout).map_err(|_| unreadable())?;
        let mut parts = view.url.split('/').skip(3);
        let (owner, name) = parts.next().zip(parts.next()).ok_or_else(unreadable)?;

        Ok((Repository::parse(&format!("{owner}/{name}"))?, view.number))
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, path: String) -> Result<T> {
        self.send(&ApiRequest::new("GET", path, None))
    }

    /// Sends a request, and returns the body of the answer if its status is a success.
    pub(crate) fn send<T: DeserializeOwned>(&self, request: &ApiRequest) -> Result<T> {
        let answer = self.answer(request)?;
        if (200..=299).contains(&answer.status) {
            answer.json(&request.summary())
        } else {
            Err(Error::Refused {
                request: request.summary(),
                status: answer.status,
                message: answer.reason(),
            })
        }
    }

    /// Returns all items of a list, page by page.
    pub(crate) fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>> {
        let mut all = Vec::new();
        for number in 1..=PAGES {
            let page: Vec<T> = self.get(format!("{path}?per_page={PAGE}&page={number}"))?;
            let is_last = page.len() < PAGE;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }

        Err(Error::Unexpected {
            request: format!("GET /{path}"),
            why: format!("the list has more than {PAGES} pages"),
        })
    }

    /// Sends a request, and sends it again after failures that another attempt may avoid.
    fn answer(&self, request: &ApiRequest) -> Result<ServerAnswer> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.ask(request) {
                Ok(answer) => match answer.retry_after(now()) {
                    // GitHub refused the request without acting on it, so even a request that is not
                    // repeatable may be sent again.
                    Some(seconds) if seconds <= LONGEST_WAIT => {
                        (self.notify)(&format!(
                            "GitHub rate limit reached: waiting {seconds} s before {}",
                            request.summary()
                        ));
                        sleep(Duration::from_secs(seconds));
                        continue;
                    }
                    None if answer.status >= 500 && request.is_repeatable => {}
                    _ => return limited(request, answer),
                },
                Err(Error::NoAnswer { .. }) if request.is_repeatable => {}
                Err(error) => return Err(error),
            }

            sleep(pause);
            pause *= 2;
        }

        limited(request, self.ask(request)?)
    }

    /// Sends a request once.
    fn ask(&self, request: &ApiRequest) -> Result<ServerAnswer> {
        let mut arguments = vec!["api", "--include", "--method", request.method];
        if let Some(host) = &self.host {
            arguments.extend(["--hostname", host]);
        }
        let body = request.body.as_ref().map(Value::to_string);
        if body.is_some() {
            arguments.extend(["--input", "-"]);
        }
        arguments.push(&request.path);

        let output = run(arguments, body.as_deref().unwrap_or(""))?;
        match ServerAnswer::parse(&text(&output.stdout)) {
            Some(answer) => Ok(answer),
            None if output.status.code() == Some(NOT_LOGGED_IN) => Err(Error::Misuse(
                "gh has no token to post with: run gh auth login, or set GH_TOKEN; --dry-run needs none"
                    .to_owned(),
            )),
            None => Err(Error::NoAnswer {
                request: request.summary(),
                why: one_line(&text(&output.stderr)),
            }),
        }
    }
}

/// Returns the answer, or an error if the rate limit is reached for longer than a request waits.
fn limited(request: &ApiRequest, answer: ServerAnswer) -> Result<ServerAnswer> {
    match answer.retry_after(now()) {
        None => Ok(answer),
        Some(seconds) => Err(Error::RateLimited {
            request: request.summary(),
            seconds,
        }),
    }
}

/// Runs `gh`, which is looked up in `PATH`.
fn run<'a>(arguments: impl IntoIterator<Item = &'a str>, input: &str) -> Result<Output> {
    let command = duct::cmd("gh", arguments)
        .env("GH_PROMPT_DISABLED", "1")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .env("NO_COLOR", "1")
        .stdin_bytes(input);
    let run = command.stdout_capture().stderr_capture().unchecked().run();
    run.map_err(Error::NoGh)
}

/// Returns output as text, without the tokens of the environment: a server may repeat one.
fn text(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output).into_owned();
    let tokens = TOKENS.into_iter().filter_map(variable);
    tokens.fold(text, |text, token| text.replace(token.trim(), "(token)"))
}

/// Returns the value of an environment variable, or `None` if it is unset or blank.
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?.into_string().ok()?;
    Some(value).filter(|value| !value.trim().is_empty())
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
