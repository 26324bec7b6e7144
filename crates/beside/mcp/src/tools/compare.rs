//! Defines the tool `compare`, which compares two sides, and judges them by limits.

use std::ffi::OsString;

use metalens_comparison::Comparison;
use metalens_render::comparison;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ToolCall;
use super::part::Part;
use crate::answer::{ToolAnswer, fields, keep, plain_json, rows, text_of};
use crate::problem::ToolProblem;

pub(super) const COMPARE: &str = "\
Compares recordings of one program, before (base) and after (new) a change: what changed, and whether \
it is more than noise. Use it to prove that a change helped. Give three or more runs per side: one run \
per side cannot separate a change from noise, and the answer says so. It first says whether both \
sides did the same work; never call different work faster or slower. Sides that were recorded \
differently (chip, clock, heat, other processes) are refused with the reasons. With gate it judges the \
new runs by limits, for CI: passed is the verdict; rows has each limit with its value and verdict \
(pass, miss, not-measurable).";

/// Sides of a comparison.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompareArguments {
    /// Runs before the change: recordings, report.json files or report folders below a root.
    #[serde(default)]
    base: Vec<String>,
    /// Runs after the change.
    new: Vec<String>,
    /// Baseline file to compare with, instead of base; `metalens baseline save` writes it.
    baseline: Option<String>,
    #[serde(default)]
    part: Part,
    /// Take both sides as the same work: eager against compiled or fused kernels.
    #[serde(default)]
    fusion: bool,
    /// Compare sides that were recorded differently; the answer says so.
    #[serde(default)]
    allow_different: bool,
    /// Judge by limits: a file of them, or default for the gate in metalens.toml of the first root
    /// or else as many GPU intervals, at most 5 % more time and 10 % longer gaps.
    gate: Option<String>,
    /// verdict, changes, per-unit, kernels, idle, figures, comparable, gate or all [default: the
    /// most important].
    section: Option<String>,
    /// At most this many rows of each table [default: 10].
    top: Option<usize>,
}

/// Sections of a comparison that the answer has by default.
const BRIEF: [&str; 6] = ["verdict", "gate", "changes", "per-unit", "kernels", "idle"];

/// Sections of a gate that the answer has by default.
const JUDGED: [&str; 2] = ["verdict", "gate"];
/// Exit codes of a gate that gave a verdict: a limit was missed, and too few or too different runs.
const MISSED: i32 = 5;
const INCONCLUSIVE: i32 = 6;

/// Answers a call of `compare`.
pub(super) async fn compare(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: CompareArguments = call.parse()?;
    let options = options(call, &arguments)?;
    let is_gate = arguments.gate.is_some();
    let accepted = [MISSED, INCONCLUSIVE];
    let accepted = if is_gate { &accepted[..] } else { &[] };
    let (compared, code) = run(call, options, arguments.part, accepted).await?;

    let mut document = comparison::document(&compared, call.show_names);
    let brief = if is_gate { &JUDGED[..] } else { &BRIEF[..] };
    match arguments.section.as_deref() {
        Some(section) => keep(&mut document, section)?,
        None => document
            .sections
            .retain(|section| brief.contains(&section.id)),
    }
    let is_whole = is_gate || arguments.section.as_deref() == Some("all");
    if let Some(top) = arguments.top.or((!is_whole).then_some(10)) {
        document.limit(top);
    }
    let mut text = text_of(&document);
    if arguments.section.is_none() {
        text.push_str("\nFor more: section with figures, comparable or all; a larger top.\n");
    }

    let whole = plain_json(&comparison::shown(&compared, call.show_names))?;
    let (structured, list) = if is_gate {
        (judged(&whole, code), "rows")
    } else {
        (changes(&whole), "metrics")
    };
    Ok(ToolAnswer {
        text,
        structured,
        list,
        picture: None,
    })
}

/// Returns the changes, and whether both sides did the same work under the same conditions.
fn changes(whole: &Map<String, Value>) -> Map<String, Value> {
    let mut content = fields(whole, &["schema", "headline", "method", "notes"]);
    if let Some(Value::Object(work)) = whole.get("work") {
        let work = fields(work, &["amount", "basis", "common_kernels", "renamed"]);
        content.insert("work".to_owned(), Value::Object(work));
    }
    if let Some(Value::Object(comparable)) = whole.get("comparable") {
        let comparable = fields(comparable, &["comparable", "forced", "differ"]);
        content.insert("comparable".to_owned(), Value::Object(comparable));
    }

    let per_unit = whole.get("work").and_then(|work| work.get("per_unit"));
    content.insert("per_unit".to_owned(), short(per_unit));
    content.insert("metrics".to_owned(), short(whole.get("metrics")));
    content
}

/// Returns the verdict of a gate, and each limit with its value.
fn judged(whole: &Map<String, Value>, code: Option<i32>) -> Map<String, Value> {
    let mut content = fields(whole, &["headline", "notes"]);
    content.insert("passed".to_owned(), json!(code == Some(0)));
    content.insert("inconclusive".to_owned(), json!(code == Some(INCONCLUSIVE)));
    if let Some(Value::Object(gate)) = whole.get("gate") {
        content.insert("source".to_owned(), gate.get("source").cloned().into());
        content.insert("rows".to_owned(), gate.get("rows").cloned().into());
    }
    content
}

/// Returns the options for the two sides, for how they are compared, and for the gate.
fn options(
    call: &ToolCall<'_>,
    arguments: &CompareArguments,
) -> Result<Vec<OsString>, ToolProblem> {
    let mut options = sides(call, arguments)?;
    if arguments.allow_different {
        options.push("--allow-different".into());
    }
    if arguments.fusion {
        options.push("--preset=fusion".into());
    }
    match arguments.gate.as_deref() {
        None => {}
        Some("default") => options.push("--gate".into()),
        Some(limits) => {
            let mut gate = OsString::from("--gate=");
            gate.push(call.input(limits)?);
            options.push(gate);
        }
    }
    Ok(options)
}

/// Returns the options for the two sides.
fn sides(call: &ToolCall<'_>, arguments: &CompareArguments) -> Result<Vec<OsString>, ToolProblem> {
    if arguments.new.is_empty() {
        return Err(wrong_sides("new is empty"));
    }

    let mut options: Vec<OsString> = Vec::new();
    match (arguments.base.is_empty(), &arguments.baseline) {
        (false, None) => {
            options.push("--base".into());
            options.extend(call.inputs(&arguments.base)?);
        }
        (true, Some(file)) => {
            let mut option = OsString::from("--baseline=");
            option.push(call.input(file)?);
            options.push(option);
        }
        (true, None) => return Err(wrong_sides("there is nothing to compare with")),
        (false, Some(_)) => return Err(wrong_sides("base and baseline exclude each other")),
    }

    options.push("--new".into());
    options.extend(call.inputs(&arguments.new)?);
    Ok(options)
}

fn wrong_sides(what: &str) -> ToolProblem {
    ToolProblem::new(what).hint("give base and new, or baseline and new; each new is a run")
}

/// Runs `metalens compare`, and returns the comparison and the exit code.
async fn run(
    call: &ToolCall<'_>,
    options: Vec<OsString>,
    part: Part,
    accepted: &[i32],
) -> Result<(Comparison, Option<i32>), ToolProblem> {
    let mut arguments: Vec<OsString> = vec!["compare".into(), "--json".into(), "--quiet".into()];
    part.add_to(&mut arguments);
    arguments.extend(options);
    let finished = call
        .metalens("comparing".to_owned(), arguments, accepted)
        .await?;
    Ok((serde_json::from_slice(&finished.stdout)?, finished.code))
}

/// Returns the figures of a list without the values of single runs.
fn short(list: Option<&Value>) -> Value {
    let keys = [
        "id",
        "name",
        "unit",
        "absolute",
        "relative",
        "interval",
        "class",
        "size",
        "direction",
    ];
    let mut short = rows(list, &keys, usize::MAX);
    let whole = list.and_then(Value::as_array);
    let rows = short.as_array_mut().into_iter().flatten();
    for (row, whole) in rows.zip(whole.into_iter().flatten()) {
        let Value::Object(row) = row else {
            continue;
        };
        for side in ["base", "new"] {
            let median = whole.get(side).and_then(|side| side.get("median"));
            row.insert(side.to_owned(), median.cloned().into());
        }
        // These fields are null in most rows.
        row.retain(|key, value| !(value.is_null() && is_optional(key)));
    }
    short
}

/// Returns whether a field is left out where it is null.
fn is_optional(key: &str) -> bool {
    ["interval", "size", "direction"].contains(&key)
}
