//! Options that several commands have, and values that they parse.

use std::path::PathBuf;

use clap::Args;
use metalens_analyzer::StepChoice;
use metalens_comparison::Gate;
pub(crate) use metalens_message::written::{bytes, nanoseconds};

use crate::config;
use crate::exit::Misuse;
use crate::reading::Reading;

/// Part of a recording to analyze, its known work, and the way to read it.
#[derive(Debug, Clone, Args)]
pub(crate) struct AnalysisArguments {
    #[command(flatten)]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// Settings and known work.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct MeasureArguments {
    /// File of limits, and of findings to leave out [default: metalens.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Work of each kernel, as JSON [default: work.json in an export's folder, or X.work.json beside
    /// X.trace]
    #[arg(long, value_name = "FILE")]
    pub(crate) work: Option<PathBuf>,
    /// Bytes that a step reads and writes, such as 16.5GB: splits its GPU time into the least that they take
    /// on this chip, and the rest
    #[arg(long, value_name = "N", value_parser = bytes)]
    pub(crate) bytes_per_step: Option<u64>,
}

/// The limits to judge one recording by.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct RecordingGate {
    /// Exit with 5 if the recording does not keep a limit (min, max) of this file, or cannot tell
    /// [default: metalens.toml]
    #[arg(long = "gate", num_args = 0..=1, require_equals = true, value_name = "FILE")]
    #[expect(clippy::option_option, reason = "with a value, without one, or absent")]
    file: Option<Option<PathBuf>>,
}

impl RecordingGate {
    /// Returns the limits that compare with no other recording; none if none are wanted. A gate
    /// without such limits would always pass.
    pub(crate) fn gate(&self, config: Option<&PathBuf>) -> anyhow::Result<Option<Gate>> {
        let Some(file) = &self.file else {
            return Ok(None);
        };
        let gate =
            config::gate(file.as_ref(), config).map_err(|error| Misuse(format!("{error:#}")))?;
        let own = gate.without_base().ok_or_else(|| {
            Misuse(format!(
                "--gate has no limit for a recording alone, only for two sides ({}): set min or max in \
                 [gate.metrics] or [gate.kernels]; --gate=FILE names the file",
                gate.source.text
            ))
        })?;
        Ok(Some(own))
    }
}

/// Process and part of the recording to report on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Part of the recording")]
pub(crate) struct PartArguments {
    /// Process to report on [default: the recorded one]
    #[arg(long = "process", alias = "pid", value_name = "NAME|PID")]
    pub(crate) processes: Vec<String>,
    /// Start at this time of the recording, such as 1.5s or 200ms
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) from: Option<u64>,
    /// End at this time of the recording
    #[arg(long, value_name = "T", value_parser = nanoseconds)]
    pub(crate) to: Option<u64>,
    /// What a step is: phases (os_signpost) or labels of this name [default: what is found]. decode:137 is the
    /// 137th alone, token=decode calls each a token, token=decode*8 counts eight in each
    #[arg(long, value_name = "[UNIT=]NAME[:N]")]
    pub(crate) step: Option<StepChoice>,
}
