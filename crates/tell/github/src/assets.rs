//! Adds pictures to a branch of their own: GitHub documents no way to attach them to a comment.
//!
//! The name of each file is the hash of its content, so no file ever changes. Each change is a
//! commit on top of the last one, so no picture is lost. Addresses name the commit, so they always
//! show the same picture.

use std::thread::sleep;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::address::Repository;
use crate::client::Client;
use crate::curl::Method;
use crate::error::{Error, Result};

/// Name of the branch. It shares no history with other branches.
pub const ASSETS_BRANCH: &str = "metalens-assets";
const README: &str = "# Pictures of `metalens pr`\n\nComments on pull requests show them, each by \
    the commit that added it. Nothing else needs this branch. If you delete it, those pictures \
    are gone and nothing else is.\n";
const ATTEMPTS: u32 = 6;

/// A file that is added to the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Path on the branch: `metalens/<hash>.png`.
    pub path: String,
    /// Bytes of the file.
    pub bytes: Vec<u8>,
}

#[derive(Deserialize)]
struct GitObject {
    sha: String,
}

#[derive(Deserialize)]
struct Ref {
    object: GitObject,
}

#[derive(Deserialize)]
struct Commit {
    tree: GitObject,
}

/// The newest commit of the branch, and its tree.
struct BranchTip {
    commit: String,
    tree: String,
}

impl Client {
    /// Adds files to the branch, creates it if it is missing, and returns the commit that
    /// has the files.
    ///
    /// # Errors
    ///
    /// If GitHub refuses, or if other runs change the branch first in every attempt.
    pub fn keep_assets(&self, repository: &Repository, assets: &[Asset]) -> Result<String> {
        let mut entries = Vec::new();
        for asset in assets {
            let content = STANDARD.encode(&asset.bytes);
            let body = json!({ "content": content, "encoding": "base64" });
            let blob: GitObject = self.make(repository, "/git/blobs", body)?;
            entries.push(json!({
                "path": asset.path, "mode": "100644", "type": "blob", "sha": blob.sha,
            }));
        }

        let mut pause = Duration::from_millis(100);
        for _ in 1..ATTEMPTS {
            match self.add(repository, &entries) {
                // Another run added a commit first: try again on top of it.
                Err(error) if error.has_status(422) || error.has_status(409) => {}
                done => return done,
            }
            sleep(pause);
            pause *= 2;
        }

        self.add(repository, &entries)
    }

    /// Adds entries on top of the newest commit, or creates the branch.
    fn add(&self, repository: &Repository, entries: &[Value]) -> Result<String> {
        let Some(tip) = self.tip(repository)? else {
            let readme = json!({
                "path": "README.md", "mode": "100644", "type": "blob", "content": README,
            });
            let entries = [&[readme], entries].concat();
            let tree: GitObject =
                self.make(repository, "/git/trees", json!({ "tree": entries }))?;

            let commit = self.commit(repository, &tree.sha, &[])?;
            let name = format!("refs/heads/{ASSETS_BRANCH}");
            let body = json!({ "ref": name, "sha": commit });
            let _: Value = self.make(repository, "/git/refs", body)?;
            return Ok(commit);
        };

        let body = json!({ "base_tree": tip.tree, "tree": entries });
        let tree: GitObject = self.make(repository, "/git/trees", body)?;
        if tree.sha == tip.tree {
            return Ok(tip.commit);
        }

        let commit = self.commit(repository, &tree.sha, &[&tip.commit])?;
        let path = repository.path(&format!("/git/refs/heads/{ASSETS_BRANCH}"));
        let body = json!({ "sha": commit, "force": false });
        self.send(&self.request(Method::Patch, &path, Some(body)))?;
        Ok(commit)
    }

    /// Returns the newest commit of the branch, or `None` if there is no branch.
    fn tip(&self, repository: &Repository) -> Result<Option<BranchTip>> {
        let path = repository.path(&format!("/git/ref/heads/{ASSETS_BRANCH}"));
        let found = match self.get(&path) {
            Err(error) if error.is_not_found() => return Ok(None),
            found => found?,
        };

        let commit = found.json::<Ref>(&path)?.object.sha;
        let path = repository.path(&format!("/git/commits/{commit}"));
        let tree = self.get(&path)?.json::<Commit>(&path)?.tree.sha;
        Ok(Some(BranchTip { commit, tree }))
    }

    /// Creates a commit, and returns its hash.
    fn commit(&self, repository: &Repository, tree: &str, parents: &[&str]) -> Result<String> {
        let message = "Pictures for a pull request";
        let body = json!({ "message": message, "tree": tree, "parents": parents });

        let made: GitObject = self.make(repository, "/git/commits", body)?;
        is_hash(&made.sha)
            .then_some(made.sha)
            .ok_or_else(|| Error::Unexpected {
                request: "POST /git/commits".to_owned(),
                why: "the answer names no commit".to_owned(),
            })
    }

    /// Creates a git object. Objects are named by their content, so that creating one twice is
    /// harmless.
    fn make<T: serde::de::DeserializeOwned>(
        &self,
        repository: &Repository,
        path: &str,
        body: Value,
    ) -> Result<T> {
        let request = self.request(Method::Post, &repository.path(path), Some(body));
        self.send(&request)?.json(&request.summary())
    }
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
