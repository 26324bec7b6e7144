//! Tests `metalens pr`: it posts a folder as one comment on a pull request.
//!
//! The tests use a server on this machine and a fake `gh`, which needs `curl`; without `curl` they are
//! skipped.

mod action;
mod arguments;
mod bodies;
mod pictures;
mod requests;
mod server;
mod workflow;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::analyze::folder::write_report;
use crate::with_scenario;
use server::{Server, TOKEN};

/// A fake `gh`: `gh api` asks the test's server, and answers as `gh` 2.23 does. A release has the
/// program that is tested.
const GH: &str = r#"#!/usr/bin/env bash
set -uo pipefail
[ -z "${LOG:-}" ] || echo "$*" >>"$LOG"
token=${GH_TOKEN:-${GITHUB_TOKEN:-}}
if [ -z "$token" ]; then
    echo 'To get started with GitHub CLI, please run:  gh auth login' >&2
    exit 4
fi
case "$1" in
release)
    archive=$7
    name=${archive%.tar.gz}
    mkdir -p "packed/$name/bin"
    ln -s "$PROGRAM" "packed/$name/bin/metalens"
    tar -czf "$archive" -C packed "$name"
    if command -v sha256sum >/dev/null; then sum=(sha256sum); else sum=(shasum -a 256); fi
    "${sum[@]}" "$archive" >"$archive.sha256"
    [ -z "${DAMAGED:-}" ] || echo x >>"$archive"
    ;;
pr)
    echo 'no pull requests found for branch "main"' >&2
    exit 1
    ;;
api)
    [ "$2 $3" = '--include --method' ] || exit 9
    body=()
    [ "${5:-} ${6:-}" != '--input -' ] || body=(--data-binary @-)
    export -n GH_TOKEN GITHUB_TOKEN
    answer=$(curl --silent --show-error --include --request "$4" --header Expect: --header @<(
        echo "Authorization: Bearer $token"
    ) ${body[@]+"${body[@]}"} "$SERVER/${!#}" && echo .) || {
        echo "error connecting to api.github.com" >&2
        exit 1
    }
    printf '%s' "${answer%.}"
    [[ "$answer" == HTTP/*\ 2??\ * ]]
    ;;
esac
"#;

const KEY: &str = "<!-- metalens:report-Space-Game -->";

/// A folder with a report, and the environment of a run of `pr`.
struct Bench {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

impl Bench {
    fn new(scenario: &str) -> Self {
        let folder = with_scenario(scenario);
        write_report(folder.path(), &[scenario, "-o", "out"]);
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("gh"), GH).unwrap();
        fs::set_permissions(bin.join("gh"), PermissionsExt::from_mode(0o755)).unwrap();
        Self {
            folder,
            environment: Vec::new(),
        }
    }

    /// Creates a bench in a workflow run on pull request 7 of `o/r`.
    fn with(scenario: &str, server: &Server) -> Self {
        Self::new(scenario)
            .set("SERVER", &server.api)
            .set("GITHUB_REPOSITORY", "o/r")
            .set("GITHUB_REF", "refs/pull/7/merge")
            .set("GITHUB_TOKEN", TOKEN)
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn search_path(&self) -> String {
        let bin = self.path("bin");
        format!(
            "{}:/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin",
            bin.display()
        )
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = crate::command(self.folder.path(), &[&["pr", "out"], arguments].concat());
        command.envs(self.environment.iter().cloned());
        command.env("PATH", self.search_path());
        command
    }

    /// Runs `pr`, and checks that its output has neither the token nor control characters.
    fn run(&self, arguments: &[&str], code: i32) -> Output {
        let output = self.command(arguments).output().unwrap();
        let said = crate::transcript(&output);
        assert!(
            !said.contains(TOKEN) && !said.contains("TheSecret"),
            "{said}"
        );
        assert_eq!(metalens_text::shown_lines(&said), said);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{said}");
        output
    }
}

/// Returns whether `curl` is installed, which these tests need.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn has_curl() -> bool {
    let found = std::process::Command::new("curl").arg("--version").output();
    if found.is_err() {
        println!("SKIPPED: there is no curl here");
    }
    found.is_ok()
}

/// Changes the document of a folder, and its hash in the manifest, as an attacker might.
fn forge(folder: &Path, change: impl FnOnce(&mut Value)) {
    let manifest = folder.join("manifest.json");
    let mut listed: Value = serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    for file in listed["files"].as_array_mut().unwrap() {
        if file["kind"] == "report" {
            let path = folder.join(file["path"].as_str().unwrap());
            let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            change(&mut document);
            let bytes = serde_json::to_vec(&document).unwrap();
            file["bytes"] = bytes.len().into();
            let digits = Sha256::digest(&bytes);
            let digits: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
            file["sha256"] = digits.into();
            fs::write(&path, bytes).unwrap();
            break;
        }
    }
    fs::write(&manifest, serde_json::to_vec(&listed).unwrap()).unwrap();
}
