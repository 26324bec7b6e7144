//! `gh`, GitHub's own program: whose token is at hand, which pull request a branch
//! has, and attaching pictures, which no API that is documented can.
//!
//! From 2.99 on `gh pr comment --attach FILE` uploads pictures of up to 10 MB and
//! writes their addresses where the body names the file, byte for byte, as a picture
//! of Markdown. Users' tokens only; a part that fails leaves the rest posted.

use std::ffi::OsString;
use std::path::Path;

use serde::Deserialize;

use crate::address::Repository;
use crate::answer::one_line;
use crate::error::{Error, Result};
use crate::secret::Token;

/// `gh`.
#[derive(Debug, Clone)]
pub struct Gh {
    /// A name, looked for in `PATH`: a path would be looked for here.
    program: OsString,
    /// Whose it is to post as. It is in nothing that is handed back.
    token: Option<Token>,
}

/// Which `gh` it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GhVersion(pub u32, pub u32);

impl GhVersion {
    /// The first that attaches.
    pub const FIRST_TO_ATTACH: Self = Self(2, 99);

    /// From `gh version 2.99.0 (2026-09-01)`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let words = text.lines().next()?.strip_prefix("gh version ")?;
        let mut parts = words.split(['.', ' ', '-']).map(str::parse);
        Some(Self(parts.next()?.ok()?, parts.next()?.ok()?))
    }
}

/// What `gh pr comment` did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// The number of the comment, if it said one.
    pub comment: Option<u64>,
    /// What went wrong, if anything: it may have posted the rest.
    pub failure: Option<String>,
}

#[derive(Deserialize)]
struct Viewed {
    number: u64,
    url: String,
}

impl Gh {
    /// A `gh` that speaks with a token, or with the one it was logged in with.
    #[must_use]
    pub fn new(token: Option<Token>) -> Self {
        Self {
            program: OsString::from("gh"),
            token,
        }
    }

    /// Which it is.
    ///
    /// # Errors
    ///
    /// If there is none, or it says nothing that is understood.
    pub fn version(&self) -> Result<GhVersion> {
        let said = self.ask(&["--version"])?;
        let found = GhVersion::parse(&said.out);
        found.ok_or_else(|| {
            Error::Gh(format!(
                "its version is not understood: {}",
                one_line(&said.out)
            ))
        })
    }

    /// The token that it was logged in with.
    ///
    /// # Errors
    ///
    /// If there is no `gh`, or it has none.
    pub fn token() -> Result<Token> {
        let said = Self::new(None).ask(&["auth", "token"])?;
        // What it printed is never repeated: it may be the token.
        Token::new(&said.out)
            .filter(|_| said.code == 0)
            .ok_or_else(|| Error::Gh("it is not logged in: gh auth login".to_owned()))
    }

    /// The pull request of the branch that is checked out here.
    ///
    /// # Errors
    ///
    /// If there is no `gh`, or no pull request.
    pub fn pull_request(&self) -> Result<(Repository, u64)> {
        let said = self.ask(&["pr", "view", "--json", "number,url"])?;
        if said.code != 0 {
            return Err(Error::Gh(one_line(&said.err)));
        }
        let odd = || Error::Gh("its answer to pr view is not understood".to_owned());
        let viewed: Viewed = serde_json::from_str(&said.out).map_err(|_| odd())?;
        let mut parts = viewed.url.splitn(4, '/').nth(3).ok_or_else(odd)?.split('/');
        let (owner, name) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        Ok((
            Repository::parse(&format!("{owner}/{name}"))?,
            viewed.number,
        ))
    }

    /// Posts a comment with pictures, or, if `edits_last`, makes it what the last
    /// comment of the token's user says. The files are named as the body does, seen
    /// from `folder`.
    ///
    /// # Errors
    ///
    /// If there is no `gh`.
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
        let said = self.said(&command)?;
        let failure = one_line(&said.err);
        let failure = match failure.is_empty() {
            true => format!("it ended with {}", said.code),
            false => failure,
        };
        Ok(Attached {
            comment: comment_number(&said.out),
            failure: (said.code != 0).then_some(failure),
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

    fn ask(&self, arguments: &[&str]) -> Result<Said> {
        let arguments = arguments.iter().map(OsString::from).collect();
        self.said(&self.command(arguments).stdin_null())
    }

    fn said(&self, command: &duct::Expression) -> Result<Said> {
        let run = command.stdout_capture().stderr_capture().unchecked().run();
        let output = run.map_err(|cause| Error::NoTool { tool: "gh", cause })?;
        let clean = |bytes: &[u8]| match &self.token {
            Some(token) => String::from_utf8_lossy(&token.scrubbed(bytes)).into_owned(),
            None => String::from_utf8_lossy(bytes).into_owned(),
        };
        Ok(Said {
            code: output.status.code().unwrap_or(-1),
            out: clean(&output.stdout),
            err: clean(&output.stderr),
        })
    }
}

struct Said {
    code: i32,
    out: String,
    err: String,
}

/// `gh pr comment 7 --repo o/r --body-file - --attach charts/timeline.png`
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

/// From `https://github.com/o/r/pull/7#issuecomment-123`.
fn comment_number(out: &str) -> Option<u64> {
    let (_, number) = out.trim().rsplit_once("#issuecomment-")?;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
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
    fn what_it_is_told() {
        let repository = Repository::parse("o/r").unwrap();
        let files = ["charts/a.png".to_owned()];
        let arguments = comment_arguments(&repository, 7, &files, true);
        let words: Vec<_> = arguments.iter().map(|one| one.to_string_lossy()).collect();
        let expected = "pr comment 7 --repo o/r --body-file - --edit-last --attach charts/a.png";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn which_comment() {
        let check = |out: &str, expected: Option<u64>| assert_eq!(comment_number(out), expected);
        check(
            "https://github.com/o/r/pull/7#issuecomment-123\n",
            Some(123),
        );
        check("", None);
    }
}
