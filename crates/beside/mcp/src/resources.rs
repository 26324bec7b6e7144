//! Lists and reads the resources: the skill, the glossary, the schemas, and whole reports.

use metalens_render::json;
use rmcp::model::{Resource, ResourceTemplate};

use crate::problem::ToolProblem;
use crate::tools::{ToolCall, whole_report};

/// The page that teaches an agent to profile.
pub(crate) const SKILL: &str = include_str!("../../../../skills/metalens/SKILL.md");
const GLOSSARY: &str = include_str!("../../../../docs/glossary.md");

const SKILL_URI: &str = "metalens://skill";
const GLOSSARY_URI: &str = "metalens://glossary";
const SCHEMA: &str = "metalens://schema/";
const REPORT: &str = "metalens://report/";

/// Formats that `metalens schema` describes, each with its description.
const FORMS: [(&str, &str); 9] = [
    ("report", "Report: the keys of analyze"),
    ("comparison", "Comparison: the keys of compare"),
    ("work", "Work file: bytes and operations of each kernel"),
    (
        "recording",
        "X.recording.json: versions, machine and command of a recording",
    ),
    ("manifest", "manifest.json: the files of a report folder"),
    ("index", "Index of many reports"),
    ("profile", "CPU samples by function"),
    (
        "bench",
        "bench.json of a benchmark: variants, runs, who wins",
    ),
    ("config", "metalens.toml: limits and settings of a project"),
];

/// Returns the resources with fixed addresses.
pub(crate) fn list() -> Vec<Resource> {
    let mut resources = vec![
        markdown_page(
            SKILL_URI,
            "skill",
            "How to profile with metalens: what to use when, how to read an answer, what never to conclude",
        ),
        markdown_page(
            GLOSSARY_URI,
            "glossary",
            "What each word of an answer means",
        ),
    ];
    let schemas = FORMS.map(|(form, description)| {
        Resource::new(format!("{SCHEMA}{form}"), format!("schema of {form}"))
            .with_description(format!("JSON Schema. {description}"))
            .with_mime_type("application/schema+json")
    });
    resources.extend(schemas);
    resources
}

fn markdown_page(uri: &str, name: &str, description: &str) -> Resource {
    Resource::new(uri, name)
        .with_description(description)
        .with_mime_type("text/markdown")
}

/// Returns the resources that have the path of a recording in their address.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let report = ResourceTemplate::new(format!("{REPORT}{{+path}}"), "report")
        .with_description(
            "Whole report (metalens.report/1) of the recording at this path below a root: tens of \
             thousands of characters, without a budget. The tools answer most questions with fewer",
        )
        .with_mime_type("application/json");
    vec![report]
}

/// Returns the text and type of a resource; `None` if no resource has this address.
pub(crate) async fn read(
    uri: &str,
    call: &ToolCall<'_>,
) -> Option<Result<(String, &'static str), ToolProblem>> {
    if uri == SKILL_URI {
        Some(Ok((SKILL.to_owned(), "text/markdown")))
    } else if uri == GLOSSARY_URI {
        Some(Ok((GLOSSARY.to_owned(), "text/markdown")))
    } else if let Some(form) = uri.strip_prefix(SCHEMA) {
        let is_known = FORMS.iter().any(|(known, _)| *known == form);
        if is_known {
            Some(schema(form, call).await)
        } else {
            None
        }
    } else if let Some(path) = uri.strip_prefix(REPORT) {
        Some(report(path, call).await)
    } else {
        None
    }
}

/// Prints a schema with `metalens schema`.
async fn schema(form: &str, call: &ToolCall<'_>) -> Result<(String, &'static str), ToolProblem> {
    let words = ["schema", form].map(Into::into).to_vec();
    let finished = call
        .metalens("printing a schema".to_owned(), words, &[])
        .await?;
    let text = String::from_utf8_lossy(&finished.stdout).into_owned();
    Ok((text, "application/schema+json"))
}

/// Returns the whole report at a path of an address.
async fn report(path: &str, call: &ToolCall<'_>) -> Result<(String, &'static str), ToolProblem> {
    let report = whole_report(call, &decoded(path)).await?;
    Ok((json::document(&report)?, "application/json"))
}

/// Returns a path of an address without percent signs: `my%20run.trace` is `my run.trace`.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hex.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let (b'%', Some(byte)) = (first, byte) {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::{FORMS, decoded};

    #[test]
    fn every_schema_is_a_resource() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs");
        let files = std::fs::read_dir(docs).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let schemas: BTreeSet<String> = names
            .filter_map(|name| Some(name.strip_suffix(".schema.json")?.to_owned()))
            .collect();
        let listed = FORMS.map(|(form, _)| form.to_owned()).into_iter().collect();
        assert_eq!(schemas, listed);
    }

    #[test]
    fn paths_of_addresses_are_decoded() {
        let check = |path: &str, expected: &str| assert_eq!(decoded(path), expected);
        check("a/run.trace", "a/run.trace");
        check("my%20run.trace", "my run.trace");
        check("50%25%.trace", "50%%.trace");
        check("%c3%a9", "é");
    }
}
