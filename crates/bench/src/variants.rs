//! Makes variants of commands and parameters.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::{Error, MOST_VARIANTS, Result};
use crate::parameters::{Parameter, ParameterValue, combinations, filled, has_place};
use crate::words::split;

/// A request for a benchmark.
#[derive(Debug, Clone, Default)]
pub struct BenchRequest {
    /// The commands, which may have places for parameters.
    pub sources: Vec<CommandTemplate>,
    /// Names of the variants, in their order. Empty for their commands.
    pub names: Vec<String>,
    /// Parameters of the commands.
    pub parameters: Vec<Parameter>,
    /// Commands that a shell runs beside the recordings.
    pub hooks: Hooks,
}

/// A command that may have places for parameters, such as `./bench --size {n}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandTemplate {
    /// A program with its arguments.
    Program(String),
    /// A bundled workload with its options.
    Workload(String),
}

/// Commands that a shell runs beside the recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// Command before the first run of each variant.
    pub setup: Option<String>,
    /// Command before each run.
    pub prepare: Option<String>,
    /// Command after the last run of each variant.
    pub cleanup: Option<String>,
}

/// The variants of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchPlan {
    /// Parameters of the commands.
    pub parameters: Vec<Parameter>,
    /// The variants in their order; the first is the one that others are compared with.
    pub variants: Vec<Variant>,
}

/// One variant: a command with its parameters filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Name of the variant.
    pub name: String,
    /// Command before parameters are filled in.
    #[serde(default)]
    pub template: String,
    /// Words of the command: the program and its arguments, or a workload and its options.
    pub words: Vec<String>,
    /// True if the words name a bundled workload.
    pub is_workload: bool,
    /// Values of the parameters in this variant.
    pub parameters: Vec<ParameterValue>,
    /// Commands that a shell runs beside the recordings, with their parameters filled in.
    pub hooks: Hooks,
}

impl BenchPlan {
    /// Makes the variants of a request.
    ///
    /// # Errors
    ///
    /// If a command, a parameter or the names are wrong.
    pub fn new(request: &BenchRequest) -> Result<Self> {
        let mut names = BTreeSet::new();
        for parameter in &request.parameters {
            if !names.insert(&parameter.name) {
                return Err(Error::RepeatedParameter(parameter.name.clone()));
            }
            let is_used = |source: &CommandTemplate| has_place(source.text(), &parameter.name);
            if !request.sources.iter().any(is_used) {
                return Err(Error::UnusedParameter(parameter.name.clone()));
            }
        }

        let lengths = request.parameters.iter().map(|one| one.values.len());
        let each = lengths.fold(1_usize, usize::saturating_mul);
        let count = each.saturating_mul(request.sources.len());
        if count > MOST_VARIANTS {
            return Err(Error::TooMany(count));
        }
        if !request.names.is_empty() && request.names.len() != count {
            return Err(Error::Names {
                names: request.names.len(),
                variants: count,
            });
        }

        let combinations = combinations(&request.parameters);
        let all = combinations
            .iter()
            .flat_map(|values| request.sources.iter().map(move |source| (source, values)));
        let mut variants = Vec::new();
        for (at, (source, values)) in all.enumerate() {
            variants.push(variant(request, source, values, request.names.get(at))?);
        }

        let mut seen = BTreeSet::new();
        if let Some(twice) = variants.iter().find(|one| !seen.insert(&one.name)) {
            return Err(Error::RepeatedName(twice.name.clone()));
        }
        Ok(Self {
            parameters: request.parameters.clone(),
            variants,
        })
    }
}

/// Fills a command with the values of one variant.
fn variant(
    request: &BenchRequest,
    source: &CommandTemplate,
    values: &[ParameterValue],
    name: Option<&String>,
) -> Result<Variant> {
    // The words are made first: a value with a space stays one word.
    let words = split(source.text())?;
    let words: Vec<String> = words.iter().map(|word| filled(word, values)).collect();
    let hook = |text: &Option<String>| text.as_ref().map(|text| filled(text, values));
    Ok(Variant {
        name: name.map_or_else(|| default_name(request, source, values), Clone::clone),
        template: source.text().to_owned(),
        words,
        is_workload: matches!(source, CommandTemplate::Workload(_)),
        parameters: values.to_vec(),
        hooks: Hooks {
            setup: hook(&request.hooks.setup),
            prepare: hook(&request.hooks.prepare),
            cleanup: hook(&request.hooks.cleanup),
        },
    })
}

/// Returns the command of a variant. The values alone name the variants of a single command.
fn default_name(
    request: &BenchRequest,
    source: &CommandTemplate,
    values: &[ParameterValue],
) -> String {
    if request.sources.len() > 1 || values.is_empty() {
        return filled(source.text(), values);
    }
    let values = values
        .iter()
        .map(|one| format!("{}={}", one.name, one.value));
    values.collect::<Vec<String>>().join(" ")
}

impl CommandTemplate {
    fn text(&self) -> &str {
        match self {
            Self::Program(text) | Self::Workload(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(commands: &[&str], parameters: &[(&str, &str)], names: &[&str]) -> BenchRequest {
        let program = |one: &&str| CommandTemplate::Program((*one).to_owned());
        let parameters = parameters.iter();
        BenchRequest {
            sources: commands.iter().map(program).collect(),
            names: names.iter().map(|&one| one.to_owned()).collect(),
            parameters: parameters
                .map(|(name, values)| Parameter::list(name, values).unwrap())
                .collect(),
            hooks: Hooks {
                prepare: Some("make {n}".to_owned()),
                ..Hooks::default()
            },
        }
    }

    #[test]
    fn variants_are_commands_with_values() {
        let check = |request: BenchRequest, expected: &[&str]| {
            let plan = BenchPlan::new(&request).unwrap();
            let shown = plan.variants.iter().map(|one| {
                let prepare = one.hooks.prepare.clone().unwrap();
                format!("{}: {} ({prepare})", one.name, one.words.join("|"))
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected);
        };
        check(
            request(&["./a", "./b x"], &[], &["one", "two"]),
            &["one: ./a (make {n})", "two: ./b|x (make {n})"],
        );
        check(
            request(&["./a {n} {m}"], &[("n", "1,2"), ("m", "x")], &[]),
            &["n=1 m=x: ./a|1|x (make 1)", "n=2 m=x: ./a|2|x (make 2)"],
        );
        check(
            request(&["./a {n}", "./b {n}"], &[("n", "1,two words")], &[]),
            &[
                "./a 1: ./a|1 (make 1)",
                "./b 1: ./b|1 (make 1)",
                "./a two words: ./a|two words (make two words)",
                "./b two words: ./b|two words (make two words)",
            ],
        );
    }

    #[test]
    fn wrong_requests_are_refused() {
        let check = |request: BenchRequest, expected: &str| {
            assert_eq!(BenchPlan::new(&request).unwrap_err().to_string(), expected);
        };
        check(
            request(&["./a", "./a"], &[], &[]),
            "two variants have the name `./a`",
        );
        check(
            request(&["./a", "./b"], &[], &["x"]),
            "1 names for 2 variants: give -n once for each variant, in their order",
        );
        check(
            request(&["./a"], &[("n", "1,2")], &[]),
            "no command contains `{n}`, so all its values would give the same command",
        );
        check(
            request(&["./a {n}"], &[("n", "1"), ("n", "2")], &[]),
            "the parameter `n` is given twice",
        );
    }
}
