//! The scenarios that come with the crate; their files are in `fixtures/scenarios`.

use super::Scenario;
use crate::error::Error;

/// A scenario that comes with the crate.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// What to ask for.
    pub name: &'static str,
    /// One line on what it shows.
    pub about: &'static str,
    /// The scenario itself.
    pub toml: &'static str,
}

impl Preset {
    /// The scenario, read.
    ///
    /// # Errors
    /// None for the presets here; a test reads them all.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let mut scenario = Scenario::from_toml(self.toml)?;
        self.name.clone_into(&mut scenario.name);
        self.about.clone_into(&mut scenario.about);
        Ok(scenario)
    }
}

/// The presets, simplest first.
#[must_use]
pub fn presets() -> &'static [Preset] {
    &PRESETS
}

macro_rules! preset {
    ($name:literal, $about:literal) => {
        Preset {
            name: $name,
            about: $about,
            toml: include_str!(concat!("../../../../fixtures/scenarios/", $name, ".toml")),
        }
    };
}

const PRESETS: [Preset; 10] = [
    preset!(
        "eager",
        "1,000 small dispatches, each committed alone and waited for"
    ),
    preset!("fused", "eager's GPU work in a quarter of the dispatches"),
    preset!("batched", "eager's dispatches, 25 to a command buffer"),
    preset!(
        "pipelined",
        "eager's dispatches committed ahead: the queue is never empty"
    ),
    preset!(
        "renderer",
        "overlapping Vertex and Fragment work beside a compositor"
    ),
    preset!("shared-machine", "other processes hold most of the GPU"),
    preset!("awkward", "every oddity of real recordings at once"),
    preset!("two-runs", "two runs of the same target in one document"),
    preset!(
        "no-target-rows",
        "the target died before it reached the GPU"
    ),
    preset!(
        "million",
        "1,000,000 intervals of the target, for benchmarks"
    ),
];
