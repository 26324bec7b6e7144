//! Describes environments: the chip, the system and the recorder of recordings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run::{GPU, INSTRUMENTS, MODEL, ORIGIN, Run, SYNTHETIC, SYSTEM};
use crate::runs::Runs;

/// An environment in which programs were recorded. `null` means unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// Name of the GPU in Metal, which is that of the chip. Null if it is not recorded.
    pub gpu: Option<String>,
    /// Model of the machine. Null if it is not recorded.
    pub model: Option<String>,
    /// Operating system and version. Null if they are not recorded.
    pub os: Option<String>,
    /// Version of Instruments; the build in parentheses identifies Xcode. Null if it is not recorded.
    pub instruments_version: Option<String>,
    /// True if a simulator wrote the recordings.
    pub synthetic: bool,
    /// Recordings of this environment: folders of reports, or names of variants.
    pub of: Vec<String>,
}

impl Runs {
    /// Returns the environment of each run, which counts under a name.
    pub fn environments(&self, name: &str) -> impl Iterator<Item = Environment> {
        (0..self.count()).map(move |run| {
            let fact = |what: &str| self.circumstance(what)?.values.get(run)?.clone();
            Environment::of(fact, name)
        })
    }
}

impl Run {
    /// Returns the environment of the run, which counts under a name.
    pub fn environment(&self, name: &str) -> Environment {
        Environment::of(|what| self.circumstances.get(what).cloned(), name)
    }
}

impl Environment {
    fn of(fact: impl Fn(&str) -> Option<String>, name: &str) -> Self {
        Self {
            gpu: fact(GPU),
            model: fact(MODEL),
            os: fact(SYSTEM),
            instruments_version: fact(INSTRUMENTS),
            synthetic: fact(ORIGIN).as_deref() == Some(SYNTHETIC),
            of: vec![name.to_owned()],
        }
    }
}

/// Returns the distinct environments in the order in which they appear, each with all of its names.
pub fn distinct_environments(
    environments: impl IntoIterator<Item = Environment>,
) -> Vec<Environment> {
    let mut distinct: Vec<Environment> = Vec::new();
    for environment in environments {
        let is_like = |known: &&mut Environment| {
            let of = known.of.clone();
            Environment {
                of,
                ..environment.clone()
            } == **known
        };
        match distinct.iter_mut().find(is_like) {
            Some(known) => {
                for name in environment.of {
                    if !known.of.contains(&name) {
                        known.of.push(name);
                    }
                }
            }
            None => distinct.push(environment),
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_environments_are_one() {
        let environment = |of: &str, os: &str, instruments: Option<&str>| Environment {
            gpu: Some("Apple M2".to_owned()),
            model: None,
            os: Some(os.to_owned()),
            instruments_version: instruments.map(str::to_owned),
            synthetic: false,
            of: vec![of.to_owned()],
        };
        let found = distinct_environments([
            environment("a", "macOS 15", Some("26.0")),
            environment("b", "macOS 15", Some("26.1")),
            environment("c", "macOS 15", Some("26.0")),
            environment("c", "macOS 15", Some("26.0")),
            environment("d", "macOS 26", Some("26.0")),
            environment("e", "macOS 15", None),
        ]);
        let names: Vec<String> = found
            .iter()
            .map(|environment| environment.of.join(" "))
            .collect();
        assert_eq!(names, ["a c", "b", "d", "e"]);
    }
}
