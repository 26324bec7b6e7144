//! Checks whether this machine can record, for the tool `record`.

use std::ffi::OsString;

use serde_json::{Map, Value};

use super::ToolCall;
use crate::answer::ToolAnswer;
use crate::problem::ToolProblem;

/// Answers whether this machine can record.
pub(super) async fn doctor(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    // A machine that cannot record is an answer.
    const UNAVAILABLE: i32 = 3;
    let words = ["doctor", "--json", "--quiet"].map(OsString::from).to_vec();
    let what = "checking this machine".to_owned();
    let output = call.metalens(what, words, &[UNAVAILABLE]).await?;
    let mut structured: Map<String, Value> = serde_json::from_slice(&output.stdout)?;
    // The facts are long, and the checks have the conclusions.
    structured.remove("facts");
    Ok(ToolAnswer {
        text: text(&structured),
        structured,
        list: "checks",
        picture: None,
    })
}

/// Returns a line for each check, with lines for its remedy.
fn text(report: &Map<String, Value>) -> String {
    let can = match report.get("can_record") {
        Some(Value::Bool(true)) => "This machine can record.",
        _ => "This machine cannot record.",
    };
    let mut lines = vec![can.to_owned()];
    let checks = report.get("checks").and_then(Value::as_array);

    for check in checks.into_iter().flatten() {
        let (id, verdict) = (word(check, "id"), word(check, "verdict"));
        lines.push(format!("{verdict}: {id}: {}", word(check, "found")));
        let Some(remedy @ Value::Object(_)) = check.get("remedy") else {
            continue;
        };
        lines.push(format!("  → {}", word(remedy, "what")));
        let listed = remedy.get("commands").and_then(Value::as_array);
        let commands = listed.into_iter().flatten().filter_map(Value::as_str);
        lines.extend(commands.map(|command| format!("    {command}")));
    }
    lines.join("\n") + "\n"
}

fn word(object: &Value, key: &str) -> String {
    let word = object.get(key).and_then(Value::as_str);
    word.unwrap_or_default().to_owned()
}
