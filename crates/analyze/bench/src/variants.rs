//! Makes variants of commands and parameters.

use std::collections::BTreeSet;

use metalens_text::Redactor;
use serde::{Deserialize, Serialize};

use crate::error::{Error, MOST_VARIANTS, Result};
use crate::parameters::{Parameter, ParameterValue, combinations, filled, has_place};
use crate::published;
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
    /// Variables of the commands, whose values may have places for parameters.
    pub variables: Vec<(String, String)>,
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

/// The variants of a benchmark. All texts but those of [`CommandToRun`] are without private data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BenchPlan {
    /// Parameters of the commands.
    pub parameters: Vec<Parameter>,
    /// The variants in their order; the first is the one that others are compared with.
    pub variants: Vec<Variant>,
}

/// The command of a variant as it is run, secrets included. It is never written.
#[derive(Debug, Clone, Default)]
pub struct CommandToRun {
    /// Words of the command.
    pub words: Vec<String>,
    /// Variables of the command.
    pub variables: Vec<(String, String)>,
    /// Commands that a shell runs beside the recordings.
    pub hooks: Hooks,
}

/// One variant: a command with its parameters filled in.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    /// The command as it is run.
    #[serde(skip)]
    pub run: CommandToRun,
}

impl BenchPlan {
    /// Makes the variants of a request. Names that the user chose stay as they are.
    ///
    /// # Errors
    ///
    /// If a command, a parameter or the names are wrong.
    pub fn new(request: &BenchRequest, redactor: &Redactor) -> Result<Self> {
        let mut names = BTreeSet::new();
        for parameter in &request.parameters {
            if !names.insert(&parameter.name) {
                return Err(Error::RepeatedParameter(parameter.name.clone()));
            }
            let is_used = |text: &str| has_place(text, &parameter.name);
            let mut texts = request.sources.iter().map(CommandTemplate::text);
            let mut variables = request.variables.iter();
            if !texts.any(is_used) && !variables.any(|(_, value)| is_used(value)) {
                return Err(Error::UnusedParameter(parameter.name.clone()));
            }
        }

        let lengths = request
            .parameters
            .iter()
            .map(|parameter| parameter.values.len());
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

        let commands = request.sources.iter().map(CommandTemplate::text);
        let commands = commands.map(split).collect::<Result<Vec<_>>>()?;
        let variables = request.variables.iter();
        let variables = variables.map(|(name, value)| vec![format!("{name}={value}")]);
        let texts: Vec<Vec<String>> = commands.into_iter().chain(variables).collect();
        let parameters = published::parameters(&request.parameters, &texts, redactor);
        let values: Vec<_> = combinations(&request.parameters)
            .into_iter()
            .zip(combinations(&parameters))
            .collect();
        let published = values
            .iter()
            .flat_map(|values| request.sources.iter().map(move |source| (source, values)));
        let mut variants = Vec::new();
        for (index, (source, (values, published))) in published.enumerate() {
            let mut variant = variant(request, source, values, published, redactor)?;
            if let Some(name) = request.names.get(index) {
                variant.name.clone_from(name);
            }
            variants.push(variant);
        }

        let mut seen = BTreeSet::new();
        if let Some(twice) = variants.iter().find(|variant| !seen.insert(&variant.name)) {
            return Err(Error::RepeatedName(twice.name.clone()));
        }
        Ok(Self {
            parameters,
            variants,
        })
    }
}

/// Fills a command with the values of one variant: with the real ones to run it, and with those that
/// are published.
fn variant(
    request: &BenchRequest,
    source: &CommandTemplate,
    values: &[ParameterValue],
    published: &[ParameterValue],
    redactor: &Redactor,
) -> Result<Variant> {
    let text = source.text();
    // The words are made first: a value with a space stays one word.
    let template = split(text)?;
    let filled_words = |values: &[ParameterValue]| -> Vec<String> {
        template.iter().map(|word| filled(word, values)).collect()
    };
    let hooks = |hook: &dyn Fn(&str) -> String| Hooks {
        setup: request.hooks.setup.as_deref().map(hook),
        prepare: request.hooks.prepare.as_deref().map(hook),
        cleanup: request.hooks.cleanup.as_deref().map(hook),
    };

    let words = filled_words(published);
    // The values alone name the variants of a single command.
    let name = if request.sources.len() > 1 || published.is_empty() {
        let line = published::line(&filled(text, published), &words, redactor);
        // A parameter of a variable is not in the command.
        let others = published
            .iter()
            .filter(|value| !has_place(text, &value.name));
        let others = others.map(|value| format!(" {}={}", value.name, value.value));
        format!("{line}{}", others.collect::<String>())
    } else {
        let values = published
            .iter()
            .map(|value| format!("{}={}", value.name, value.value));
        values.collect::<Vec<String>>().join(" ")
    };
    Ok(Variant {
        name,
        template: published::line(text, &template, redactor),
        words: redactor.redact_command(&words),
        is_workload: matches!(source, CommandTemplate::Workload(_)),
        parameters: published.to_vec(),
        hooks: hooks(&|text| published::shell_line(&filled(text, published), redactor)),
        run: CommandToRun {
            words: filled_words(values),
            variables: request
                .variables
                .iter()
                .map(|(name, value)| (name.clone(), filled(value, values)))
                .collect(),
            hooks: hooks(&|text| filled(text, values)),
        },
    })
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
        let program = |text: &&str| CommandTemplate::Program((*text).to_owned());
        let parameters = parameters.iter();
        BenchRequest {
            sources: commands.iter().map(program).collect(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            parameters: parameters
                .map(|(name, values)| Parameter::list(name, values).unwrap())
                .collect(),
            variables: Vec::new(),
            hooks: Hooks {
                prepare: Some("make {n}".to_owned()),
                ..Hooks::default()
            },
        }
    }

    #[test]
    fn variants_are_commands_with_values() {
        let check = |request: BenchRequest, expected: &[&str]| {
            let plan = BenchPlan::new(&request, &Redactor::default()).unwrap();
            let shown = plan.variants.iter().map(|variant| {
                assert_eq!(variant.words, variant.run.words);
                let prepare = variant.run.hooks.prepare.clone().unwrap();
                assert_eq!(variant.hooks, variant.run.hooks);
                format!("{}: {} ({prepare})", variant.name, variant.words.join("|"))
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

    /// Secrets are run, and in nothing that is written.
    #[test]
    fn secrets_are_not_published() {
        let check = |request: BenchRequest, names: &[&str], ran: &[&str]| {
            let plan = BenchPlan::new(&request, &Redactor::default()).unwrap();
            let written = serde_json::to_string(&plan).unwrap();
            assert!(!written.contains("hunter2"), "{written}");
            let found = plan.variants.iter().map(|variant| variant.name.as_str());
            assert_eq!(found.collect::<Vec<_>>(), names);
            let found = plan
                .variants
                .iter()
                .map(|variant| variant.run.words.join("|"));
            assert_eq!(found.collect::<Vec<_>>(), ran);
        };
        check(
            request(
                &["./a --password=hunter2 ghp_hunter2hunter2x", "./b 'c  d'"],
                &[],
                &[],
            ),
            &["./a --password=<secret> <secret>", "./b 'c  d'"],
            &["./a|--password=hunter2|ghp_hunter2hunter2x", "./b|c  d"],
        );
        check(
            request(&["sh -c 'exec ./a --token hunter2'"], &[], &["mine"]),
            &["mine"],
            &["sh|-c|exec ./a --token hunter2"],
        );
        // A parameter whose name, place or value says that it is a secret.
        check(
            request(
                &["./a {token} {n}"],
                &[("token", "hunter2"), ("n", "1,2")],
                &[],
            ),
            &["token=<secret> n=1", "token=<secret> n=2"],
            &["./a|hunter2|1", "./a|hunter2|2"],
        );
        check(
            request(&["./a --token {t} {t}"], &[("t", "hunter2")], &[]),
            &["t=<secret>"],
            &["./a|--token|hunter2|hunter2"],
        );
        check(
            request(
                &["./a {t}", "./b {t}"],
                &[("t", "sk-hunter2-hunter2-x,1")],
                &[],
            ),
            &["./a <secret>", "./b <secret>", "./a 1", "./b 1"],
            &[
                "./a|sk-hunter2-hunter2-x",
                "./b|sk-hunter2-hunter2-x",
                "./a|1",
                "./b|1",
            ],
        );
        let hooked = BenchRequest {
            hooks: Hooks {
                setup: Some("TOKEN=hunter2 make 'x".to_owned()),
                prepare: Some(
                    "curl --header 'Authorization: hunter2' --password hunter2 | sh".to_owned(),
                ),
                cleanup: Some("rm --api-key=hunter2".to_owned()),
            },
            ..request(&["./a"], &[], &[])
        };
        let plan = BenchPlan::new(&hooked, &Redactor::default()).unwrap();
        assert_eq!(plan.variants[0].run.hooks, hooked.hooks);
        check(hooked, &["./a"], &["./a"]);

        let twice = request(&["./a --token hunter2", "./a --token hunter3"], &[], &[]);
        let refused = BenchPlan::new(&twice, &Redactor::default()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "two variants have the name `./a --token <secret>`"
        );
    }

    /// A parameter may be in a variable alone: then the commands are the same.
    #[test]
    fn variables_have_values() {
        let variable = |value: &str| ("MAX_OPS".to_owned(), value.to_owned());
        let asked = BenchRequest {
            variables: vec![variable("{ops}"), variable("1")],
            ..request(&["./a"], &[("ops", "3,50")], &[])
        };
        let plan = BenchPlan::new(&asked, &Redactor::default()).unwrap();
        let of = |variant: &Variant| (variant.name.clone(), variant.run.variables.clone());
        let expected = ["3", "50"].map(|value| {
            let variables = vec![variable(value), variable("1")];
            (format!("ops={value}"), variables)
        });
        assert_eq!(plan.variants.iter().map(of).collect::<Vec<_>>(), expected);

        let secret = BenchRequest {
            variables: vec![("API_TOKEN".to_owned(), "{t}".to_owned())],
            ..request(&["./a"], &[("t", "hunter2")], &[])
        };
        let plan = BenchPlan::new(&secret, &Redactor::default()).unwrap();
        assert!(!serde_json::to_string(&plan).unwrap().contains("hunter2"));
    }

    #[test]
    fn wrong_requests_are_refused() {
        let check = |request: BenchRequest, expected: &str| {
            let refused = BenchPlan::new(&request, &Redactor::default());
            assert_eq!(refused.unwrap_err().to_string(), expected);
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
            "no command or variable contains `{n}`, so all its values would give the same command",
        );
        check(
            request(&["./a {n}"], &[("n", "1"), ("n", "2")], &[]),
            "the parameter `n` is given twice",
        );
    }
}
