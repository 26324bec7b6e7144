//! Runs `gh`, GitHub's own program: to get a token, and to find the pull request of a branch.

use std::ffi::OsString;

use serde::Deserialize;

use crate::address::Repository;
use crate::answer::one_line;
use crate::error::{Error, Result};
use crate::secret::Token;

/// The program `gh`, and the token that it uses.
#[derive(Debug, Clone)]
pub struct Gh {
    /// Name of `gh`. A name is looked up in `PATH`, a path would be looked up in this folder.
    program: OsString,
    /// Token for requests, or `None` for the token of `gh`'s login. No result contains it.
    token: Option<Token>,
}

#[derive(Deserialize)]
struct PullRequestView {
    number: u64,
    url: String,
}

impl Gh {
    /// Returns a `gh` that uses a token, or its own login without one.
    #[must_use]
    pub fn new(token: Option<Token>) -> Self {
        Self {
            program: OsString::from("gh"),
            token,
        }
    }

    /// Returns the token of `gh`'s login.
    ///
    /// # Errors
    ///
    /// If `gh` is missing or not logged in.
    pub fn token() -> Result<Token> {
        let output = Self::new(None).ask(&["auth", "token"])?;

        // The output is never repeated: it may be the token.
        Token::new(&output.stdout)
            .filter(|_| output.code == 0)
            .ok_or_else(|| Error::Gh("not logged in; run gh auth login".to_owned()))
    }

    /// Returns the pull request of the branch that is checked out here.
    ///
    /// # Errors
    ///
    /// If there is no `gh`, or the branch has no pull request.
    pub fn pull_request(&self) -> Result<(Repository, u64)> {
        let output = self.ask(&["pr", "view", "--json", "number,url"])?;
        if output.code != 0 {
            return Err(Error::Gh(one_line(&output.stderr)));
        }

        let unreadable = || Error::Gh("cannot read the answer of gh pr view".to_owned());
        let view: PullRequestView =
            serde_json::from_str(&output.stdout).map_err(|_| unreadable())?;
        let path = view.url.splitn(4, '/').nth(3).ok_or_else(unreadable)?;
        let mut parts = path.split('/');
        let (owner, name) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));

        Ok((Repository::parse(&format!("{owner}/{name}"))?, view.number))
    }

    fn command(&self, arguments: Vec<OsString>) -> duct::Expression {
        let command = duct::cmd(&self.program, arguments)
            .env("GH_PROMPT_DISABLED", "1")
            .env("GH_NO_UPDATE_NOTIFIER", "1")
            .env("NO_COLOR", "1");

        match &self.token {
            Some(token) => command.env("GH_TOKEN", token.exposed()),
            None => command,
        }
    }

    fn ask(&self, arguments: &[&str]) -> Result<GhOutput> {
        let arguments = arguments.iter().map(OsString::from).collect();
        self.run(&self.command(arguments).stdin_null())
    }

    fn run(&self, command: &duct::Expression) -> Result<GhOutput> {
        let run = command.stdout_capture().stderr_capture().unchecked().run();
        let output = run.map_err(|cause| Error::NoTool { tool: "gh", cause })?;
        let clean = |bytes: &[u8]| match &self.token {
            Some(token) => String::from_utf8_lossy(&token.scrubbed(bytes)).into_owned(),
            None => String::from_utf8_lossy(bytes).into_owned(),
        };

        Ok(GhOutput {
            code: output.status.code().unwrap_or(-1),
            stdout: clean(&output.stdout),
            stderr: clean(&output.stderr),
        })
    }
}

/// The exit code and output of `gh`, without the token.
struct GhOutput {
    code: i32,
    stdout: String,
    stderr: String,
}
