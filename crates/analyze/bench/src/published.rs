//! Leaves private data out of what a benchmark publishes about its commands: names, pages, files.

use metalens_text::{Redactor, SECRET};

use crate::parameters::{Parameter, place};

/// Returns the parameters of commands and variables with the values that are published.
pub(crate) fn parameters(
    parameters: &[Parameter],
    templates: &[Vec<String>],
    redactor: &Redactor,
) -> Vec<Parameter> {
    let published = parameters.iter().map(|parameter| {
        let is_secret = templates
            .iter()
            .any(|words| takes_secret(words, &place(&parameter.name), redactor));
        let values = parameter.values.iter();
        Parameter {
            name: parameter.name.clone(),
            values: values
                .map(|text| {
                    if is_secret {
                        SECRET.to_owned()
                    } else {
                        value(&parameter.name, text, redactor)
                    }
                })
                .collect(),
        }
    });
    published.collect()
}

/// Returns whether a secret goes into a place of a command, as in `--token {t}`.
fn takes_secret(words: &[String], place: &str, redactor: &Redactor) -> bool {
    let places =
        |words: &[String]| -> usize { words.iter().map(|word| word.matches(place).count()).sum() };
    places(&redactor.redact_command(words)) < places(words)
}

/// Returns the value of a parameter, whose name may be that of a secret.
fn value(name: &str, value: &str, redactor: &Redactor) -> String {
    let words = redactor.redact_command(&[format!("{name}={value}")]);
    let word = words.first().map_or("", String::as_str);
    word.split_once('=')
        .map_or("", |(_, value)| value)
        .to_owned()
}

/// Returns a command as it was given, or its words if some of them are private.
pub(crate) fn line(text: &str, words: &[String], redactor: &Redactor) -> String {
    let redacted = redactor.redact_command(words);
    if redacted == words {
        text.to_owned()
    } else {
        redacted.join(" ")
    }
}

/// Returns a command for a shell without private words.
pub(crate) fn shell_line(text: &str, redactor: &Redactor) -> String {
    match shlex::split(text) {
        Some(words) => line(text, &words, redactor),
        None => redactor.redact_command(&[text]).concat(),
    }
}
