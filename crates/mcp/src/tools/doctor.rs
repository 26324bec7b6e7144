//! Answers whether this machine can record: `doctor`.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::Call;
use crate::answer::Answer;
use crate::problem::Problem;

pub(super) const DOCTOR: &str = "\
Checks whether this machine can record GPU work, and what to do if it cannot: each check with what it \
found and a remedy. Recording needs a Mac with Xcode; reading recordings needs neither. Call it before \
record, and when a recording failed.";

/// Arguments of `doctor`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DoctorArguments {
    /// Most characters of the text, and of the structured content [default: 6000].
    #[serde(rename = "budget")]
    _budget: Option<u32>,
}

pub(super) async fn doctor(call: &Call<'_>) -> Result<Answer, Problem> {
    let DoctorArguments { _budget } = call.parse()?;
    // A machine that cannot record is an answer.
    const UNAVAILABLE: i32 = 3;
    let words = |more: &[&str]| -> Vec<OsString> {
        let words = ["doctor", "--quiet"].iter().chain(more);
        words.map(OsString::from).collect()
    };
    let what = || "checking this machine".to_owned();
    let found = call
        .metalens(what(), words(&["--json"]), &[UNAVAILABLE])
        .await?;
    let shown = call.metalens(what(), words(&[]), &[UNAVAILABLE]).await?;
    let mut structured: Map<String, Value> = serde_json::from_slice(&found.stdout)?;
    if !call.show_names {
        // They have the names as a list.
        structured.remove("facts");
        let checks = structured.get_mut("checks").and_then(Value::as_array_mut);
        for check in checks.into_iter().flatten() {
            if let Some(Value::String(found)) = check.get_mut("found") {
                *found = call.hide(found);
            }
        }
    }
    Ok(Answer {
        text: call.hide(&String::from_utf8_lossy(&shown.stdout)),
        structured,
        list: "checks",
        picture: None,
    })
}
