//! `work.json`: how much work each kernel does, as the program's author knows it.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, Result};
use crate::report::titled;

/// The format's name; its number rises when a key is removed or changes meaning.
pub const WORK_SCHEMA: &str = "metalens.work/1";

/// How much work each kernel does, told by a file beside the recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    /// `metalens.work/1`.
    pub schema: String,
    /// What the file was called when it was read.
    #[serde(skip)]
    pub file: String,
    /// The GPU that ran the work, as Metal calls it: `Apple M1 Max`. Used where
    /// the recording does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// How many cores the GPU has. Chips of one name differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_cores: Option<u32>,
    /// The memory bandwidth to compare with, GB/s, instead of the published one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_gb_s: Option<f64>,
    /// The peak to compare with, TFLOP/s, instead of the published clock's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_tflops: Option<f64>,
    /// The work of kernels.
    #[serde(default)]
    pub work: Vec<KnownWork>,
    /// The GPU times of command buffers as the program saw them, in order of commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<Timing>,
    /// What else the program tells of itself, in whatever form. Of it only
    /// `simulated` is read: whether no GPU ran any of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<serde_json::Value>,
}

/// The work of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownWork {
    /// The kernel's name as the report has it, or `*` for all that no other
    /// entry names.
    pub label: String,
    /// Only on this channel: `Compute`, `Blit`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// What the amounts are for.
    pub per: Per,
    /// Operations: dispatches, usually.
    #[serde(
        default,
        deserialize_with = "whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub operations: Option<u64>,
    /// Bytes read and written.
    #[serde(
        default,
        deserialize_with = "whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub bytes: Option<u64>,
    /// Floating-point operations; a fused multiply-add is two.
    #[serde(
        default,
        deserialize_with = "whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub flops: Option<u64>,
}

/// What amounts are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// One interval of the kernel: usually one encoder, with all its dispatches;
    /// several where the driver coalesced them.
    Instance,
    /// All of its intervals in the whole recording together.
    Total,
}

/// When the GPU ran a command buffer, as the program saw it: seconds as Metal
/// has them (`GPUStartTime`, `GPUEndTime`), or nanoseconds; since whenever.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// What to call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Its number in order of commit, from 0, among all of the program. Told for
    /// all timings or for none; without it the list must have all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_buffer: Option<u64>,
    /// `GPUStartTime`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_start_s: Option<f64>,
    /// `GPUEndTime`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_end_s: Option<f64>,
    /// The same in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<u64>,
    /// The same in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
}

impl Sidecar {
    /// Reads a file's text; `file` is what errors and the report call it.
    pub fn parse(text: &str, file: &str) -> Result<Self> {
        let wrong = |problem: String| Error::WorkFile {
            file: file.to_owned(),
            problem,
        };
        // A byte-order mark is not JSON, and some editors write one.
        let text = text.trim_start_matches('\u{feff}');
        check_schema(text).map_err(wrong)?;
        let mut sidecar: Self =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        sidecar.check().map_err(wrong)?;
        file.clone_into(&mut sidecar.file);
        Ok(sidecar)
    }

    /// Whether the program says that no GPU ran any of the work.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        let program = self.program.as_ref();
        let said = program.and_then(|program| program.get("simulated")?.as_bool());
        said == Some(true)
    }

    fn check(&self) -> Result<(), String> {
        if self.work.is_empty() && self.timings.is_empty() {
            return Err("it has neither `work` nor `timings`: nothing follows from it".to_owned());
        }
        if self.gpu_cores == Some(0) {
            return Err("gpu_cores: a GPU has at least one".to_owned());
        }
        positive("bandwidth_gb_s", self.bandwidth_gb_s)?;
        positive("peak_tflops", self.peak_tflops)?;
        let mut seen = BTreeSet::new();
        for (at, entry) in self.work.iter().enumerate() {
            entry
                .check()
                .map_err(|problem| format!("work[{at}]: {problem}"))?;
            if !seen.insert((&entry.label, &entry.channel)) {
                return Err(format!(
                    "work[{at}]: `{}` has two entries for the same channel; which is meant?",
                    entry.label
                ));
            }
        }
        check_timings(&self.timings)
    }
}

/// Says which format it is before what is wrong in it: a later one may well
/// have fields that this one has not.
fn check_schema(text: &str) -> Result<(), String> {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
    let Some(object) = value.as_object() else {
        return Err(format!(
            "it is not an object: it should begin with {{\"schema\": \"{WORK_SCHEMA}\", …"
        ));
    };
    match object.get("schema").and_then(serde_json::Value::as_str) {
        Some(WORK_SCHEMA) => Ok(()),
        Some(other) => Err(format!(
            "its schema is `{other}`; this version reads `{WORK_SCHEMA}`"
        )),
        None => Err(format!("it has no \"schema\": \"{WORK_SCHEMA}\"")),
    }
}

fn positive(name: &str, value: Option<f64>) -> Result<(), String> {
    match value {
        Some(value) if !value.is_finite() || value <= 0.0 => {
            Err(format!("{name}: {value} is not above 0"))
        }
        _ => Ok(()),
    }
}

impl KnownWork {
    fn check(&self) -> Result<(), String> {
        if self.label.is_empty() {
            return Err("the label is empty: name a kernel, or * for all others".to_owned());
        }
        if (self.operations, self.bytes, self.flops) == (None, None, None) {
            return Err(format!(
                "`{}` has no amount: tell operations, bytes or flops",
                self.label
            ));
        }
        Ok(())
    }
}

fn check_timings(timings: &[Timing]) -> Result<(), String> {
    for (at, timing) in timings.iter().enumerate() {
        timing
            .span_ns()
            .map_err(|problem| format!("timings[{at}]: {problem}"))?;
    }
    let numbers: BTreeSet<u64> = timings
        .iter()
        .filter_map(|one| one.command_buffer)
        .collect();
    let numbered = timings.iter().filter(|one| one.command_buffer.is_some());
    match numbered.count() {
        0 => Ok(()),
        some if some < timings.len() => Err(
            "timings: some have a command_buffer and some have none: tell it of all, or of none"
                .to_owned(),
        ),
        all if numbers.len() < all => Err("timings: two have the same command_buffer".to_owned()),
        _ => Ok(()),
    }
}

impl Timing {
    /// Start and end in nanoseconds, since whenever the program counts from.
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact up to 2^53 ns, 104 days since boot"
    )]
    pub(crate) fn span_ns(&self) -> Result<(f64, f64), String> {
        let (start, end) = match (self.gpu_start_s, self.gpu_end_s, self.start_ns, self.end_ns) {
            (Some(start), Some(end), None, None) => (start * 1e9, end * 1e9),
            (None, None, Some(start), Some(end)) => (start as f64, end as f64),
            _ => {
                return Err("it needs gpu_start_s and gpu_end_s, or start_ns and end_ns".to_owned());
            }
        };
        if !(start.is_finite() && end.is_finite()) || start < 0.0 {
            return Err("its times are no times".to_owned());
        }
        if end < start {
            return Err("it ends before it starts".to_owned());
        }
        Ok((start, end))
    }
}

/// A whole number, also as `2e12`: that is how people write flops.
fn whole<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u64>, D::Error> {
    /// Above this not every whole number is an f64.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let Some(number) = Option::<serde_json::Number>::deserialize(input)? else {
        return Ok(None);
    };
    if let Some(whole) = number.as_u64() {
        return Ok(Some(whole));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole, not negative, and small enough to be exact"
    )]
    match number.as_f64() {
        Some(value) if value.fract() == 0.0 && (0.0..=EXACT).contains(&value) => {
            Ok(Some(value as u64))
        }
        _ => Err(serde::de::Error::custom(format!(
            "{number} is not a whole number of at least 0 (nor one below 9e15, if it has an exponent)"
        ))),
    }
}

/// The JSON Schema of the file that tells how much work kernels do.
#[must_use]
pub fn work_json_schema() -> serde_json::Value {
    titled(schemars::schema_for!(Sidecar), WORK_SCHEMA)
}
