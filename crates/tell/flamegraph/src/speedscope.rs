//! Writes stacks in the file format of <https://www.speedscope.app>.
//!
//! Each thread is a profile of its own. Collapsed stacks have no order of time: the view "Left
//! Heavy" shows all that they have.

use std::collections::HashMap;

use metalens_analyzer::{CollapsedStacks, WeightUnit};
use serde::Serialize;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: String,
    name: &'a str,
    active_profile_index: usize,
    shared: Shared<'a>,
    profiles: Vec<Profile<'a>>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Profile<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    /// `process;thread`, as in a line.
    name: &'a str,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    /// Frames of each stack as indices, from the outermost.
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// Returns the content of a `.speedscope.json` file.
///
/// # Errors
/// None: every key in the content is a text.
pub fn speedscope(stacks: &CollapsedStacks, name: &str) -> serde_json::Result<String> {
    let unit = match stacks.unit {
        WeightUnit::Ns => "nanoseconds",
        WeightUnit::Bytes => "bytes",
        WeightUnit::Cycles | WeightUnit::Allocations | WeightUnit::Samples => "none",
    };
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut profiles: Vec<Profile<'_>> = Vec::new();

    for (line, weight) in &stacks.lines {
        let (thread, stack) = split(line);
        // The lines are sorted, but `a b;c` is between `a;b` and `a;d`.
        let known = profiles.iter().position(|profile| profile.name == thread);
        let index = known.unwrap_or(profiles.len());
        if known.is_none() {
            profiles.push(Profile {
                kind: "sampled",
                name: thread,
                unit,
                start_value: 0,
                end_value: 0,
                samples: Vec::new(),
                weights: Vec::new(),
            });
        }

        let mut number = |name| {
            *numbers.entry(name).or_insert_with(|| {
                frames.push(Frame { name });
                frames.len() - 1
            })
        };
        let stack = stack.split(';').map(&mut number).collect();
        if let Some(profile) = profiles.get_mut(index) {
            profile.samples.push(stack);
            profile.weights.push(*weight);
            profile.end_value += weight;
        }
    }

    profiles.sort_by_key(|profile| (std::cmp::Reverse(profile.end_value), profile.name));
    serde_json::to_string(&File {
        schema: SCHEMA,
        exporter: format!("metalens {}", env!("CARGO_PKG_VERSION")),
        name,
        active_profile_index: 0,
        shared: Shared { frames },
        profiles,
    })
}

/// Splits a line after its process and its thread.
fn split(line: &str) -> (&str, &str) {
    let ends = line.match_indices(';').map(|(end, _)| end);
    let end = ends.take(2).last().unwrap_or(line.len());
    let (thread, stack) = line.split_at(end);
    (thread, stack.strip_prefix(';').unwrap_or(stack))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::folded::tests::stacks;

    #[test]
    fn each_thread_is_a_profile() {
        let stacks = stacks(&[
            ("app;Main;main;encode", 3),
            ("app;Main;main;wait", 4),
            ("app;Worker;encode", 9),
        ]);
        let file: Value = serde_json::from_str(&speedscope(&stacks, "app").unwrap()).unwrap();
        assert_eq!(file["$schema"], SCHEMA);
        assert_eq!(
            file["shared"]["frames"],
            json!([{"name": "main"}, {"name": "encode"}, {"name": "wait"}])
        );
        assert_eq!(
            file["profiles"],
            json!([
                {
                    "type": "sampled", "name": "app;Worker", "unit": "nanoseconds",
                    "startValue": 0, "endValue": 9, "samples": [[1]], "weights": [9],
                },
                {
                    "type": "sampled", "name": "app;Main", "unit": "nanoseconds",
                    "startValue": 0, "endValue": 7, "samples": [[0, 1], [0, 2]], "weights": [3, 4],
                },
            ])
        );
    }
}
