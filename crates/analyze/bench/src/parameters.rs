//! Defines parameters of commands, and puts their values into texts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, MOST_VARIANTS, Result};

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

    /// Returns a parameter with the values from one number to another, by steps. The numbers have
    /// as many decimal places as the most exact of the three.
    ///
    /// # Errors
    ///
    /// If one of them is not a number, if the step leads nowhere, or if there are too many values.
    pub fn scan(name: &str, from: &str, to: &str, step: &str) -> Result<Self> {
        let refused = |why: &'static str| Error::Scan {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            why,
        };
        let places = [from, to, step]
            .map(decimal_places)
            .into_iter()
            .max()
            .unwrap_or(0);
        let scaled = |text: &str| scaled(text, places).ok_or_else(|| refused("not a number"));
        let (first, last, by) = (scaled(from)?, scaled(to)?, scaled(step)?);
        if by == 0 || (last - first).signum() * by.signum() < 0 {
            return Err(refused("the step never reaches the last value"));
        }

        let count = (last - first) / by + 1;
        if count > MOST_VARIANTS as i64 {
            return Err(refused("there are too many values"));
        }
        let values = (0..count).map(|step| unscaled(first + step * by, places));
        Ok(Self {
            name: name.to_owned(),
            values: values.collect(),
        })
    }
}

fn decimal_places(text: &str) -> u32 {
    let fraction = text
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    u32::try_from(fraction).unwrap_or(u32::MAX)
}

/// Returns a decimal number, multiplied by a power of ten.
fn scaled(text: &str, places: u32) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let missing = places.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    let number: i64 = format!("{whole}{fraction}").parse().ok()?;
    number
        .checked_mul(10_i64.checked_pow(missing)?)?
        .checked_mul(sign)
}

/// Returns the text of a number that was multiplied by a power of ten.
fn unscaled(number: i64, places: u32) -> String {
    if places == 0 {
        return number.to_string();
    }
    let width = places as usize + 1;
    let digits = format!("{:0>width$}", number.unsigned_abs());
    let (whole, fraction) = digits.split_at(digits.len() - places as usize);
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{whole}.{fraction}")
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
    fn scans_are_exact() {
        let check = |words: [&str; 3], expected: Result<&[&str], &str>| {
            let [from, to, step] = words;
            let found = Parameter::scan("n", from, to, step);
            let found = found
                .map(|parameter| parameter.values)
                .map_err(|why| why.to_string());
            let expected =
                expected.map(|values| values.iter().map(|&value| value.to_owned()).collect());
            assert_eq!(found, expected.map_err(str::to_owned), "{words:?}");
        };
        check(["1", "5", "1"], Ok(&["1", "2", "3", "4", "5"]));
        check(["1", "6", "2"], Ok(&["1", "3", "5"]));
        check(["0.1", "0.4", "0.1"], Ok(&["0.1", "0.2", "0.3", "0.4"]));
        check(
            ["1", "-1", "-0.5"],
            Ok(&["1.0", "0.5", "0.0", "-0.5", "-1.0"]),
        );
        check(["-0.25", "0", "0.25"], Ok(&["-0.25", "0.00"]));
        check(["7", "7", "1"], Ok(&["7"]));
        check(
            ["1", "x", "1"],
            Err("cannot scan `n` from 1 to x: not a number"),
        );
        check(
            ["5", "1", "1"],
            Err("cannot scan `n` from 5 to 1: the step never reaches the last value"),
        );
        check(
            ["1", "5", "0"],
            Err("cannot scan `n` from 1 to 5: the step never reaches the last value"),
        );
        check(
            ["1", "100000", "1"],
            Err("cannot scan `n` from 1 to 100000: there are too many values"),
        );
    }

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
