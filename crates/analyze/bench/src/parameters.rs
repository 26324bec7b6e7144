//! Defines parameters of commands, and puts their values into texts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A parameter of the commands, and its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Parameter {
    /// Name of the parameter: `{name}` in a command stands for its value.
    pub name: String,
    /// Values in the order in which they were given.
    pub values: Vec<String>,
}

/// The value of a parameter in one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ParameterValue {
    /// Name of the parameter, without braces.
    pub name: String,
    /// Value of it in this variant.
    pub value: String,
}

impl Parameter {
    /// Returns a parameter with values that are separated by commas.
    ///
    /// # Errors
    ///
    /// If there is no value.
    pub fn list(name: &str, values: &str) -> Result<Self> {
        let values: Vec<String> = values
            .split(',')
            .map(|value| value.trim().to_owned())
            .collect();
        if values.iter().all(String::is_empty) {
            return Err(Error::NoValues(name.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            values,
        })
    }
}

/// Returns all combinations of values; the last parameter changes fastest. One that is empty if
/// there is no parameter.
pub(crate) fn combinations(parameters: &[Parameter]) -> Vec<Vec<ParameterValue>> {
    let mut combinations: Vec<Vec<ParameterValue>> = vec![Vec::new()];
    for parameter in parameters {
        let extended = combinations.iter().flat_map(|values| {
            parameter.values.iter().map(|value| {
                let mut more = values.clone();
                more.push(ParameterValue {
                    name: parameter.name.clone(),
                    value: value.clone(),
                });
                more
            })
        });
        combinations = extended.collect();
    }
    combinations
}

/// Returns whether a text has a place for the parameter.
pub(crate) fn has_place(text: &str, name: &str) -> bool {
    text.contains(&place(name))
}

/// Returns the place of a parameter: its name in braces.
pub(crate) fn place(name: &str) -> String {
    format!("{{{name}}}")
}

/// Puts values into the places of a text, in one pass: a value that looks like a place stays.
pub(crate) fn filled(text: &str, values: &[ParameterValue]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        filled.push_str(before);
        let value = values.iter().find_map(|value| {
            let rest = from.strip_prefix('{')?.strip_prefix(value.name.as_str())?;
            Some((&value.value, rest.strip_prefix('}')?))
        });
        match value {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_into_their_places() {
        let values = ["x", "n"].map(|name| ParameterValue {
            name: name.to_owned(),
            value: if name == "x" { "{n}" } else { "4" }.to_owned(),
        });
        let check = |text: &str, expected: &str| assert_eq!(filled(text, &values), expected);
        check("./a --size {n}", "./a --size 4");
        check("{n}{n}", "44");
        check("{x}", "{n}");
        check("{y} {", "{y} {");
        check("{{n}}", "{4}");
    }

    #[test]
    fn the_last_parameter_changes_fastest() {
        let parameters = [
            Parameter::list("a", "1,2").unwrap(),
            Parameter::list("b", "x, y").unwrap(),
        ];
        let all = combinations(&parameters);
        let text =
            |values: &Vec<ParameterValue>| values.iter().map(|value| value.value.clone()).collect();
        let all: Vec<String> = all.iter().map(text).collect();
        assert_eq!(all, ["1x", "1y", "2x", "2y"]);
        assert_eq!(combinations(&[]).len(), 1);
    }
}
