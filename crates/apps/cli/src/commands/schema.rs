//! Runs `metalens schema` and `metalens skill`: prints the JSON Schema of a format, or the page for agents.

use std::io::Write;

use crate::args::{Form, SchemaArguments};
use crate::out;

/// Returns a file of docs, as text of the program.
macro_rules! docs {
    ($file:literal) => {
        include_str!(concat!("../../../../../docs/", $file))
    };
}

pub(crate) fn run(arguments: &SchemaArguments) -> anyhow::Result<()> {
    Ok(out::json().write_all(schema(arguments.form).as_bytes())?)
}

/// Prints the page that teaches a coding agent to profile.
pub(crate) fn skill() -> anyhow::Result<()> {
    const SKILL: &str = include_str!("../../../../../skills/metalens/SKILL.md");
    Ok(out::data().write_all(SKILL.as_bytes())?)
}

/// Returns the schema that docs has. A test makes each again from the types that it describes, except
/// for that of settings, which it compares with the keys that are read; in
/// the program, what makes schemas would be a megabyte more than what it makes.
fn schema(form: Form) -> &'static str {
    match form {
        Form::Report => docs!("report.schema.json"),
        Form::Work => docs!("work.schema.json"),
        Form::Recording => docs!("recording.schema.json"),
        Form::Comparison => docs!("comparison.schema.json"),
        Form::Index => docs!("index.schema.json"),
        Form::Bench => docs!("bench.schema.json"),
        Form::Config => docs!("config.schema.json"),
    }
}
