//! Writes stacks as lines for `inferno`, and joins those of two runs.

use std::io;

use inferno::differential;
use metalens_analyzer::CollapsedStacks;

/// Returns one line per stack, which `inferno` reads back as the same stack.
pub(crate) fn lines(stacks: &CollapsedStacks) -> String {
    let mut text = String::new();
    for (stack, weight) in &stacks.lines {
        text.push_str(&format!("{} {weight}\n", unnumbered(stack)));
    }
    text
}

/// Returns a stack in which the innermost frame does not end with a number: `inferno` would take the
/// 12 of `main;block 12 1000` for the weight in another run.
fn unnumbered(stack: &str) -> String {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    match stack.rsplit_once(' ') {
        Some((before, last)) if is_number(last) => format!("{before}\u{a0}{last}"),
        _ => stack.to_owned(),
    }
}

/// Returns the stacks of both runs, sorted, one line each: `process;thread;…;innermost 500 1000`.
/// The first weight is that of the base, scaled so that both runs have the same total.
///
/// # Errors
/// None with stacks that were collapsed from samples: these have weights.
pub fn difference(base: &CollapsedStacks, new: &CollapsedStacks) -> io::Result<String> {
    let options = differential::Options {
        normalize: true,
        strip_hex: false,
    };
    let (base, new) = (lines(base), lines(new));
    let mut joined = Vec::new();
    differential::from_readers(options, base.as_bytes(), new.as_bytes(), &mut joined)?;

    // `inferno` writes the lines in the order of a map with a random seed.
    let joined = String::from_utf8(joined).map_err(io::Error::other)?;
    let mut lines: Vec<&str> = joined.lines().collect();
    lines.sort_unstable();
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use metalens_analyzer::WeightUnit;

    use super::*;

    pub(crate) fn stacks(lines: &[(&str, u64)]) -> CollapsedStacks {
        CollapsedStacks {
            unit: WeightUnit::Ns,
            lines: lines
                .iter()
                .map(|&(stack, weight)| (stack.to_owned(), weight))
                .collect(),
        }
    }

    #[test]
    fn stacks_of_two_runs_are_joined() {
        let base = stacks(&[("app;Main;encode", 3_000), ("app;Main;old", 1_000)]);
        let new = stacks(&[("app;Main;encode", 6_000), ("app;Main;new", 2_000)]);
        assert_eq!(
            difference(&base, &new).unwrap(),
            "app;Main;encode 6000 6000\napp;Main;new 0 2000\napp;Main;old 2000 0\n"
        );
    }

    #[test]
    fn a_name_that_ends_like_a_weight_stays_a_name() {
        let one = stacks(&[("app;Main;block 12", 5)]);
        assert_eq!(lines(&one), "app;Main;block\u{a0}12 5\n");
        assert_eq!(
            difference(&one, &one).unwrap(),
            "app;Main;block\u{a0}12 5 5\n"
        );
        assert_eq!(lines(&stacks(&[("app;f(int)", 5)])), "app;f(int) 5\n");
    }
}
