//! Writes stacks as lines for `inferno`.

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
/// 12 of `main;block 12 1000` for a weight.
fn unnumbered(stack: &str) -> String {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    match stack.rsplit_once(' ') {
        Some((before, last)) if is_number(last) => format!("{before}\u{a0}{last}"),
        _ => stack.to_owned(),
    }
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
    fn a_name_that_ends_like_a_weight_stays_a_name() {
        let one = stacks(&[("app;Main;block 12", 5)]);
        assert_eq!(lines(&one), "app;Main;block\u{a0}12 5\n");
        assert_eq!(lines(&stacks(&[("app;f(int)", 5)])), "app;f(int) 5\n");
    }
}
