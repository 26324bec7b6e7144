//! Text from a trace, harmless to a terminal.

/// Without control characters.
pub(crate) fn safe(text: &str) -> String {
    let replace = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_move_the_cursor() {
        assert_eq!(safe("a\u{1b}[2J\u{9b}b"), "a\u{fffd}[2J\u{fffd}b");
    }
}
