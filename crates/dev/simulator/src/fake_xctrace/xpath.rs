//! Parses XPath expressions that select tables of a table of contents.

use crate::export::single::ListedTable;

/// A selection of tables: steps to them, each with its conditions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct XPath {
    run: Vec<Condition>,
    table: Vec<Condition>,
}

/// A condition that a step has in brackets.
#[derive(Debug, PartialEq, Eq)]
enum Condition {
    /// A position such as `[2]`.
    Position(usize),
    /// Attributes such as `[@a="b" and @c="d"]`.
    Attributes(Vec<(String, String)>),
}

impl XPath {
    /// Parses `/trace-toc[1]/run[@number="1"]/data/table[…]`, or its last steps after `//`. Returns
    /// `None` for any other expression.
    pub(super) fn parse(expression: &str) -> Option<Self> {
        let path = expression.strip_prefix('/')?;
        let (path, anywhere) = path
            .strip_prefix('/')
            .map_or((path, false), |path| (path, true));
        let steps: Option<Vec<_>> = steps(path).into_iter().map(step).collect();
        let steps = steps?;
        let names: Vec<&str> = steps.iter().map(|(name, _)| *name).collect();
        let full = ["trace-toc", "run", "data", "table"];
        if !full.ends_with(&names) || names.is_empty() || (names.len() < full.len() && !anywhere) {
            return None;
        }

        let mut xpath = Self {
            run: Vec::new(),
            table: Vec::new(),
        };
        for (name, conditions) in steps {
            match name {
                "run" => xpath.run = conditions,
                "table" => xpath.table = conditions,
                // The other steps have one element each.
                _ if conditions
                    .iter()
                    .any(|condition| *condition != Condition::Position(1)) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        Some(xpath)
    }

    /// Returns the selected runs of a recording with `count` runs.
    pub(super) fn runs(&self, count: u32) -> Vec<u32> {
        let number = |run: &u32, name: &str| (name == "number").then(|| run.to_string());
        filtered((1..=count).collect(), &self.run, number)
    }

    /// Returns the selected tables with their positions, from 1.
    pub(super) fn tables(&self, listed: &[ListedTable]) -> Vec<(usize, ListedTable)> {
        let value = |(_, listed): &(usize, ListedTable), name: &str| match name {
            "schema" => Some(listed.schema.to_owned()),
            "target-pid" => listed.target_pid.map(str::to_owned),
            _ => None,
        };
        let listed = listed.iter().copied().enumerate();
        let numbered = listed.map(|(index, listed)| (index + 1, listed));
        filtered(numbered.collect(), &self.table, value)
    }
}

/// Returns the items that meet all conditions, one after another.
fn filtered<T>(
    mut items: Vec<T>,
    conditions: &[Condition],
    value: impl Fn(&T, &str) -> Option<String>,
) -> Vec<T> {
    for condition in conditions {
        match condition {
            Condition::Position(position) => {
                let index = position.checked_sub(1);
                items = index
                    .and_then(|index| items.into_iter().nth(index))
                    .into_iter()
                    .collect();
            }
            Condition::Attributes(pairs) => items.retain(|item| {
                let mut pairs = pairs.iter();
                pairs.all(|(name, wanted)| value(item, name).as_ref() == Some(wanted))
            }),
        }
    }
    items
}

/// Splits a path into its steps. Slashes in brackets are part of a step.
fn steps(path: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    path.split(|character: char| {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == '/' && depth == 0
    })
    .collect()
}

fn step(text: &str) -> Option<(&str, Vec<Condition>)> {
    let (name, rest) = text.split_at(text.find('[').unwrap_or(text.len()));
    let mut conditions = Vec::new();
    let mut rest = rest.trim();
    while !rest.is_empty() {
        let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
        conditions.push(condition(inside)?);
        rest = after.trim();
    }
    Some((name.trim(), conditions))
}

fn condition(text: &str) -> Option<Condition> {
    if let Ok(position) = text.trim().parse() {
        return Some(Condition::Position(position));
    }
    let pairs: Option<Vec<_>> = text.split(" and ").map(equation).collect();
    pairs.map(Condition::Attributes)
}

/// Parses `@name="value"` into the name and the value.
fn equation(text: &str) -> Option<(String, String)> {
    let (name, value) = text.trim().strip_prefix('@')?.split_once('=')?;
    let value = value.trim();
    let quoted = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    let value = quoted('"').or_else(|| quoted('\''))?;
    Some((name.trim().to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what an expression selects of two runs with four tables, of which the second and the
    /// third have the same schema.
    fn selected(expression: &str) -> Option<(Vec<u32>, Vec<usize>)> {
        let listed =
            ["tick", "kdebug", "kdebug", "metal-gpu-intervals"].map(|schema| ListedTable {
                schema,
                target_pid: (schema == "metal-gpu-intervals").then_some("SINGLE"),
                table: None,
            });
        let xpath = XPath::parse(expression)?;
        let tables = xpath.tables(&listed);
        let positions = tables.into_iter().map(|(position, _)| position);
        Some((xpath.runs(2), positions.collect()))
    }

    #[test]
    fn expressions_select_runs_and_tables() {
        let gpu = |runs: &[u32]| Some((runs.to_vec(), vec![4]));
        let cases = [
            (
                r#"/trace-toc/run[@number="2"]/data/table[@schema="metal-gpu-intervals"]"#,
                gpu(&[2]),
            ),
            (
                "/trace-toc/run[@number='1']/data/table[@schema='metal-gpu-intervals']",
                gpu(&[1]),
            ),
            ("//trace-toc[1]/run[1]/data[1]/table[4]", gpu(&[1])),
            (r#"//table[@schema="metal-gpu-intervals"]"#, gpu(&[1, 2])),
            (
                r#"/trace-toc/run[1]/data/table[@schema="metal-gpu-intervals" and @target-pid="SINGLE"]"#,
                gpu(&[1]),
            ),
            (
                r#"/trace-toc/run[1]/data/table[@schema="kdebug"][2]"#,
                Some((vec![1], vec![3])),
            ),
            (
                r#"/trace-toc/run[1]/data/table[@schema="kdebug"]"#,
                Some((vec![1], vec![2, 3])),
            ),
            (
                r#"/trace-toc/run[1]/data/table[@schema="a/b"]"#,
                Some((vec![1], vec![])),
            ),
            ("/trace-toc/run[3]/data/table[5]", Some((vec![], vec![]))),
            ("/trace-toc/run[1]/processes", None),
            ("/run[1]/data/table[1]", None),
            ("table[1]", None),
            ("/trace-toc/run[1]/data/table[@schema=tick]", None),
            ("/trace-toc/run[1]/data/table[1", None),
            ("", None),
        ];

        for (expression, expected) in cases {
            assert_eq!(selected(expression), expected, "{expression}");
        }
    }
}
