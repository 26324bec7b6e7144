//! Defines a number that JSON shows without a decimal point if it is whole.

use metalens_text::number::rounded;
use serde::{Deserialize, Serialize, Serializer};

/// Limit below which all whole numbers are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A finite number. Times are whole nanoseconds, except where a median lies between two of them.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize)]
#[serde(transparent)]
pub struct Number(f64);

impl Number {
    /// Wraps a number. Returns none if it is not finite.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        // Adding 0 turns −0 into 0, which JSON would write differently.
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// Returns the wrapped number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Returns the nearest whole number; 0 for a negative one.
    pub fn to_whole(self) -> u64 {
        rounded(self.0)
    }
}

impl Serialize for Number {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^53")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 && self.0.abs() < EXACT {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

impl schemars::JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <f64 as schemars::JsonSchema>::json_schema(generator)
    }
}
