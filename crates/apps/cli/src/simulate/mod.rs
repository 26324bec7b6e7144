//! The one door to the simulator: commands that write synthetic recordings, and that act as `xctrace`.
//! A build without the feature `simulate` lacks it.

pub(crate) mod fake_xctrace;
pub(crate) mod synth;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::names::Names;

#[derive(Debug, Args)]
pub(crate) struct SynthArguments {
    /// Name of a built-in scenario, or a scenario file (.toml)
    #[arg(required_unless_present = "list", value_name = "SCENARIO", value_parser = SCENARIOS, hide_possible_values = true)]
    pub(crate) scenario: Option<String>,
    /// Folder to write: a bundle if its name is X.trace, else an export
    #[arg(short, long, required_unless_present = "list", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write into a folder that is not empty
    #[arg(long)]
    pub(crate) force: bool,
    /// List the built-in scenarios
    #[arg(long, conflicts_with_all = ["scenario", "output", "force"])]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FakeXctraceArguments {
    /// Arguments for xctrace
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENT"
    )]
    pub(crate) arguments: Vec<OsString>,
}

/// The built-in scenarios.
const SCENARIOS: Names = Names(|| {
    let presets = metalens_simulator::presets().iter();
    presets.map(|preset| preset.name).collect()
});
