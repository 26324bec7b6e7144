//! Lists the tools with their descriptions and arguments, and runs them.

mod analyze;
mod call;
mod chart;
mod compare;
mod doctor;
mod list;
mod part;
mod query;
mod record;

use std::sync::Arc;

use rmcp::handler::server::tool::schema_for_input;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::{Value, json};

pub(crate) use analyze::whole as whole_report;
pub(crate) use call::ToolCall;

use crate::answer::ToolAnswer;
use crate::problem::ToolProblem;

/// Returns the tools that the server offers; each has the argument `budget` with this default.
pub(crate) fn list(allow_record: bool, budget: u32) -> Vec<Tool> {
    let mut tools = vec![
        tool::<list::ListArguments>("list", list::LIST),
        tool::<analyze::AnalyzeArguments>("analyze", analyze::ANALYZE),
        tool::<compare::CompareArguments>("compare", compare::COMPARE),
        tool::<chart::ChartArguments>("chart", chart::CHART),
        tool::<query::QueryArguments>("query", query::QUERY),
    ];
    if allow_record {
        // It runs the program that the call names; the others only read files.
        let runs_programs = ToolAnnotations::new()
            .read_only(false)
            .destructive(true)
            .open_world(true);
        let record = tool::<record::RecordArguments>("record", record::RECORD);
        tools.push(record.with_annotations(runs_programs));
    }

    for tool in &mut tools {
        let schema = Arc::make_mut(&mut tool.input_schema);
        schema.remove("$schema");
        schema.values_mut().for_each(shorten);
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            // To save space, only one tool describes it fully. The server accepts it in all of them.
            if tool.name != "analyze"
                && let Some(part) = properties.get_mut("part")
            {
                let description = "Part of the recording, and process, as in analyze.";
                *part = json!({ "type": "object", "description": description });
            }
            let description = format!(
                "Maximum number of characters of the text, and of the structured content \
                 [default: {budget}]."
            );
            let budget = json!({ "type": "integer", "description": description });
            properties.insert("budget".to_owned(), budget);
        }
    }
    tools
}

/// Removes the parts of a schema that only say that an argument may be left out. An agent has all
/// schemas in its context all the time.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for key in ["default", "format", "minimum"] {
                // A property may have one of these names. Its value is an object.
                if fields.get(key).is_some_and(|value| !value.is_object()) {
                    fields.remove(key);
                }
            }
            if let Some(Value::Array(words)) = fields.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            fields.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// Returns the description of a tool for clients, that only reads files.
fn tool<A: JsonSchema + 'static>(name: &'static str, description: &'static str) -> Tool {
    // An argument struct is always an object, as a test checks.
    let schema = schema_for_input::<A>().unwrap_or_else(|_| Arc::new(JsonObject::new()));
    let annotations = ToolAnnotations::new()
        .read_only(true)
        .destructive(false)
        .open_world(false);
    Tool::new(name, description, schema).with_annotations(annotations)
}

/// Runs a tool. Returns `None` if no tool has this name.
pub(crate) async fn run(
    name: &str,
    call: &ToolCall<'_>,
) -> Option<Result<ToolAnswer, ToolProblem>> {
    Some(match name {
        "list" => list::list(call).await,
        "analyze" => analyze::analyze(call).await,
        "compare" => compare::compare(call).await,
        "chart" => chart::chart(call).await,
        "query" => query::query(call).await,
        "record" if call.allow_record => record::record(call).await,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// An agent reads nothing else: each tool and each argument is described.
    #[test]
    fn every_tool_and_argument_is_described() {
        let tools = super::list(true, 6_000);
        let mut characters = 0;
        let mut names = BTreeSet::new();
        for tool in &tools {
            assert!(names.insert(tool.name.clone()));
            let description = tool.description.as_deref().unwrap();
            assert!(description.len() > 80, "{}", tool.name);
            let schema = tool.schema_as_json_value();
            assert_eq!(schema["type"], "object", "{}", tool.name);
            assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
            let properties = schema["properties"].as_object().unwrap();
            for (key, property) in properties {
                assert!(
                    property["description"].is_string(),
                    "{} {key}: {property}",
                    tool.name
                );
            }
            characters += description.len() + schema.to_string().len();
        }
        assert_eq!(tools.len(), 6);
        assert_eq!(super::list(false, 6_000).len(), 5);
        // All of it is in an agent's context all the time.
        assert!(characters < 12_000, "{characters}");
    }
}
