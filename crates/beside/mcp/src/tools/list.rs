//! Defines the tool `list`, which lists the recordings below the roots, the tables of a recording, or
//! the rows of a table.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ToolCall;
use super::call::name;
use crate::answer::{ToolAnswer, rows};
use crate::problem::ToolProblem;

pub(super) const LIST: &str = "\
Lists the recordings below the roots. With input, it lists the tables of that recording with their \
numbers of rows, to see what was recorded and what was not; with table too, it returns the first rows \
of one as xctrace recorded them. Rows contain names of other processes, so they need a server that was \
started with --show-names; query works without it.";

/// Arguments of `list`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArguments {
    /// Recording below a root whose tables are wanted.
    input: Option<String>,
    /// Table of input whose first rows are wanted, such as metal-gpu-intervals.
    table: Option<String>,
    /// At most this many rows [default: 10].
    top: Option<usize>,
    /// Run of the recording [default: the last].
    run: Option<u32>,
}

/// Answers a call of `list`.
pub(super) async fn list(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: ListArguments = call.parse()?;
    let Some(input) = &arguments.input else {
        if arguments.table.is_some() || arguments.run.is_some() {
            return Err(ToolProblem::new("input is missing")
                .hint("name the recording that has the table or the run"));
        }
        return Ok(recordings(call));
    };
    if arguments.table.is_some() && !call.show_names {
        return Err(ToolProblem::new(
            "the rows of a table contain names of other processes, which this server leaves out",
        )
        .hint(
            "use query, which leaves them out, or ask the user to start the server with \
                     --show-names",
        ));
    }
    let input = call.input(input)?;
    let what = format!("reading {}", name(&input));
    let mut words: Vec<OsString> = vec!["tables".into(), "--quiet".into()];
    if let Some(run) = arguments.run {
        words.push(format!("--run={run}").into());
    }
    words.push(input);

    let Some(schema) = arguments.table else {
        words.push("--json".into());
        let finished = call.metalens(what, words, &[]).await?;
        let list: Value = serde_json::from_slice(&finished.stdout)?;
        let count = list.as_array().map_or(0, Vec::len);
        let tables = rows(Some(&list), &["schema", "run", "rows", "problem"], count);
        return Ok(ToolAnswer {
            text: tables_text(&tables),
            structured: Map::from_iter([("tables".to_owned(), tables)]),
            list: "tables",
            picture: None,
        });
    };

    words.push(format!("--schema={schema}").into());
    words.push("--format=jsonl".into());
    let top = arguments.top.unwrap_or(10);
    let finished = call.first_lines(what, words, top).await?;
    let text = String::from_utf8_lossy(&finished.stdout).into_owned();
    let parsed: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let mut structured = Map::new();
    structured.insert("rows".to_owned(), json!(parsed?));
    Ok(ToolAnswer {
        text,
        structured,
        list: "rows",
        picture: None,
    })
}

/// Answers with the recordings below the roots.
fn recordings(call: &ToolCall<'_>) -> ToolAnswer {
    let recordings = call.roots.recordings();
    let text = if recordings.is_empty() {
        "no recording\n".to_owned()
    } else {
        recordings.join("\n") + "\n"
    };
    ToolAnswer {
        text,
        structured: Map::from_iter([("recordings".to_owned(), json!(recordings))]),
        list: "recordings",
        picture: None,
    }
}

/// Formats the list of tables.
fn tables_text(tables: &Value) -> String {
    let mut text = String::from("     rows  table\n");
    for table in tables.as_array().into_iter().flatten() {
        let cell = |key: &str| table.get(key).cloned().unwrap_or_default();
        let schema_cell = cell("schema");
        let schema = schema_cell.as_str().unwrap_or_default();
        text.push_str(&format!("{:>9}  {schema}", cell("rows").to_string()));
        if let Value::String(problem) = cell("problem") {
            text.push_str(&format!("  {problem}"));
        }
        text.push('\n');
    }
    text
}
