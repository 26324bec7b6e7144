//! Builds a command line of `curl` for a request, and runs it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::address::Api;
use crate::answer::{ServerAnswer, one_line};
use crate::error::{Error, Result};
use crate::secret::Token;

/// A request to the API.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiRequest {
    /// HTTP method of the request.
    pub method: Method,
    /// Full address, with scheme and host.
    pub url: String,
    /// JSON to send, if any.
    pub body: Option<Value>,
    /// True if sending the request twice does no harm.
    pub is_repeatable: bool,
}

/// HTTP method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Method that reads a resource.
    Get,
    /// Method that creates a resource.
    Post,
    /// Method that changes a resource.
    Patch,
    /// Method that removes a resource.
    Delete,
}

impl Method {
    /// Returns the method's name in HTTP.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

impl ApiRequest {
    /// Returns method and path, as errors print them.
    #[must_use]
    pub fn summary(&self) -> String {
        let path = self
            .url
            .split_once("://")
            .map_or(self.url.as_str(), |(_, rest)| rest);
        let path = path.find('/').and_then(|at| path.get(at..)).unwrap_or("/");

        format!("{} {path}", self.method.name())
    }
}

/// A command line of `curl`, and the configuration that it reads on standard input. Only the
/// configuration contains the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Curl {
    /// Arguments, the same for every request.
    pub arguments: Vec<OsString>,
    /// Configuration for standard input. It contains the token.
    configuration: String,
}

impl fmt::Debug for Curl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Curl")
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// Longest answer that is read, in bytes. GitHub's answers are shorter: a page of a hundred long
/// comments has 26 MB.
const LONGEST_ANSWER: u64 = 64 * 1024 * 1024;
const SECONDS_TO_CONNECT: u32 = 10;
const SECONDS_IN_ALL: u32 = 120;
/// Exit code of `curl` after a timeout.
pub(crate) const TIMED_OUT: i32 = 28;

impl Curl {
    /// Returns the command for a request. `-q` comes first, so that no `.curlrc` changes
    /// it. `curl` gives up after `stalled_after` without a byte, writes the answer's headers to
    /// the file `headers`, and sends the file `body`.
    ///
    /// ```text
    /// curl -q --config -
    /// url = "https://api.github.com/user"
    /// header = "Authorization: Bearer …"
    /// ```
    #[must_use]
    pub fn new(
        request: &ApiRequest,
        api: &Api,
        token: &Token,
        stalled_after: Duration,
        headers: &Path,
        body: Option<&Path>,
    ) -> Self {
        let mut lines = vec![
            format!("url = {}", quoted(&request.url)),
            format!("request = {}", quoted(request.method.name())),
            format!(
                "header = {}",
                quoted(&format!("Authorization: Bearer {}", token.exposed()))
            ),
            "header = \"Accept: application/vnd.github+json\"".to_owned(),
            "header = \"X-GitHub-Api-Version: 2022-11-28\"".to_owned(),
            "header = \"Expect:\"".to_owned(),
            format!("user-agent = \"metalens/{}\"", env!("CARGO_PKG_VERSION")),
            format!("proto = \"={}\"", api.scheme()),
            format!("connect-timeout = {SECONDS_TO_CONNECT}"),
            format!("max-time = {SECONDS_IN_ALL}"),
            "speed-limit = 1".to_owned(),
            format!("speed-time = {}", stalled_after.as_secs().max(1)),
            format!("max-filesize = {LONGEST_ANSWER}"),
            format!("dump-header = {}", quoted(&headers.to_string_lossy())),
            "max-redirs = 0".to_owned(),
            "globoff".to_owned(),
            "silent".to_owned(),
            "show-error".to_owned(),
            "suppress-connect-headers".to_owned(),
        ];

        if api.scheme() == "http" {
            // The request is not encrypted, so it must reach this machine without a proxy.
            lines.push("noproxy = \"*\"".to_owned());
        }
        if let Some(body) = body {
            lines.push("header = \"Content-Type: application/json\"".to_owned());
            lines.push(format!(
                "data-binary = {}",
                quoted(&format!("@{}", body.display()))
            ));
        }

        lines.push(String::new());
        Self {
            arguments: ["-q", "--config", "-"].map(OsString::from).to_vec(),
            configuration: lines.join("\n"),
        }
    }
}

/// Quotes a value for the configuration of `curl`.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    let escaped = escaped.replace(['\n', '\r'], " ");
    format!("\"{escaped}\"")
}

/// The reason why there is no answer: exit code and standard error of `curl`.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) code: i32,
    /// Standard error as one line in brackets, or nothing.
    pub(crate) stderr: String,
}

/// Sends a request once. Removes the token from the answer and from standard error.
pub(crate) fn ask(
    program: &OsStr,
    request: &ApiRequest,
    api: &Api,
    token: &Token,
    stalled_after: Duration,
) -> Result<std::result::Result<ServerAnswer, NoAnswer>> {
    let folder = tempfile::tempdir().map_err(pipe_error)?;
    let headers = folder.path().join("headers");
    let body: Option<PathBuf> = match &request.body {
        Some(json) => {
            let file = folder.path().join("body");
            std::fs::write(&file, json.to_string()).map_err(pipe_error)?;
            Some(file)
        }
        None => None,
    };

    let curl = Curl::new(
        request,
        api,
        token,
        stalled_after,
        &headers,
        body.as_deref(),
    );
    let (code, stderr, answer) = run(program, &curl)?;
    let clean = |bytes: &[u8]| String::from_utf8_lossy(&token.scrubbed(bytes)).into_owned();

    if code != 0 {
        let stderr = one_line(&clean(&stderr));
        let stderr = if stderr.is_empty() {
            stderr
        } else {
            format!(" ({stderr})")
        };
        return Ok(Err(NoAnswer { code, stderr }));
    }

    let headers = std::fs::read(&headers).map_err(pipe_error)?;
    let answer = ServerAnswer::parse(&clean(&headers), token.scrubbed(&answer));
    answer.map(Ok).ok_or_else(|| Error::Unexpected {
        request: request.summary(),
        why: "not an HTTP answer".to_owned(),
    })
}

fn pipe_error(cause: std::io::Error) -> Error {
    Error::Pipe {
        tool: "curl",
        cause,
    }
}

/// Runs `curl` and returns its exit code, its standard error, and its standard output up
/// to the length of the longest answer.
fn run(program: &OsStr, curl: &Curl) -> Result<(i32, Vec<u8>, Vec<u8>)> {
    let command = duct::cmd(program, &curl.arguments)
        .stdin_bytes(curl.configuration.as_bytes())
        .env_remove("GITHUB_TOKEN")
        .env_remove("GH_TOKEN")
        .stderr_capture()
        .unchecked();
    let reader = command.reader().map_err(|cause| Error::NoTool {
        tool: "curl",
        cause,
    })?;

    let mut answer = Vec::new();
    (&reader)
        .take(LONGEST_ANSWER + 1)
        .read_to_end(&mut answer)
        .map_err(pipe_error)?;
    if answer.len() as u64 > LONGEST_ANSWER {
        reader.kill().map_err(pipe_error)?;
        // `curl` exits with 63 itself where it knows the length in advance.
        return Ok((63, b"the answer is too long".to_vec(), Vec::new()));
    }

    let output = reader.try_wait().map_err(pipe_error)?;
    let code = output.and_then(|output| output.status.code()).unwrap_or(-1);
    let stderr = output.map(|output| output.stderr.clone());

    Ok((code, stderr.unwrap_or_default(), answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curl(method: Method, base: &str) -> Curl {
        let api = Api::parse(base).unwrap();
        let request = ApiRequest {
            method,
            url: api.url("/repos/a/b?x=\"y"),
            body: None,
            is_repeatable: true,
        };
        let token = Token::new("ghp_secret").unwrap();
        Curl::new(
            &request,
            &api,
            &token,
            Duration::from_secs(30),
            Path::new("/t/headers"),
            Some(Path::new("/t/bo\"dy")),
        )
    }

    /// The arguments are the same for every request, so that a list of processes shows nothing.
    #[test]
    fn the_token_is_not_an_argument() {
        for method in [Method::Get, Method::Post, Method::Patch, Method::Delete] {
            let curl = curl(method, Api::PUBLIC);
            assert_eq!(curl.arguments, ["-q", "--config", "-"]);
            assert!(!format!("{curl:?}").contains("secret"));
            let line = "header = \"Authorization: Bearer ghp_secret\"";
            assert!(curl.configuration.lines().any(|other| other == line));
        }
    }

    #[test]
    fn the_configuration_has_what_the_request_needs() {
        let check = |base: &str, expected: &[&str], not: &[&str]| {
            let curl = curl(Method::Patch, base);
            let lines: Vec<&str> = curl.configuration.lines().collect();
            for line in expected {
                assert!(lines.contains(line), "{line} is not in {lines:?}");
            }
            for line in not {
                assert!(!lines.contains(line), "{line}");
            }
        };

        check(
            Api::PUBLIC,
            &[
                "url = \"https://api.github.com/repos/a/b?x=\\\"y\"",
                "request = \"PATCH\"",
                "proto = \"=https\"",
                "max-redirs = 0",
                "speed-time = 30",
                "data-binary = \"@/t/bo\\\"dy\"",
            ],
            &["noproxy = \"*\"", "location"],
        );
        check(
            "http://127.0.0.1:1",
            &["proto = \"=http\"", "noproxy = \"*\""],
            &["proto = \"=https\""],
        );
    }
}
