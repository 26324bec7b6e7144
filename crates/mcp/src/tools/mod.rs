//! Lists the tools with their descriptions and arguments, and runs them.

mod call;
mod chart;
mod compare;
mod doctor;
mod part;
mod query;
mod record;
mod report;
mod tables;

use std::sync::Arc;

use rmcp::handler::server::tool::schema_for_input;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::{Value, json};

pub(crate) use call::ToolCall;
pub(crate) use report::whole as whole_report;

use crate::answer::ToolAnswer;
use crate::problem::ToolProblem;

/// Effect of a tool on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The tool only reads files.
    Reads,
    /// The tool writes new files.
    Writes,
    /// The tool runs the program that the call names.
    Runs,
}

/// Returns the tools that the server offers; each has the argument `budget` with this default.
pub(crate) fn list(allow_record: bool, budget: u32) -> Vec<Tool> {
    let mut tools = vec![
        tool::<report::AnalyzeArguments>("analyze", report::ANALYZE, Effect::Reads),
        tool::<report::FindingsArguments>("findings", report::FINDINGS, Effect::Reads),
        tool::<report::KernelsArguments>("kernels", report::KERNELS, Effect::Reads),
        tool::<report::GapsArguments>("gaps", report::GAPS, Effect::Reads),
        tool::<compare::CompareArguments>("compare", compare::COMPARE, Effect::Reads),
        tool::<compare::GateArguments>("gate", compare::GATE, Effect::Reads),
        tool::<query::QueryArguments>("query", query::QUERY, Effect::Reads),
        tool::<chart::ChartArguments>("chart", chart::CHART, Effect::Reads),
        tool::<tables::TablesArguments>("tables", tables::TABLES, Effect::Reads),
        tool::<doctor::DoctorArguments>("doctor", doctor::DOCTOR, Effect::Reads),
        tool::<report::ReportArguments>("report", report::REPORT, Effect::Writes),
    ];
    if allow_record {
        tools.push(tool::<record::RecordArguments>(
            "record",
            record::RECORD,
            Effect::Runs,
        ));
    }

    for tool in &mut tools {
        let schema = Arc::make_mut(&mut tool.input_schema);
        schema.remove("$schema");
        schema.values_mut().for_each(shorten);
        // A tool without arguments of its own has none.
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(properties) = properties {
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

/// Returns the description of a tool for clients.
fn tool<A: JsonSchema + 'static>(
    name: &'static str,
    description: &'static str,
    effect: Effect,
) -> Tool {
    // An argument struct is always an object, as a test checks.
    let schema = schema_for_input::<A>().unwrap_or_else(|_| Arc::new(JsonObject::new()));
    let annotations = ToolAnnotations::new()
        .read_only(effect == Effect::Reads)
        .destructive(effect == Effect::Runs)
        .open_world(effect == Effect::Runs);
    Tool::new(name, description, schema).with_annotations(annotations)
}

/// Runs a tool. Returns `None` if no tool has this name.
pub(crate) async fn run(
    name: &str,
    call: &ToolCall<'_>,
) -> Option<Result<ToolAnswer, ToolProblem>> {
    Some(match name {
        "analyze" => report::analyze(call).await,
        "findings" => report::findings(call).await,
        "kernels" => report::kernels(call).await,
        "gaps" => report::gaps(call).await,
        "compare" => compare::compare(call).await,
        "gate" => compare::gate(call).await,
        "query" => query::query(call).await,
        "chart" => chart::chart(call).await,
        "tables" => tables::tables(call).await,
        "doctor" => doctor::doctor(call).await,
        "report" => report::report(call).await,
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
        assert_eq!(tools.len(), 12);
        assert_eq!(super::list(false, 6_000).len(), 11);
        // All of it is in an agent's context all the time.
        assert!(characters < 16_000, "{characters}");
    }
}
