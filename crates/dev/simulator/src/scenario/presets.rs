//! Lists the scenarios that come with the crate; their files are in `fixtures/scenarios`.

use super::Scenario;
use crate::error::Error;

/// A scenario that comes with the crate.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Name by which users request the scenario.
    pub name: &'static str,
    /// Purpose of the scenario, in one line.
    pub about: &'static str,
    /// Text of the scenario, as TOML.
    pub toml: &'static str,
}

impl Preset {
    /// Parses the scenario.
    ///
    /// # Errors
    /// No errors for the presets here; a test parses them all.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let mut scenario = Scenario::from_toml(self.toml)?;
        self.name.clone_into(&mut scenario.name);
        self.about.clone_into(&mut scenario.about);
        Ok(scenario)
    }
}

impl Scenario {
    /// Returns the preset with this name; [`presets`] lists them.
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        presets()
            .iter()
            .find(|preset| preset.name == name)
            .and_then(|preset| preset.scenario().ok())
    }
}

/// Returns the presets, simplest first.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

macro_rules! preset {
    ($name:literal, $about:literal) => {
        Preset {
            name: $name,
            about: $about,
            toml: include_str!(concat!(
                "../../../../../fixtures/scenarios/",
                $name,
                ".toml"
            )),
        }
    };
}

const PRESETS: [Preset; 10] = [
    preset!(
        "eager",
        "1,000 small dispatches, each committed alone and waited for"
    ),
    preset!(
        "fused",
        "the GPU work of eager in a quarter of the dispatches"
    ),
    preset!("batched", "the dispatches of eager, 25 per command buffer"),
    preset!(
        "pipelined",
        "the dispatches of eager, committed ahead: never an empty queue"
    ),
    preset!(
        "renderer",
        "overlapping Vertex and Fragment work next to a compositor"
    ),
    preset!("shared-machine", "other processes use most of the GPU"),
    preset!("awkward", "every oddity of real recordings at once"),
    preset!("two-runs", "two runs of the same process in one document"),
    preset!(
        "no-target-rows",
        "the recorded process ended before it reached the GPU"
    ),
    preset!(
        "million",
        "1,000,000 intervals of one process, for benchmarks"
    ),
];
