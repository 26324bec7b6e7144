//! Defines the tools that compare two sides: `compare` and `gate`.

use std::ffi::OsString;

use metalens_comparison::Comparison;
use metalens_render::comparison;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::ToolCall;
use super::part::Part;
use crate::answer::{ToolAnswer, fields, keep, plain_json, rows, text_of};
use crate::problem::ToolProblem;

pub(super) const COMPARE: &str = "\
Compares recordings of one program, before (base) and after (new) a change: what changed, and whether \
it is more than noise. Use it to prove that a change helped. Give three or more runs per side: one run \
per side cannot separate a change from noise, and the answer says so. It first says whether both \
sides did the same work; never call different work faster or slower. Sides that were recorded \
differently (chip, clock, heat, other processes) are refused with the reasons.";

pub(super) const GATE: &str = "\
Judges new runs against a base or a baseline with limits, for CI. passed is the verdict; rows has each \
limit with its value and verdict (pass, miss, not-measurable). Without limits: the same number of GPU \
intervals, at most 5 % more time and 10 % longer gaps.";

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
    /// Sections to print instead of the most important: verdict, changes, per-unit, kernels, idle,
    /// figures, comparable.
    #[serde(default)]
    section: Vec<String>,
    /// Print every section.
    #[serde(default)]
    full: bool,
    /// At most this many rows of each table [default: 10].
    top: Option<usize>,
}

/// Sides and limits of a gate.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GateArguments {
    /// Runs before the change.
    #[serde(default)]
    base: Vec<String>,
    /// Runs to judge.
    new: Vec<String>,
    /// Baseline file to compare with, instead of base.
    baseline: Option<String>,
    /// File of limits, such as metalens.toml [default: metalens.toml in the first root, if it has
    /// a gate].
    limits: Option<String>,
    #[serde(default)]
    part: Part,
    /// Compare sides that were recorded differently.
    #[serde(default)]
    allow_different: bool,
}

/// Sections of a comparison that the answer has by default.
const BRIEF: [&str; 6] = ["verdict", "gate", "changes", "per-unit", "kernels", "idle"];

/// Answers a call of `compare`.
pub(super) async fn compare(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: CompareArguments = call.parse()?;
    let mut options = sides(
        call,
        &arguments.base,
        &arguments.new,
        arguments.baseline.as_deref(),
        arguments.allow_different,
    )?;
    if arguments.fusion {
        options.push("--preset=fusion".into());
    }
    let (compared, _) = run(call, options, arguments.part, &[]).await?;

    let mut document = comparison::document(&compared, call.show_names);
    if !arguments.section.is_empty() {
        keep(&mut document, &arguments.section)?;
    } else if !arguments.full {
        document
            .sections
            .retain(|section| BRIEF.contains(&section.id));
    }

    let top = arguments.top.unwrap_or(10);
    if !arguments.full || arguments.top.is_some() {
        document.limit(top);
    }
    let mut text = text_of(&document);
    if !arguments.full && arguments.section.is_empty() {
        text.push_str("\nFor more: section with figures or comparable; full; a larger top.\n");
    }

    let whole = plain_json(&comparison::shown(&compared, call.show_names))?;
    let mut content = fields(&whole, &["schema", "headline", "method", "notes"]);
    if let Some(Value::Object(work)) = whole.get("work") {
        let work = fields(work, &["amount", "basis", "common_kernels", "renamed"]);
        content.insert("work".to_owned(), Value::Object(work));
    }
    if let Some(Value::Object(comparable)) = whole.get("comparable") {
        let comparable = fields(comparable, &["comparable", "forced", "differ"]);
        content.insert("comparable".to_owned(), Value::Object(comparable));
    }

    let per_unit = whole.get("work").and_then(|work| work.get("per_unit"));
    content.insert("per_unit".to_owned(), short(per_unit, usize::MAX));
    content.insert(
        "metrics".to_owned(),
        short(whole.get("metrics"), usize::MAX),
    );
    Ok(ToolAnswer {
        text,
        structured: content,
        list: "metrics",
        picture: None,
    })
}

/// Answers a call of `gate`.
pub(super) async fn gate(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: GateArguments = call.parse()?;
    let mut options = sides(
        call,
        &arguments.base,
        &arguments.new,
        arguments.baseline.as_deref(),
        arguments.allow_different,
    )?;

    let mut gate = OsString::from("--gate");
    if let Some(limits) = &arguments.limits {
        gate.push("=");
        gate.push(call.input(limits)?);
    }
    options.push(gate);
    const MISSED: i32 = 5;
    const INCONCLUSIVE: i32 = 6;
    let accepted = [MISSED, INCONCLUSIVE];
    let (compared, code) = run(call, options, arguments.part, &accepted).await?;

    let mut document = comparison::document(&compared, call.show_names);
    document
        .sections
        .retain(|section| ["verdict", "gate"].contains(&section.id));

    let whole = plain_json(&comparison::shown(&compared, call.show_names))?;
    let mut content = fields(&whole, &["headline", "notes"]);
    content.insert("passed".to_owned(), json!(code == Some(0)));
    content.insert("inconclusive".to_owned(), json!(code == Some(INCONCLUSIVE)));
    if let Some(Value::Object(gate)) = whole.get("gate") {
        content.insert("source".to_owned(), gate.get("source").cloned().into());
        content.insert("rows".to_owned(), gate.get("rows").cloned().into());
    }
    Ok(ToolAnswer {
        text: text_of(&document),
        structured: content,
        list: "rows",
        picture: None,
    })
}

/// Returns the options for the two sides, and for sides that were recorded differently.
fn sides(
    call: &ToolCall<'_>,
    base: &[String],
    new: &[String],
    baseline: Option<&str>,
    allow_different: bool,
) -> Result<Vec<OsString>, ToolProblem> {
    let wrong = |what: &str| {
        ToolProblem::new(what).hint("give base and new, or baseline and new; each new is a run")
    };
    if new.is_empty() {
        return Err(wrong("new is empty"));
    }

    let mut options: Vec<OsString> = Vec::new();
    match (base.is_empty(), baseline) {
        (false, None) => {
            options.push("--base".into());
            options.extend(call.inputs(base)?);
        }
        (true, Some(file)) => {
            let mut option = OsString::from("--baseline=");
            option.push(call.input(file)?);
            options.push(option);
        }
        (true, None) => return Err(wrong("there is nothing to compare with")),
        (false, Some(_)) => return Err(wrong("base and baseline exclude each other")),
    }

    options.push("--new".into());
    options.extend(call.inputs(new)?);
    if allow_different {
        options.push("--allow-different".into());
    }
    Ok(options)
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
fn short(list: Option<&Value>, most: usize) -> Value {
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
    let mut short = rows(list, &keys, most);
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
