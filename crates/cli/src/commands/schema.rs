//! Runs `metalens schema`: prints the JSON Schema of the report, or of another format.

use std::io::Write;
use std::process::ExitCode;

use metalens_analyzer::{json_schema, profile_json_schema, work_json_schema};
use metalens_render::{folder, json};

use crate::args::{Form, SchemaArguments};
use crate::out;

pub(crate) fn run(arguments: &SchemaArguments) -> anyhow::Result<ExitCode> {
    let schema = match arguments.form {
        Form::Report => json_schema(),
        Form::Profile => profile_json_schema(),
        Form::Work => work_json_schema(),
        Form::Manifest => folder::json_schema(),
        Form::Doctor => metalens_doctor::json_schema(),
        Form::Calibration => metalens_comparison::calibration::json_schema(),
        Form::Recording => metalens_recorder::json_schema(),
        Form::Verification => metalens_verify::json_schema(),
        Form::Comparison => metalens_comparison::json_schema(),
        Form::Baseline => metalens_comparison::baseline_json_schema(),
        Form::Index => metalens_batch::json_schema(),
        Form::Bench => metalens_bench::json_schema(),
    };
    out::json().write_all(json::document(&schema)?.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
