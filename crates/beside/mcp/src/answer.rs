//! Shortens an answer to its budget, and notes in it what was left out.

use std::borrow::Cow;

use metalens_render::document::Document;
use metalens_render::terminal;
use metalens_text::shown_lines;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::problem::ToolProblem;

/// Most characters of an answer's text, and of its structured content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget(usize);

impl Budget {
    pub(crate) const DEFAULT: u32 = 6_000;
    pub(crate) const LEAST: u32 = 1_000;
    pub(crate) const MOST: u32 = 200_000;

    /// Returns a budget within the limits.
    pub(crate) fn new(characters: u32) -> Self {
        Self(characters.clamp(Self::LEAST, Self::MOST) as usize)
    }
}

/// An answer before it is shortened.
#[derive(Debug, Default)]
pub(crate) struct ToolAnswer {
    pub(crate) text: String,
    pub(crate) structured: Map<String, Value>,
    /// Key of the list in the structured content that is shortened first.
    pub(crate) list: &'static str,
    /// A picture: base64 and its type.
    pub(crate) picture: Option<(String, &'static str)>,
}

impl ToolAnswer {
    /// Returns the answer within its budget. Invisible characters are shown by name, so that no text
    /// of a recording says something that only the agent can read.
    pub(crate) fn within(mut self, budget: Budget) -> Self {
        self.structured.values_mut().for_each(show_hidden);
        Self {
            text: cut_text(shown_lines(&self.text).into_owned(), budget),
            structured: cut_structured(self.structured, self.list, budget),
            ..self
        }
    }
}

/// Returns a text within the budget. A text that is too long keeps its first lines, and ends with a
/// line about the cut.
fn cut_text(text: String, Budget(most): Budget) -> String {
    let whole = text.chars().count();
    if whole <= most {
        return text;
    }

    let last = format!(
        "[cut: {most} of {whole} characters. For more: section, a smaller top, or a larger budget]\n"
    );
    let room = most.saturating_sub(last.chars().count());
    let mut kept = String::new();
    let mut used = 0;
    for line in text.split_inclusive('\n') {
        used += line.chars().count();
        if used > room {
            break;
        }
        kept.push_str(line);
    }
    kept + &last
}

/// Returns structured content within the budget. Leaves out the last rows of a list, and counts them
/// in `left_out`.
fn cut_structured(
    mut content: Map<String, Value>,
    list: &str,
    Budget(most): Budget,
) -> Map<String, Value> {
    let mut left_out = 0;
    while length(&content) > most {
        let Some(Value::Array(rows)) = content.get_mut(list) else {
            break;
        };
        // Each step formats the content again, so a long list is cut by more than one row.
        let step = (rows.len() / 8).max(1);
        if rows.len() < step || rows.is_empty() {
            break;
        }
        rows.truncate(rows.len() - step);
        left_out += step;
        content.insert("left_out".to_owned(), json!({ list: left_out }));
    }
    if length(&content) <= most {
        return content;
    }

    let reason = format!(
        "the structured content has {} characters, but the budget is {most}: ask with a larger \
         budget",
        length(&content)
    );
    Map::from_iter([("left_out".to_owned(), Value::String(reason))])
}

fn length(content: &Map<String, Value>) -> usize {
    serde_json::to_string(content).map_or(usize::MAX, |text| text.chars().count())
}

/// Returns a document as plain text for a reader without a terminal.
pub(crate) fn text_of(document: &Document) -> String {
    let styled = terminal::text(document, None);
    anstream::adapter::strip_str(&styled).to_string()
}

/// Replaces hidden characters in all texts of a value.
fn show_hidden(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(shown) = shown_lines(text) {
                *text = shown;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(show_hidden),
        Value::Object(fields) => fields.values_mut().for_each(show_hidden),
        _ => {}
    }
}

/// Keeps the named section of a document, or all. An unknown name is an error that lists all names.
pub(crate) fn keep(document: &mut Document, section: &str) -> Result<(), ToolProblem> {
    if section == "all" {
        return Ok(());
    }
    document.keep(&[section.to_owned()]).map_err(|unknown| {
        ToolProblem::new(format!("there is no section {:?}", unknown.name))
            .hint(format!("use one of {}, all", unknown.known.join(", ")))
    })
}

/// Returns a value as JSON whose sentences are texts: only pages and the terminal need the values
/// in them.
pub(crate) fn plain_json(value: &impl Serialize) -> Result<Map<String, Value>, ToolProblem> {
    let mut value = serde_json::to_value(value)?;
    strip(&mut value);
    match value {
        Value::Object(fields) => Ok(fields),
        other => Ok(Map::from_iter([("value".to_owned(), other)])),
    }
}

/// Replaces sentences by their texts.
fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let is_sentence = fields.contains_key("values");
            match fields.get_mut("text") {
                Some(text) if is_sentence => *value = text.take(),
                _ => fields.values_mut().for_each(strip),
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Returns the fields of an object that have these keys. A field that it lacks is left out.
pub(crate) fn fields(object: &Map<String, Value>, keys: &[&str]) -> Map<String, Value> {
    keys.iter()
        .filter_map(|key| Some(((*key).to_owned(), object.get(*key)?.clone())))
        .collect()
}

/// Returns the fields with these keys of the first objects of a list.
pub(crate) fn rows(list: Option<&Value>, keys: &[&str], most: usize) -> Value {
    let list = list.and_then(Value::as_array);
    let objects = list.into_iter().flatten().filter_map(Value::as_object);
    let rows = objects
        .take(most)
        .map(|row| Value::Object(fields(row, keys)));
    Value::Array(rows.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Budget, ToolAnswer, length};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn an_answer_keeps_its_budget_and_says_what_it_leaves_out() {
        let line = "a line of forty characters, with a break\n";
        let rows: Vec<Value> = (0..1_000).map(|row| json!({ "row": row })).collect();
        for budget in [1_000, 2_500, 6_000, 12_000, 200_000] {
            let answer = ToolAnswer {
                text: line.repeat(200),
                structured: object(json!({ "rows": rows, "total": 1_000 })),
                list: "rows",
                picture: None,
            };
            let answer = answer.within(Budget::new(budget));
            assert!(answer.text.chars().count() <= budget as usize, "{budget}");
            assert!(length(&answer.structured) <= budget as usize, "{budget}");
            let is_cut = (line.len() * 200) > budget as usize;
            assert_eq!(answer.text.contains("[cut: "), is_cut, "{budget}");
            let kept = answer.structured["rows"].as_array().unwrap().len();
            let left_out = answer.structured.get("left_out");
            let left_out = left_out.map_or(0, |count| count["rows"].as_u64().unwrap());
            assert_eq!(kept as u64 + left_out, 1_000, "{budget}");
            assert!(kept > 30, "{budget}");
        }
    }

    #[test]
    fn hidden_characters_are_shown_by_name() {
        let name = "mat\u{202e}mul\u{e0041}";
        let answer = ToolAnswer {
            text: format!("{name}\n"),
            structured: object(json!({ "kernels": [{ "name": name }] })),
            ..ToolAnswer::default()
        };
        let answer = answer.within(Budget::new(1_000));
        let shown = "mat‹U+202E›mul‹U+E0041›";
        assert_eq!(answer.text, format!("{shown}\n"));
        assert_eq!(answer.structured["kernels"][0]["name"], shown);
    }

    #[test]
    fn content_without_a_list_to_shorten_is_left_out() {
        let answer = ToolAnswer {
            structured: object(json!({ "long": "x".repeat(5_000) })),
            ..ToolAnswer::default()
        };
        let answer = answer.within(Budget::new(1_000));
        let says = answer.structured["left_out"].as_str().unwrap();
        assert!(says.contains("5011 characters"), "{says}");
    }
}
