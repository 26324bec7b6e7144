//! `metalens schema`: the JSON Schema of the report.

use std::io::Write;
use std::process::ExitCode;

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let schema = serde_json::to_string_pretty(&metalens_analyzer::json_schema())?;
    writeln!(anstream::stdout(), "{schema}")?;
    Ok(ExitCode::SUCCESS)
}
