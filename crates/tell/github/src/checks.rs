//! Writes check runs: a verdict on a commit, with annotations on lines of a file.
//!
//! Only the token of an app may write them, such as the one of a workflow run with
//! `checks: write`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::address::Repository;
use crate::client::Client;
use crate::curl::Method;
use crate::error::Result;

/// Largest number of annotations that GitHub accepts in a request.
const MOST_ANNOTATIONS: usize = 50;
/// Largest number of characters in a text of a check run; GitHub accepts 65,535.
const MOST_CHARACTERS: usize = 60_000;

/// A check run: a verdict on a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun {
    /// Name of the check. Of several with this name on a commit, the newest counts.
    pub name: String,
    /// True if the commit passes.
    pub passes: bool,
    /// The verdict in one line of text.
    pub title: String,
    /// Details of the verdict, as Markdown.
    pub summary: String,
    /// Remarks on lines of files; GitHub gets the first 50.
    pub annotations: Vec<Annotation>,
}

/// A remark on a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Path of the file in the repository.
    pub path: String,
    /// Number of the line, from 1.
    pub line: usize,
    /// True if the remark is the reason of a failure, false if it is a warning.
    pub is_failure: bool,
    /// The remark in plain text.
    pub message: String,
}

#[derive(Deserialize)]
struct CheckRunAnswer {
    #[serde(default)]
    html_url: String,
}

impl CheckRun {
    fn body(&self, commit: &str, details: &str) -> Value {
        let annotations = self.annotations.iter().take(MOST_ANNOTATIONS);
        let annotations: Vec<Value> = annotations.map(Annotation::body).collect();
        json!({
            "name": self.name,
            "head_sha": commit,
            "details_url": details,
            "status": "completed",
            "conclusion": if self.passes { "success" } else { "failure" },
            "output": {
                "title": self.title,
                "summary": shortened(&self.summary),
                "annotations": annotations,
            },
        })
    }
}

impl Annotation {
    fn body(&self) -> Value {
        json!({
            "path": self.path,
            "start_line": self.line,
            "end_line": self.line,
            "annotation_level": if self.is_failure { "failure" } else { "warning" },
            "message": shortened(&self.message),
        })
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MOST_CHARACTERS).collect()
}

impl Client {
    /// Writes a check run on a commit, with a link to its details. Returns the address of its page.
    ///
    /// # Errors
    ///
    /// If GitHub refuses.
    pub fn write_check_run(
        &self,
        repository: &Repository,
        commit: &str,
        run: &CheckRun,
        details: &str,
    ) -> Result<String> {
        let path = repository.path("/check-runs");
        // Sending it twice does no harm: the newest check run of a name counts.
        let request = self.request(Method::Post, &path, Some(run.body(commit, details)));
        let answer: CheckRunAnswer = self.send(&request)?.json(&request.summary())?;
        Ok(answer.html_url)
    }
}
