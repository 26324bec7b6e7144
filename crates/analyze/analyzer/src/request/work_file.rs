//! Reads `work.json`: the amount of work of each kernel, written by the program's author.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, Result};

/// Name of the format; its number rises when a key is removed or changes meaning.
pub const WORK_SCHEMA: &str = "metalens.work/1";

/// Work file: the amount of work of each kernel, in a file beside the recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkFile {
    /// Name and version of this format: `metalens.work/1`.
    pub schema: String,
    /// Path of the file, as it was given.
    #[serde(skip)]
    pub file: String,
    /// Metal's name of the GPU that ran the work: `Apple M1 Max`. Used if the recording does not
    /// name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Number of GPU cores. Chips of one name differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_cores: Option<u32>,
    /// Memory bandwidth to compare with, in GB/s, instead of the published one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_gb_s: Option<f64>,
    /// FP32 peak to compare with, in TFLOP/s, instead of the one from the published clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_tflops: Option<f64>,
    /// Amounts of work, one entry for each kernel.
    #[serde(default)]
    pub work: Vec<KnownWork>,
    /// Other facts that the program records about itself, in any form. metalens reads only
    /// `simulated` of it: true if no GPU ran any of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<serde_json::Value>,
}

/// Amount of work of one kernel, or of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownWork {
    /// Name of the kernel as the report has it, or `*` for all kernels that no other entry names. Of a step,
    /// any name of a part of its work.
    pub label: String,
    /// Channel that the entry is limited to: `Compute`, `Blit`, …; all channels if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Scope of the amounts: one GPU interval or all of them.
    pub per: AmountScope,
    /// Number of operations, usually dispatches.
    #[serde(
        default,
        deserialize_with = "whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub operations: Option<u64>,
    /// Number of bytes read and written.
    #[serde(
        default,
        deserialize_with = "whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub bytes: Option<u64>,
    /// Number of floating-point operations; a fused multiply-add is two.
    #[serde(
        default,
        deserialize_with = "whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub flops: Option<u64>,
}

/// Scope of an amount of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AmountScope {
    /// One GPU interval of the kernel: usually one encoder with all its dispatches, several if the
    /// driver coalesced them.
    Instance,
    /// All GPU intervals of the kernel in the whole recording together.
    Total,
    /// One step: a token, a training step, a frame. The amounts of several entries add up.
    Step,
}

impl WorkFile {
    /// Parses a file's text; errors and the report call it `file`.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let invalid = |problem: String| Error::WorkFile {
            file: file.to_owned(),
            problem,
        };

        // A byte-order mark is not JSON, and some editors write one.
        let text = text.trim_start_matches('\u{feff}');
        check_schema(text).map_err(invalid)?;

        let mut work_file: Self =
            serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
        work_file.check().map_err(invalid)?;
        file.clone_into(&mut work_file.file);
        Ok(work_file)
    }

    /// Returns the file with this number of bytes for each step.
    #[must_use]
    pub(crate) fn with_bytes_per_step(mut self, bytes: u64) -> Self {
        if self.file.is_empty() {
            "--bytes-per-step".clone_into(&mut self.file);
        }
        self.work.retain(|entry| entry.per != AmountScope::Step);
        self.work.push(KnownWork {
            label: "*".to_owned(),
            channel: None,
            per: AmountScope::Step,
            operations: None,
            bytes: Some(bytes),
            flops: None,
        });
        self
    }

    /// Returns whether the program says that no GPU ran any of the work.
    pub fn is_simulated(&self) -> bool {
        let program = self.program.as_ref();
        program.and_then(|program| program.get("simulated")?.as_bool()) == Some(true)
    }

    fn check(&self) -> Result<(), String> {
        if self.work.is_empty() {
            return Err("`work` is empty".to_owned());
        }
        if self.gpu_cores == Some(0) {
            return Err("gpu_cores: 0 is not allowed; a GPU has at least one core".to_owned());
        }
        positive("bandwidth_gb_s", self.bandwidth_gb_s)?;
        positive("peak_tflops", self.peak_tflops)?;

        let mut labels = BTreeSet::new();
        for (index, entry) in self.work.iter().enumerate() {
            entry
                .check()
                .map_err(|problem| format!("work[{index}]: {problem}"))?;
            if !labels.insert((&entry.label, &entry.channel, entry.per == AmountScope::Step)) {
                return Err(format!(
                    "work[{index}]: `{}` has two entries for the same channel",
                    entry.label
                ));
            }
        }
        Ok(())
    }
}

/// Checks the format's name before its fields: a later version may have fields that this one
/// lacks.
fn check_schema(text: &str) -> Result<(), String> {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let Some(object) = value.as_object() else {
        return Err(format!(
            "not a JSON object: must begin with {{\"schema\": \"{WORK_SCHEMA}\", …"
        ));
    };

    match object.get("schema").and_then(serde_json::Value::as_str) {
        Some(WORK_SCHEMA) => Ok(()),
        Some(other) => Err(format!(
            "unsupported schema `{other}`; this version reads `{WORK_SCHEMA}`"
        )),
        None => Err(format!("missing \"schema\": \"{WORK_SCHEMA}\"")),
    }
}

fn positive(name: &str, value: Option<f64>) -> Result<(), String> {
    match value {
        Some(value) if !value.is_finite() || value <= 0.0 => {
            Err(format!("{name}: {value} is not greater than 0"))
        }
        _ => Ok(()),
    }
}

impl KnownWork {
    fn check(&self) -> Result<(), String> {
        if self.label.is_empty() {
            return Err("empty label: name a kernel, or * for all others".to_owned());
        }
        if (self.operations, self.bytes, self.flops) == (None, None, None) {
            return Err(format!(
                "`{}` has no amount: add operations, bytes or flops",
                self.label
            ));
        }
        Ok(())
    }
}

/// Deserializes a whole number, also one written as `2e12`: people write flops like that.
fn whole<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    /// Largest number up to which every whole number is an f64.
    const EXACT: f64 = 9_007_199_254_740_992.0;

    let Some(number) = Option::<serde_json::Number>::deserialize(input)? else {
        return Ok(None);
    };
    if let Some(whole) = number.as_u64() {
        return Ok(Some(whole));
    }
    match number.as_f64() {
        Some(value) if value.fract() == 0.0 && (0.0..=EXACT).contains(&value) => {
            Ok(Some(metalens_text::number::whole(value)))
        }
        _ => Err(serde::de::Error::custom(format!(
            "{number} is not a whole number of at least 0 (below 9e15 if it has an exponent)"
        ))),
    }
}
