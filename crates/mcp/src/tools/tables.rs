//! Defines the tool `tables`, which lists the tables of a recording, or returns rows of one.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ToolCall;
use super::call::name;
use crate::answer::{ToolAnswer, rows};
use crate::problem::ToolProblem;

pub(super) const TABLES: &str = "\
Lists the tables of a recording with their numbers of rows, to see what was recorded and what was not. \
With schema it returns the first rows of one table as xctrace recorded them. Rows contain names of other processes, so this needs a server that was started with --show-names; query works without it.";

/// Arguments of `tables`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TablesArguments {
    /// Recording below a root.
    input: String,
    /// Name of the table whose first rows are wanted, such as metal-gpu-intervals.
    schema: Option<String>,
    /// At most this many rows [default: 10].
    top: Option<usize>,
    /// Run of the recording [default: the last].
    run: Option<u32>,
}

/// Answers a call of `tables`.
pub(super) async fn tables(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: TablesArguments = call.parse()?;
    if arguments.schema.is_some() && !call.show_names {
        return Err(ToolProblem::new(
            "the rows of a table contain names of other processes, which this server leaves out",
        )
        .hint(
            "use query, which leaves them out, or ask the user to start the server with \
                     --show-names",
        ));
    }
    let input = call.input(&arguments.input)?;
    let what = format!("reading {}", name(&input));
    let mut words: Vec<OsString> = vec!["tables".into(), "--quiet".into()];
    if let Some(run) = arguments.run {
        words.push(format!("--run={run}").into());
    }
    words.push(input);

    let Some(schema) = arguments.schema else {
        words.push("--json".into());
        let finished = call.metalens(what, words, &[]).await?;
        let list: Value = serde_json::from_slice(&finished.stdout)?;
        let count = list.as_array().map_or(0, Vec::len);
        let tables = rows(Some(&list), &["schema", "run", "rows", "problem"], count);
        return Ok(ToolAnswer {
            text: list_text(&tables),
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

/// Formats the list of tables.
fn list_text(tables: &Value) -> String {
    let mut text = String::from("     rows  table\n");
    for table in tables.as_array().into_iter().flatten() {
        let cell = |key: &str| table.get(key).cloned().unwrap_or_default();
        let schema = cell("schema");
        let schema = schema.as_str().unwrap_or_default();
        text.push_str(&format!("{:>9}  {schema}", cell("rows").to_string()));
        if let Value::String(problem) = cell("problem") {
            text.push_str(&format!("  {problem}"));
        }
        text.push('\n');
    }
    text
}
