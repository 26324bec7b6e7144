//! The index: what there is, what failed, who is unlike the others, and where it goes.

use metalens_analyzer::units::counted;
use metalens_analyzer::{MessageMut, notes_mut};
use metalens_comparison::many::{self, Group, Outlier, Row, TrendFound};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The format's name; its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.index/1";

/// Many traces at a glance. All times are whole nanoseconds; `null` is unknown or
/// undefined, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Index {
    /// `metalens.index/1`.
    pub schema: String,
    /// The version of metalens that wrote it.
    pub metalens: String,
    /// A row for each trace that was analyzed, by name.
    pub rows: Vec<Row>,
    /// What could not be analyzed, and why, by name.
    pub failed: Vec<Failed>,
    /// The traces that are compared with each other: those of one program on one GPU.
    pub groups: Vec<Group>,
    /// Traces that are far from the others of their group.
    pub outliers: Vec<Outlier>,
    /// Where groups go with time: those with at least eight dated traces.
    pub trends: Vec<TrendFound>,
    /// How many traces were not done when the batch was interrupted.
    pub unfinished: u64,
    /// What a reader should know about this index.
    pub notes: Vec<String>,
}

/// A trace that could not be analyzed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// What it is called.
    pub name: String,
    /// Its path, as it was given or found.
    pub input: String,
    /// Why.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What stands in them that pages leave out, and what stands there instead.
    #[serde(skip)]
    pub hidden: Vec<(String, String)>,
}

impl Index {
    /// Makes the index of what there is.
    pub(crate) fn of(
        mut rows: Vec<Row>,
        mut failed: Vec<Failed>,
        unfinished: u64,
        mut notes: Vec<String>,
    ) -> Self {
        rows.sort_by(|a, b| natural(&a.name, &b.name).then_with(|| a.input.cmp(&b.input)));
        failed.sort_by(|a, b| natural(&a.name, &b.name).then_with(|| a.input.cmp(&b.input)));
        if unfinished > 0 {
            let what = counted(unfinished, "trace");
            notes.push(format!(
                "interrupted: {what} not done yet; the same command goes on"
            ));
        }
        let groups = many::groups(&rows);
        Self {
            schema: SCHEMA.to_owned(),
            metalens: env!("CARGO_PKG_VERSION").to_owned(),
            outliers: many::outliers(&rows, &groups),
            trends: many::trends(&rows, &groups),
            groups,
            rows,
            failed,
            unfinished,
            notes,
        }
    }
}

impl Index {
    /// Lends every sentence in which values may stand, for a change.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = MessageMut<'_>> {
        let outliers = self.outliers.iter_mut();
        let outliers = outliers.map(|one| (&mut one.says, &mut one.says_values));
        let trends = self.trends.iter_mut();
        let trends = trends.map(|one| (&mut one.says, &mut one.says_values));
        let said = outliers.chain(trends);
        let said = said.map(|(text, values)| MessageMut { text, values });
        let problems = self.rows.iter_mut();
        let problems =
            problems.flat_map(|row| notes_mut(&mut row.problems, &mut row.problem_details));
        said.chain(problems)
    }
}

/// Returns the JSON Schema of the index.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Index).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), SCHEMA.into());
    }
    schema
}

/// `b2` before `b10`: numbers in names by their size.
fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let order = match (split(left), split(right)) {
            (None, None) => return a.cmp(b),
            (one, other) if one.is_none() || other.is_none() => {
                return one.is_some().cmp(&other.is_some());
            }
            (Some((one, rest)), Some((other, more))) => {
                (left, right) = (rest, more);
                match is_number(one) && is_number(other) {
                    true => by_size(one, other),
                    false => one.cmp(other),
                }
            }
            _ => return a.cmp(b),
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|letter: char| letter.is_ascii_digit())
}

fn by_size(a: &str, b: &str) -> std::cmp::Ordering {
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// What a text begins with, digits or not, and the rest.
fn split(text: &str) -> Option<(&str, &str)> {
    let first = text.chars().next()?.is_ascii_digit();
    let end = text.find(|letter: char| letter.is_ascii_digit() != first);
    Some(text.split_at(end.unwrap_or(text.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_their_size() {
        let mut names = [
            "b10", "b2", "a", "b2.trace", "b02", "", "b", "10", "9", "b2a10", "b2a9",
        ];
        names.sort_by(|a, b| natural(a, b));
        let expected = [
            "", "9", "10", "a", "b", "b02", "b2", "b2.trace", "b2a9", "b2a10", "b10",
        ];
        assert_eq!(names, expected);
    }
}
