//! Checks values of a scenario: durations, names, texts and numbers.

use super::lengths::Lengths;
use super::nanos::Nanos;
use crate::error::Error;

const TEXT_CHARS_MAX: usize = 200;
/// Largest amount of memory, in bytes: more than any machine has.
const BYTES_MAX: u64 = 1 << 46;
/// Shortest period of samples, in nanoseconds: faster sampling is not possible.
const PERIOD_NS_MIN: u64 = 1_000;

const LENGTH_NS_MAX: u64 = 60_000_000_000;

/// A part of a scenario, by its path: the whole scenario, or `process[0].stream[1]`. Its methods
/// check fields of this part, and name the whole path of one that they refuse.
#[derive(Debug, Default)]
pub(crate) struct Place(String);

impl Place {
    /// Returns the place of a part of this part.
    pub(crate) fn inner(&self, field: &str) -> Self {
        Self(match self.0.as_str() {
            "" => field.to_owned(),
            place => format!("{place}.{field}"),
        })
    }

    /// Refuses a field, or this part itself if the field is empty.
    pub(crate) fn refuse(
        &self,
        field: &str,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Result<(), Error> {
        let refused = match field {
            "" => &self.0,
            field => &self.inner(field).0,
        };
        Err(Error::field(refused, problem, allowed))
    }

    /// Checks each entry of a list, at its own place.
    pub(crate) fn each<T>(
        &self,
        field: &str,
        entries: &[T],
        mut check: impl FnMut(&Self, &T) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut numbered = entries.iter().enumerate();
        numbered
            .try_for_each(|(index, entry)| check(&self.inner(&format!("{field}[{index}]")), entry))
    }

    /// Checks the number of entries of a list, which its plural names.
    pub(crate) fn at_most<T>(
        &self,
        field: &str,
        entries: &[T],
        most: usize,
        plural: &str,
    ) -> Result<(), Error> {
        if entries.len() <= most {
            return Ok(());
        }
        let many = format!("lists {} {plural}", entries.len());
        self.refuse(field, many, format!("at most {most}"))
    }

    pub(crate) fn lengths(
        &self,
        field: &str,
        lengths: &Lengths,
        shortest_ns: u64,
    ) -> Result<(), Error> {
        let (least, most) = (Nanos::new(shortest_ns), Nanos::new(LENGTH_NS_MAX));
        let problem = match (lengths.bounds(), lengths) {
            (None, _) => "has an empty cycle".to_owned(),
            (_, Lengths::Range([low, high])) if low > high => {
                let problem = format!("has {low} as the shortest and {high} as the longest");
                return self.refuse(field, problem, "[shortest, longest], the shortest first");
            }
            (Some((shortest, _)), _) if shortest < least => format!("can be {shortest}"),
            (Some((_, longest)), _) if longest > most => format!("can be {longest}"),
            _ => return Ok(()),
        };
        self.refuse(field, problem, format!("{least} to {most}"))
    }

    pub(crate) fn name(&self, field: &str, value: &str) -> Result<(), Error> {
        if value.trim().is_empty() {
            return self.refuse(field, "is blank", "a name");
        }
        self.text(field, value)
    }

    /// Checks a text. XML cannot represent most control characters, escaped or not.
    pub(crate) fn text(&self, field: &str, value: &str) -> Result<(), Error> {
        let is_odd =
            |letter: char| letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}');
        match value.chars().count() {
            chars if chars > TEXT_CHARS_MAX => {
                let problem = format!("has {chars} characters");
                self.refuse(field, problem, format!("at most {TEXT_CHARS_MAX}"))
            }
            _ if value.contains(is_odd) => {
                self.refuse(field, "contains a control character", "printable text")
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn within(&self, field: &str, value: u32, min: u32, max: u32) -> Result<(), Error> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        self.refuse(field, format!("is {value}"), format!("{min} to {max}"))
    }

    pub(crate) fn bytes(&self, field: &str, bytes: u64) -> Result<(), Error> {
        if bytes <= BYTES_MAX {
            return Ok(());
        }
        let allowed = format!("at most {BYTES_MAX}");
        self.refuse(field, format!("is {bytes}"), allowed)
    }

    /// Checks the time between two samples.
    pub(crate) fn period(&self, field: &str, period: Nanos) -> Result<(), Error> {
        self.instant(field, period, PERIOD_NS_MIN)
    }

    pub(crate) fn instant(&self, field: &str, time: Nanos, least_ns: u64) -> Result<(), Error> {
        self.lengths(field, &Lengths::Fixed(time), least_ns.min(LENGTH_NS_MAX))
    }
}
