//! Adds pictures to a branch of their own: GitHub documents no way to attach them to a comment.
//!
//! The name of each file is the hash of its content, so no file ever changes, and an address always
//! shows the same picture. Each file is a commit on top of the last one.

use std::thread::sleep;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::error::Result;
use crate::gh::{ApiRequest, Gh};
use crate::repository::Repository;

/// Name of the branch. It shares no history with other branches.
pub const ASSETS_BRANCH: &str = "metalens-assets";
const README: &str = "# Pictures of `metalens pr`\n\nComments on pull requests show them. Nothing else \
    needs this branch. If you delete it, those pictures are gone and nothing else is.\n";
const ATTEMPTS: u32 = 6;

/// A picture that a comment may show.
#[derive(Debug, Clone)]
pub struct ChartFile {
    /// The name of the chart, such as `timeline`.
    pub name: String,
    /// True if the picture is light on dark.
    pub is_dark: bool,
    /// Path of its file, relative to the folder.
    pub path: String,
    /// Alternative text, for readers who cannot see it.
    pub alt: String,
    /// Width at which it is shown, in pixels.
    pub width: u32,
    /// Bytes of the file.
    pub bytes: Vec<u8>,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

impl ChartFile {
    /// Returns the path of the picture on the branch.
    pub fn asset(&self) -> String {
        format!(
            "metalens/{}.png",
            self.sha256.get(..32).unwrap_or(&self.sha256)
        )
    }
}

/// A chart with the addresses of its pictures.
#[derive(Debug, Clone)]
pub struct PlacedChart<'a> {
    /// The chart, in its dark-on-light form.
    pub chart: &'a ChartFile,
    /// Address of the picture that is dark on light.
    pub light: String,
    /// Address of the picture that is light on dark, if there is one.
    pub dark: Option<String>,
}

/// Returns the light charts, each with its addresses on the branch.
pub fn on_branch<'a>(
    charts: &'a [ChartFile],
    server: &str,
    repository: &str,
) -> Vec<PlacedChart<'a>> {
    let address = |chart: &ChartFile| {
        let path = chart.asset();
        format!("{server}/{repository}/blob/{ASSETS_BRANCH}/{path}?raw=true")
    };

    let light = charts.iter().filter(|chart| !chart.is_dark);
    let placed = light.map(|chart| {
        let mut dark = charts.iter().filter(|chart| chart.is_dark);
        PlacedChart {
            chart,
            light: address(chart),
            dark: dark.find(|dark| dark.name == chart.name).map(address),
        }
    });
    placed.collect()
}

#[derive(Deserialize)]
struct GitObject {
    sha: String,
}

impl Gh<'_> {
    /// Adds a picture to the branch, and creates the branch if it is missing.
    pub(crate) fn keep(&self, repository: &Repository, chart: &ChartFile) -> Result<()> {
        let mut pause = Duration::from_millis(100);
        for _ in 1..ATTEMPTS {
            match self.add(repository, chart) {
                // Another run has changed the branch: look again.
                Err(error) if error.has_status(409) || error.has_status(422) => {}
                done => return done,
            }
            sleep(pause);
            pause *= 2;
        }

        self.add(repository, chart)
    }

    fn add(&self, repository: &Repository, chart: &ChartFile) -> Result<()> {
        let path = repository.path(&format!("/contents/{}", chart.asset()));
        match self.get::<IgnoredAny>(format!("{path}?ref={ASSETS_BRANCH}")) {
            Err(error) if error.is_not_found() => {}
            found => return found.map(drop),
        }

        let content = STANDARD.encode(&chart.bytes);
        let message = "Picture for a pull request";
        let body = json!({ "message": message, "content": content, "branch": ASSETS_BRANCH });
        let request = ApiRequest::new("PUT", path, Some(body));
        match self.send::<IgnoredAny>(&request) {
            Err(error) if error.is_not_found() => {
                self.create_branch(repository)?;
                self.send::<IgnoredAny>(&request).map(drop)
            }
            done => done.map(drop),
        }
    }

    fn create_branch(&self, repository: &Repository) -> Result<()> {
        let make = |path: &str, body: Value| {
            ApiRequest::new("POST", repository.path(&format!("/git/{path}")), Some(body))
        };
        let readme = json!({
            "path": "README.md", "mode": "100644", "type": "blob", "content": README,
        });
        let tree: GitObject = self.send(&make("trees", json!({ "tree": [readme] })))?;
        let body = json!({ "message": "Branch for pictures", "tree": tree.sha, "parents": [] });
        let commit: GitObject = self.send(&make("commits", body))?;
        let name = format!("refs/heads/{ASSETS_BRANCH}");
        let body = json!({ "ref": name, "sha": commit.sha });
        self.send::<IgnoredAny>(&make("refs", body)).map(drop)
    }
}
