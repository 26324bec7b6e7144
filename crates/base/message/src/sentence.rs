//! Sentences, made of fixed words and of values.

use std::fmt;

use metalens_text::shorten_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::value::{PlacedValue, Value};

/// Sentence with its values, in the order in which they appear in it. A single value is a
/// message, too.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Complete text of the sentence.
    pub text: String,
    /// Values of the sentence, in order.
    pub values: Vec<PlacedValue>,
}

/// Puts values into a sentence, one for each `{}`: fixed words and other messages, such as the
/// functions of this crate return. Only fixed words may go in without a type.
#[macro_export]
macro_rules! message {
    ($sentence:literal $(, $part:expr)* $(,)?) => {{
        const {
            let parts: &[&str] = &[$(stringify!($part)),*];
            assert!(
                $crate::has_places($sentence, parts.len()),
                "each value needs a pair of braces, and there are no others"
            );
        }
        $crate::Message::filled($sentence, vec![$($crate::Message::from($part)),*])
    }};
}

/// Returns whether a sentence has this many `{}` and no other braces.
pub const fn has_places(sentence: &str, count: usize) -> bool {
    let (mut rest, mut places) = (sentence.as_bytes(), 0);
    loop {
        rest = match rest {
            [] => return places == count,
            [b'{', b'}', rest @ ..] => {
                places += 1;
                rest
            }
            [b'{' | b'}', ..] => return false,
            [_, rest @ ..] => rest,
        };
    }
}

impl Message {
    /// Puts parts into a sentence, one for each `{}`; [`message!`](crate::message!) checks that
    /// their number is right.
    #[must_use]
    pub fn filled(sentence: &str, parts: Vec<Self>) -> Self {
        let mut message = Self::default();
        let mut parts = parts.into_iter();

        for (index, words) in sentence.split("{}").enumerate() {
            if index > 0 {
                message.push(parts.next().unwrap_or_default());
            }
            message.text.push_str(words);
        }
        message
    }

    /// Returns a message of words that the program does not know before it runs.
    #[must_use]
    pub fn words(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            values: Vec::new(),
        }
    }

    /// Returns a message that is one value.
    #[must_use]
    pub fn value(text: String, value: Value) -> Self {
        let placed = PlacedValue {
            at: 0,
            text: text.clone(),
            value,
        };
        Self {
            text,
            values: vec![placed],
        }
    }

    /// Joins messages with words between them.
    #[must_use]
    pub fn joined<M: Into<Self>>(parts: impl IntoIterator<Item = M>, between: &str) -> Self {
        let mut message = Self::default();
        for (index, part) in parts.into_iter().enumerate() {
            if index > 0 {
                message.text.push_str(between);
            }
            message.push(part);
        }
        message
    }

    /// Appends a message, and moves its values along.
    pub fn push(&mut self, part: impl Into<Self>) {
        let Self { text, values } = part.into();
        let begin = self.text.len();
        self.text.push_str(&text);
        let values = values.into_iter().map(|value| PlacedValue {
            at: begin + value.at,
            ..value
        });
        self.values.extend(values);
    }

    /// Splits the message into its words and its values. A message that somebody edited is all
    /// words.
    pub fn segments(&self) -> Vec<Segment<'_>> {
        segments(&self.text, &self.values).unwrap_or_else(|| vec![(self.text.as_str(), None)])
    }

    /// Returns whether the sentence begins with a name, which keeps the spelling of its first
    /// letter.
    pub fn begins_with_name(&self) -> bool {
        let first = self.values.first();
        first.is_some_and(|first| first.at == 0 && first.value.is_name())
    }

    /// Replaces the texts of values: `other` returns a value's new text, or `None` if it stays.
    /// Returns false, and changes nothing, if a value is not at its position, because somebody
    /// edited the report.
    pub fn rewrite(&mut self, mut other: impl FnMut(&PlacedValue) -> Option<String>) -> bool {
        let Some(segments) = segments(&self.text, &self.values) else {
            return false;
        };
        let mut text = String::with_capacity(self.text.len());
        let mut values = Vec::with_capacity(self.values.len());

        for (segment, value) in segments {
            let Some(value) = value else {
                text.push_str(segment);
                continue;
            };
            let value_text = other(value).unwrap_or_else(|| value.text.clone());
            let at = text.len();
            text.push_str(&value_text);
            values.push(PlacedValue {
                at,
                text: value_text,
                value: value.value.clone(),
            });
        }

        *self = Self { text, values };
        true
    }

    /// Returns the sentence with names of kernels that a reader can take in: of at most 48 letters, and
    /// so that no two different ones look alike.
    #[must_use]
    pub fn with_short_kernels(&self) -> Self {
        const LONGEST: usize = 48;
        let kernels = self.values.iter();
        let kernels = kernels.filter(|value| value.value == Value::Kernel);
        let kernels: Vec<&str> = kernels.map(|value| value.text.as_str()).collect();
        let short = shorten_all(&kernels, &|name| name.chars().count() <= LONGEST);
        let mut short = short.into_iter();
        let mut message = self.clone();
        message.rewrite(|value| {
            let is_kernel = value.value == Value::Kernel;
            is_kernel.then(|| short.next()).flatten()
        });
        message
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&'static str> for Message {
    fn from(words: &'static str) -> Self {
        Self::words(words)
    }
}

impl From<&Self> for Message {
    fn from(message: &Self) -> Self {
        message.clone()
    }
}

/// Converts a missing part to an empty message.
impl From<Option<Self>> for Message {
    fn from(part: Option<Self>) -> Self {
        part.unwrap_or_default()
    }
}

/// Part of a sentence: fixed words, or the text of a value together with that value.
pub type Segment<'a> = (&'a str, Option<&'a PlacedValue>);

/// Splits a sentence into its words and its values. Returns `None` if a value is not at its
/// position, because somebody edited the report.
fn segments<'a>(text: &'a str, values: &'a [PlacedValue]) -> Option<Vec<Segment<'a>>> {
    let mut segments = Vec::with_capacity(2 * values.len() + 1);
    let mut end = 0;
    for value in values {
        let after = value.at.saturating_add(value.text.len());
        if text.get(value.at..after) != Some(value.text.as_str()) {
            return None;
        }
        segments.push((text.get(end..value.at)?, None));
        segments.push((value.text.as_str(), Some(value)));
        end = after;
    }
    segments.push((text.get(end..).unwrap_or_default(), None));
    Some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ns, count, counted, kernel, process, time};

    #[test]
    fn long_kernels_of_a_sentence_are_shortened_apart() {
        let long = |end: &str| format!("{}{end}", "k".repeat(60));
        let said = message!("{} → {}", kernel(&long("+++++++++")), kernel(&long("+++")));
        let short = said.with_short_kernels();
        let (first, second) = short.text.split_once(" → ").unwrap();
        assert_ne!(first, second);
        assert!(short.text.chars().count() <= 2 * 48 + 3, "{}", short.text);
        let unchanged = message!("{} is gone", kernel("short"));
        assert_eq!(unchanged.with_short_kernels(), unchanged);
    }

    #[test]
    fn sentences_are_filled() {
        let none: Option<Message> = None;
        let inner = message!("{} of {}", count(3), counted(4, "gap"));
        let message = message!(
            "in {}{}, {}: {}",
            inner,
            none,
            time(Ns(1_500)),
            kernel("é{}")
        );
        assert_eq!(message.text, "in 3 of 4 gaps, 1.500 µs: é{}");
        let placed = message.values.iter();
        let placed: Vec<(usize, &str)> = placed
            .map(|value| (value.at, value.text.as_str()))
            .collect();
        let expected = [(3, "3"), (8, "4 gaps"), (16, "1.500 µs"), (27, "é{}")];
        assert_eq!(placed, expected);
    }

    #[test]
    fn placeholders_are_counted() {
        let cases = [("", 0), ("{}", 1), ("a {} b{}", 2)];
        for (sentence, count) in cases {
            assert!(has_places(sentence, count), "{sentence}");
            assert!(!has_places(sentence, count + 1), "{sentence}");
        }
        for odd in ["{name}", "{", "a } b", "{{}}"] {
            assert!(!(0..3).any(|count| has_places(odd, count)), "{odd}");
        }
    }

    #[test]
    fn values_are_rewritten_in_place() {
        let mut message = message!("{}, not sin, {}", process("sin", false), kernel("sin"));
        let is_process = |value: &PlacedValue| matches!(value.value, Value::Process { .. });
        assert!(message.rewrite(|value| is_process(value).then(|| "another".to_owned())));
        assert_eq!(message.text, "another, not sin, sin");
        assert_eq!(message.values[1].at, "another, not sin, ".len());
    }

    /// An edited report may have other words around its values, but not other values.
    #[test]
    fn values_in_other_places_are_refused() {
        for edited in ["so, 4 of 5", "4", "µ", ""] {
            let mut message = message!("{} of {}", count(4), count(5));
            message.text = edited.to_owned();
            assert!(!message.rewrite(|_| Some(String::new())), "{edited}");
            assert_eq!(message.text, edited);
        }
    }
}
