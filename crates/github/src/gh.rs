//! Runs `gh`, GitHub's own program: to get a token, to find the pull request of a branch, and to
//! attach pictures, which no documented API can do.
//!
//! Since 2.99 `gh pr comment --attach FILE` uploads pictures of up to 10 MB. Where the body shows
//! FILE as a Markdown picture, `gh` replaces exactly that path by the address of the upload. This
//! works only with tokens of users. If an upload fails, the rest of the comment is still posted.

use std::ffi::OsString;
use std::path::Path;

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

/// The major and minor version of `gh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GhVersion(pub u32, pub u32);

impl GhVersion {
    /// First version that has `--attach`.
    pub const FIRST_TO_ATTACH: Self = Self(2, 99);

    /// Parses `gh version 2.99.0 (2026-09-01)`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let words = text.lines().next()?.strip_prefix("gh version ")?;
        let mut parts = words.split(['.', ' ', '-']).map(str::parse);
        Some(Self(parts.next()?.ok()?, parts.next()?.ok()?))
    }
}

/// Result of `gh pr comment`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Number of the comment, if `gh` printed one.
    pub comment: Option<u64>,
    /// The error, if there was one. The rest of the comment may still be posted.
    pub failure: Option<String>,
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

    /// Returns the version of `gh`.
    ///
    /// # Errors
    ///
    /// If `gh` is missing, or its answer cannot be parsed.
    pub fn version(&self) -> Result<GhVersion> {
        let output = self.ask(&["--version"])?;
        let found = GhVersion::parse(&output.stdout);
        found.ok_or_else(|| {
            Error::Gh(format!(
                "cannot read its version: {}",
                one_line(&output.stdout)
            ))
        })
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

    /// Posts a comment with pictures, or, if `edits_last`, replaces the last comment of the
    /// token's user. The body names the files by their paths relative to `folder`.
    ///
    /// # Errors
    ///
    /// If `gh` is missing.
    pub fn comment(
        &self,
        (repository, number): (&Repository, u64),
        (body, files): (&str, &[String]),
        edits_last: bool,
        folder: &Path,
    ) -> Result<Attached> {
        let arguments = comment_arguments(repository, number, files, edits_last);
        let command = self
            .command(arguments)
            .dir(folder)
            .stdin_bytes(body.as_bytes());
        let output = self.run(&command)?;

        let failure = one_line(&output.stderr);
        let failure = if failure.is_empty() {
            format!("exit code {}", output.code)
        } else {
            failure
        };
        Ok(Attached {
            comment: comment_number(&output.stdout),
            failure: (output.code != 0).then_some(failure),
        })
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

/// Builds `gh pr comment 7 --repo o/r --body-file - --attach charts/timeline.png`.
fn comment_arguments(
    repository: &Repository,
    number: u64,
    files: &[String],
    edits_last: bool,
) -> Vec<OsString> {
    let (number, repository) = (number.to_string(), repository.to_string());
    let fixed = [
        "pr",
        "comment",
        &number,
        "--repo",
        &repository,
        "--body-file",
        "-",
    ];

    let mut arguments: Vec<OsString> = fixed.iter().map(OsString::from).collect();
    if edits_last {
        arguments.push("--edit-last".into());
    }
    for file in files {
        arguments.push("--attach".into());
        arguments.push(file.into());
    }
    arguments
}

/// Parses the number in `https://github.com/o/r/pull/7#issuecomment-123`.
fn comment_number(stdout: &str) -> Option<u64> {
    let (_, number) = stdout.trim().rsplit_once("#issuecomment-")?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed_and_ordered() {
        let check = |text: &str, expected: Option<GhVersion>| {
            assert_eq!(GhVersion::parse(text), expected, "{text}");
        };
        check(
            "gh version 2.99.0 (2026-09-01)\nhttps://…",
            Some(GhVersion(2, 99)),
        );
        check("gh version 2.45.0-dirty", Some(GhVersion(2, 45)));
        check("gh version 3.0", Some(GhVersion(3, 0)));
        check("", None);
        check("gitea-hub 1", None);
        assert!(GhVersion(3, 0) > GhVersion::FIRST_TO_ATTACH);
    }

    #[test]
    fn gh_gets_the_files_as_arguments() {
        let repository = Repository::parse("o/r").unwrap();
        let files = ["charts/a.png".to_owned()];
        let arguments = comment_arguments(&repository, 7, &files, true);
        let words: Vec<_> = arguments
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        let expected = "pr comment 7 --repo o/r --body-file - --edit-last --attach charts/a.png";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn the_number_of_the_comment_is_in_the_output() {
        let check =
            |stdout: &str, expected: Option<u64>| assert_eq!(comment_number(stdout), expected);
        check(
            "https://github.com/o/r/pull/7#issuecomment-123\n",
            Some(123),
        );
        check("", None);
    }
}
