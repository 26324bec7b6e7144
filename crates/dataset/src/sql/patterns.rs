//! Text against patterns: LIKE, and regular expressions.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use regex::Regex;
use sqlparser::ast::{Expr as Ast, Value as SqlValue};

use super::datum::Datum;
use super::relation::{Typed, called, row_by_row};
use super::scope::wrong;
use crate::cells::Kind;
use crate::error::Result;

/// `text LIKE pattern`: `%` is any text, `_` any character.
pub(crate) fn like(
    text: &Typed,
    pattern: &Typed,
    escape: Option<SqlValue>,
    any_case: bool,
    ast: &Ast,
) -> Result<Typed> {
    let escape = match escape {
        None => None,
        Some(SqlValue::SingleQuotedString(text)) if text.chars().count() == 1 => {
            text.chars().next()
        }
        Some(other) => {
            return Err(wrong(
                format!("ESCAPE takes one character, not {other}"),
                ast,
            ));
        }
    };
    let is_text = |one: &Typed| {
        one.as_kind(Kind::Text)
            .ok_or_else(|| wrong(format!("LIKE is for text, not {}", called(one.kind)), ast))
    };
    let inputs = [is_text(text)?, is_text(pattern)?];
    Ok(row_by_row(
        &inputs,
        Kind::Flag,
        move |values| match values {
            [Datum::Text(text), Datum::Text(pattern)] => {
                let (text, pattern) = match any_case {
                    true => (text.to_lowercase(), pattern.to_lowercase()),
                    false => (text.clone(), pattern.clone()),
                };
                Ok(Datum::Flag(is_like(&text, &parts(&pattern, escape)?)))
            }
            _ => Ok(Datum::Null),
        },
    ))
}

/// A part of a LIKE pattern.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Any,
    One,
    Same(char),
}

fn parts(pattern: &str, escape: Option<char>) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        parts.push(match character {
            escaped if Some(escaped) == escape => Part::Same(
                characters
                    .next()
                    .ok_or_else(|| format!("the pattern '{pattern}' ends with its escape"))?,
            ),
            '%' => Part::Any,
            '_' => Part::One,
            other => Part::Same(other),
        });
    }
    Ok(parts)
}

/// By going back only to the last `%`: an earlier one could not do better.
fn is_like(text: &str, parts: &[Part]) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut part) = (0, 0);
    let mut last_any: Option<(usize, usize)> = None;
    while at < text.len() {
        match parts.get(part) {
            Some(Part::Any) => {
                last_any = Some((part, at));
                part += 1;
            }
            Some(Part::One) => (at, part) = (at + 1, part + 1),
            Some(Part::Same(c)) if text.get(at) == Some(c) => (at, part) = (at + 1, part + 1),
            _ => match last_any {
                Some((any, from)) => {
                    last_any = Some((any, from + 1));
                    (at, part) = (from + 1, any + 1);
                }
                None => return false,
            },
        }
    }
    let rest = parts.get(part..).unwrap_or_default();
    rest.iter().all(|part| *part == Part::Any)
}

/// The regular expressions of one query, each built once.
#[derive(Default)]
struct Built(Mutex<HashMap<String, Regex>>);

impl Built {
    fn get(&self, pattern: &str) -> Result<Regex, String> {
        let mut built = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(regex) = built.get(pattern) {
            return Ok(regex.clone());
        }
        let regex = Regex::new(pattern).map_err(|error| {
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default();
            format!("'{pattern}' is no regular expression: {why}")
        })?;
        built.insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    }
}

/// Whether a regular expression is found in a text.
pub(crate) fn matches(of: &[Typed]) -> Option<Typed> {
    let built = Built::default();
    Some(row_by_row(of, Kind::Flag, move |values| match values {
        [Datum::Text(text), Datum::Text(pattern)] => {
            Ok(Datum::Flag(built.get(pattern)?.is_match(text)))
        }
        _ => Ok(Datum::Null),
    }))
}

/// What a regular expression, or a group of it, finds; an empty text if nothing.
pub(crate) fn extract(of: &[Typed]) -> Option<Typed> {
    let built = Built::default();
    Some(row_by_row(of, Kind::Text, move |values| {
        let (text, pattern, group) = match values {
            [Datum::Text(text), Datum::Text(pattern)] => (text, pattern, 0),
            [
                Datum::Text(text),
                Datum::Text(pattern),
                Datum::Integer(group),
            ] => (text, pattern, *group),
            _ => return Ok(Datum::Null),
        };
        let regex = built.get(pattern)?;
        let group = usize::try_from(group)
            .ok()
            .filter(|group| *group < regex.captures_len())
            .ok_or_else(|| format!("'{pattern}' has no group {group}"))?;
        let found = regex.captures(text).and_then(|found| found.get(group));
        let found = found.map(|found| found.as_str().to_owned());
        Ok(Datum::Text(found.unwrap_or_default()))
    }))
}

/// A text with the first find replaced.
pub(crate) fn replace(of: &[Typed]) -> Option<Typed> {
    let built = Built::default();
    Some(row_by_row(of, Kind::Text, move |values| match values {
        [Datum::Text(text), Datum::Text(pattern), Datum::Text(other)] => {
            let regex = built.get(pattern)?;
            Ok(Datum::Text(
                regex.replace(text, other.as_str()).into_owned(),
            ))
        }
        _ => Ok(Datum::Null),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_by_its_parts() {
        let check = |text: &str, pattern: &str, expected: bool| {
            let parts = parts(pattern, Some('\\')).unwrap();
            assert_eq!(is_like(text, &parts), expected, "{text} LIKE {pattern}");
        };
        check("gemm_f16", "gemm%", true);
        check("gemm_f16", "%f16", true);
        check("gemm_f16", "%m_f%", true);
        check("gemmxf16", "gemm\\_f16", false);
        check("gemm_f16", "gemm\\_f16", true);
        check("gemm", "gem", false);
        check("gem", "gemm", false);
        check("", "%", true);
        check("", "_", false);
        check("größe", "gr__e", true);
        check("aaaaab", "%a%a%b", true);
        check("abcabd", "%abd", true);
        check("abcabc", "%abd%", false);
    }
}
