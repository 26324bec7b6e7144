//! Reads which steps somebody wants to look at.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// Choice of steps: `NAME`, `NAME:137`, `UNIT=NAME`, `UNIT=NAME*8`, or `137` of those that are found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepChoice {
    /// Name of the phases or of the labeled work that mark the steps; `None` for those that are found.
    pub name: Option<String>,
    /// Word for what is counted; `None` for the name.
    pub unit: Option<String>,
    /// Number of units in a step, such as tokens of a batch.
    pub units: NonZeroU64,
    /// Number of the one step to look at, from 1; `None` for all.
    pub number: Option<u64>,
}

impl FromStr for StepChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "such as decode, decode:137, token=decode, token=decode*8, or 137";
        let refused = || format!("steps are named {example}");
        let from_one = |text: &str| text.parse::<NonZeroU64>().ok();
        if let Some(number) = from_one(text) {
            return Ok(Self {
                name: None,
                unit: None,
                units: NonZeroU64::MIN,
                number: Some(number.get()),
            });
        }
        // A name may have colons itself.
        let (text, number) = match text.rsplit_once(':') {
            Some((name, number)) if from_one(number).is_some() => (name, from_one(number)),
            _ => (text, None),
        };
        let (unit, text) = match text.split_once('=') {
            Some((unit, name)) => (Some(unit), name),
            None => (None, text),
        };
        let (name, units) = match text
            .rsplit_once('*')
            .map(|(name, units)| (name, from_one(units)))
        {
            Some((name, Some(units))) => (name, units),
            _ => (text, NonZeroU64::MIN),
        };
        if name.is_empty() || unit == Some("") || text.parse::<u64>().is_ok() {
            return Err(refused());
        }
        Ok(Self {
            name: Some(name.to_owned()),
            unit: unit.map(str::to_owned),
            units,
            number: number.map(NonZeroU64::get),
        })
    }
}

impl fmt::Display for StepChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit.as_ref().map(|unit| format!("{unit}="));
        let units = (self.units > NonZeroU64::MIN).then(|| format!("*{}", self.units));
        let number = self.number.map(|number| match &self.name {
            Some(_) => format!(":{number}"),
            None => number.to_string(),
        });
        let name = self.name.as_deref().unwrap_or("");
        let [unit, units, number] = [unit, units, number].map(Option::unwrap_or_default);
        write!(formatter, "{unit}{name}{units}{number}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks name, word for the unit, units in a step, and number.
    fn check(text: &str, name: Option<&str>, unit: Option<&str>, units: u64, number: Option<u64>) {
        let choice: StepChoice = text.parse().unwrap();
        let words = (choice.name.as_deref(), choice.unit.as_deref());
        assert_eq!(words, (name, unit), "{text}");
        assert_eq!(
            (choice.units.get(), choice.number),
            (units, number),
            "{text}"
        );
        assert_eq!(choice.to_string(), text);
    }

    #[test]
    fn choices_are_read_and_written() {
        check("decode", Some("decode"), None, 1, None);
        check("decode:137", Some("decode"), None, 1, Some(137));
        check(
            "token=decode*8:2",
            Some("decode"),
            Some("token"),
            8,
            Some(2),
        );
        check("std::step", Some("std::step"), None, 1, None);
        check("137", None, None, 1, Some(137));
        for wrong in ["", "0", "=decode", "token=", "token=8"] {
            assert!(wrong.parse::<StepChoice>().is_err(), "{wrong}");
        }
    }
}
