//! A question as `curl` takes it, and asking it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::address::Api;
use crate::answer::{Answer, one_line};
use crate::error::{Error, Result};
use crate::secret::Token;

/// What is asked of the API.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// How.
    pub method: Method,
    /// The whole address.
    pub url: String,
    /// What is sent along.
    pub body: Option<Value>,
    /// Whether it may be asked twice.
    pub is_repeatable: bool,
}

/// How something is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// To look.
    Get,
    /// To make.
    Post,
    /// To change.
    Patch,
    /// To take away.
    Delete,
}

impl Method {
    /// As HTTP calls it.
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

impl Request {
    /// As errors call it: method and path.
    #[must_use]
    pub fn asked(&self) -> String {
        let path = self
            .url
            .split_once("://")
            .map_or(self.url.as_str(), |(_, rest)| rest);
        let path = path.find('/').and_then(|at| path.get(at..)).unwrap_or("/");
        format!("{} {path}", self.method.name())
    }
}

/// A command line of `curl`, and what it reads on its standard input: the token is
/// there and nowhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct Curl {
    /// Its arguments: always the same.
    pub arguments: Vec<OsString>,
    /// Its configuration. It has the token.
    configuration: String,
}

impl fmt::Debug for Curl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Curl")
            .field("arguments", &self.arguments)
            .finish_non_exhaustive()
    }
}

/// A longer answer is none of GitHub's: a page of a hundred long comments is 26 MB.
const LONGEST_ANSWER: u64 = 64 * 1024 * 1024;
const SECONDS_TO_CONNECT: u32 = 10;
const SECONDS_IN_ALL: u32 = 120;
/// The exit code of `curl` for whatever took too long.
pub(crate) const TIMED_OUT: i32 = 28;

impl Curl {
    /// The command for a request. `-q` comes first, so that nobody's `.curlrc` has a
    /// say. After so much silence it gives up; `headers` is where `curl` keeps the
    /// answer's, `body` has what is sent.
    ///
    /// ```text
    /// curl -q --config -
    /// url = "https://api.github.com/user"
    /// header = "Authorization: Bearer …"
    /// ```
    #[must_use]
    pub fn of(
        request: &Request,
        api: &Api,
        token: &Token,
        silence: Duration,
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
            format!("speed-time = {}", silence.as_secs().max(1)),
            format!("max-filesize = {LONGEST_ANSWER}"),
            format!("dump-header = {}", quoted(&headers.to_string_lossy())),
            "max-redirs = 0".to_owned(),
            "globoff".to_owned(),
            "silent".to_owned(),
            "show-error".to_owned(),
            "suppress-connect-headers".to_owned(),
        ];
        if api.scheme() == "http" {
            // In the clear, and therefore to this machine only: through no proxy.
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

/// A value as `curl`'s configuration takes it.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    let escaped = escaped.replace(['\n', '\r'], " ");
    format!("\"{escaped}\"")
}

/// Why there is no answer: the exit code of `curl`, and what it said.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) code: i32,
    pub(crate) said: String,
}

/// Asks once. Neither the answer nor what `curl` said has the token.
pub(crate) fn ask(
    program: &OsStr,
    request: &Request,
    api: &Api,
    token: &Token,
    silence: Duration,
) -> Result<std::result::Result<Answer, NoAnswer>> {
    let pipe = |cause| Error::Pipe {
        tool: "curl",
        cause,
    };
    let folder = tempfile::tempdir().map_err(pipe)?;
    let headers = folder.path().join("headers");
    let body: Option<PathBuf> = match &request.body {
        Some(json) => {
            let file = folder.path().join("body");
            std::fs::write(&file, json.to_string()).map_err(pipe)?;
            Some(file)
        }
        None => None,
    };
    let curl = Curl::of(request, api, token, silence, &headers, body.as_deref());
    let (code, said, answer) = run(program, &curl)?;
    let clean = |bytes: &[u8]| String::from_utf8_lossy(&token.scrubbed(bytes)).into_owned();
    if code != 0 {
        let said = one_line(&clean(&said));
        let said = if said.is_empty() {
            said
        } else {
            format!(" ({said})")
        };
        return Ok(Err(NoAnswer { code, said }));
    }
    let headers = std::fs::read(&headers).map_err(pipe)?;
    let answer = Answer::parse(&clean(&headers), token.scrubbed(&answer));
    answer.map(Ok).ok_or_else(|| Error::Unexpected {
        asked: request.asked(),
        why: "it is not HTTP".to_owned(),
    })
}

/// Exit code, standard error, and at most as much of standard output as an answer has.
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
    let pipe = |cause| Error::Pipe {
        tool: "curl",
        cause,
    };
    let mut answer = Vec::new();
    (&reader)
        .take(LONGEST_ANSWER + 1)
        .read_to_end(&mut answer)
        .map_err(pipe)?;
    if answer.len() as u64 > LONGEST_ANSWER {
        reader.kill().map_err(pipe)?;
        // As `curl` calls it, where it knows the length before.
        return Ok((63, b"the answer is too long".to_vec(), Vec::new()));
    }
    let output = reader.try_wait().map_err(pipe)?;
    let code = output.and_then(|output| output.status.code()).unwrap_or(-1);
    let said = output.map(|output| output.stderr.clone());
    Ok((code, said.unwrap_or_default(), answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curl(method: Method, base: &str) -> Curl {
        let api = Api::parse(base).unwrap();
        let request = Request {
            method,
            url: api.url("/repos/a/b?x=\"y"),
            body: None,
            is_repeatable: true,
        };
        let token = Token::new("ghp_secret").unwrap();
        Curl::of(
            &request,
            &api,
            &token,
            Duration::from_secs(30),
            Path::new("/t/headers"),
            Some(Path::new("/t/bo\"dy")),
        )
    }

    /// Whatever is asked, the arguments are these: nobody who lists processes learns more.
    #[test]
    fn the_token_is_no_argument() {
        for method in [Method::Get, Method::Post, Method::Patch, Method::Delete] {
            let curl = curl(method, Api::PUBLIC);
            assert_eq!(curl.arguments, ["-q", "--config", "-"]);
            assert!(!format!("{curl:?}").contains("secret"));
            let line = "header = \"Authorization: Bearer ghp_secret\"";
            assert!(curl.configuration.lines().any(|one| one == line));
        }
    }

    #[test]
    fn what_curl_reads() {
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
