//! Defines the tool `query`, which answers SQL.

use std::ffi::OsString;
use std::fmt;

use metalens_text::shown;
use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::ToolCall;
use crate::answer::ToolAnswer;
use crate::problem::ToolProblem;

pub(super) const QUERY: &str = "\
Answers read-only SQL over recordings and datasets, for questions that the other tools do not answer: \
any figure by any key, over many recordings. Tables: runs, intervals, gaps, kernels, phase_kernels, \
findings, counters. Ask first without sql: it lists the columns of all tables, or of one table with \
units and meanings. One SELECT; no other statement, no function that reads files. Times end in _ns; \
null means not recorded. Join by run.";

/// Arguments of `query`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryArguments {
    /// One SELECT, such as SELECT cause, sum(duration_ns) AS ns FROM gaps GROUP BY cause.
    sql: Option<String>,
    /// Without sql: the table whose columns are explained [default: the names of all].
    table: Option<String>,
    /// Recordings, and datasets that `metalens analyze --parquet` wrote, below a root.
    #[serde(default)]
    inputs: Vec<String>,
    /// At most this many rows [default: 50].
    top: Option<usize>,
}

/// Answers a call of `query`.
pub(super) async fn query(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: QueryArguments = call.parse()?;
    let Some(sql) = arguments.sql else {
        let describe: Vec<OsString> = ["query", "--schema"].map(Into::into).to_vec();
        let finished = call
            .metalens("listing the tables".to_owned(), describe, &[])
            .await?;
        let whole = String::from_utf8_lossy(&finished.stdout);
        return Ok(ToolAnswer {
            text: columns(&whole, arguments.table.as_deref())?,
            ..ToolAnswer::default()
        });
    };
    if arguments.inputs.is_empty() {
        return Err(ToolProblem::new("inputs is empty").hint(
            "give at least one recording or dataset; without sql, this tool lists the \
                   tables",
        ));
    }

    let mut words: Vec<OsString> = vec!["query".into(), "--format=json".into(), "--quiet".into()];
    if call.show_names {
        words.push("--show-names".into());
    }
    // A statement or a path that begins with a hyphen is not an option.
    words.push("--".into());
    words.push(sql.into());
    words.extend(call.inputs(&arguments.inputs)?);

    let finished = call.metalens("querying".to_owned(), words, &[]).await?;
    let mut rows: Vec<QueryRow> = serde_json::from_slice(&finished.stdout)?;
    let total = rows.len();
    rows.truncate(arguments.top.unwrap_or(50));
    let text = table(&rows, total);

    let mut structured = Map::new();
    let rows: Vec<Map<String, Value>> = rows.into_iter().map(QueryRow::into_map).collect();
    structured.insert("rows".to_owned(), json!(rows));
    structured.insert("total".to_owned(), json!(total));
    Ok(ToolAnswer {
        text,
        structured,
        list: "rows",
        picture: None,
    })
}

/// A row of an answer, with its columns in the order of the SELECT. A map would sort them.
struct QueryRow(Vec<(String, Value)>);

impl QueryRow {
    fn into_map(self) -> Map<String, Value> {
        self.0.into_iter().collect()
    }
}

impl<'de> Deserialize<'de> for QueryRow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(QueryRowVisitor)
    }
}

/// Collects the cells of a row in their order.
struct QueryRowVisitor;

impl<'de> Visitor<'de> for QueryRowVisitor {
    type Value = QueryRow;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a row of a query")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut row: A) -> Result<QueryRow, A::Error> {
        let mut cells = Vec::new();
        while let Some(cell) = row.next_entry()? {
            cells.push(cell);
        }
        Ok(QueryRow(cells))
    }
}

/// Returns the description of one table in the output of `metalens query --schema`, or the names of
/// all columns: the whole output has more words than most queries need.
fn columns(whole: &str, table: Option<&str>) -> Result<String, ToolProblem> {
    let blocks: Vec<&str> = whole.trim().split("\n\n").collect();
    if let Some(table) = table {
        let block = blocks.iter().find(|block| table_of(block) == table);
        let known: Vec<String> = blocks.iter().map(|block| table_of(block)).collect();
        return block.map(|block| format!("{block}\n")).ok_or_else(|| {
            ToolProblem::new(format!("there is no table {table:?}"))
                .hint(format!("use one of {}", known.join(", ")))
        });
    }

    let mut text = String::new();
    for block in blocks {
        let mut lines = block.lines();
        text.push_str(lines.next().unwrap_or_default());
        // The next line has the headings.
        let names: Vec<String> = lines.skip(1).map(table_of).collect();
        text.push_str(&format!("\n  {}\n", names.join(", ")));
    }
    Ok(text + "With table, the columns of one table have units and meanings.\n")
}

/// Returns the name of the table that a block is about.
fn table_of(block: &str) -> String {
    block
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Returns a line for each row, under the names of the columns.
fn table(rows: &[QueryRow], total: usize) -> String {
    let Some(first) = rows.first() else {
        return format!("{total} rows\n");
    };
    let names: Vec<&str> = first.0.iter().map(|(name, _)| name.as_str()).collect();
    let mut lines = vec![names.join(" | ")];
    for row in rows {
        let cell = |(_, value): &(String, Value)| match value {
            Value::String(text) => shown(text).into_owned(),
            other => other.to_string(),
        };
        lines.push(row.0.iter().map(cell).collect::<Vec<String>>().join(" | "));
    }
    if rows.len() < total {
        let shown = rows.len();
        lines.push(format!(
            "[{shown} of {total} rows: aggregate, or ask with a larger top]"
        ));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_order_of_the_select() {
        let rows =
            r#"[{"name": "b|c", "ns": 3, "busy": null}, {"name": "a", "ns": 4, "busy": 0.5}]"#;
        let rows: Vec<QueryRow> = serde_json::from_str(rows).unwrap();
        let expected = "name | ns | busy\nb|c | 3 | null\na | 4 | 0.5\n";
        assert_eq!(table(&rows, 2), expected);
    }
}
