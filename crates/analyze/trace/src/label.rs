//! Parses displayed labels and process names.
//!
//! ```text
//! Command Buffer 0:sin      ( bench (12) )  0x8e438c0a     Instruments 26
//! Command Buffer 0:sin   (bench (12)) 0x8e438c0a           earlier ones
//! └──── text ────────┘      └ process ┘     └ submission
//! ```
//!
//! This is used only if the parts of a label do not contain the values themselves: the name of a
//! process may have parentheses, and a label may have any text.

/// The parts of a displayed label such as `sin      ( bench (12) )  0x1f`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Displayed<'a> {
    pub(crate) text: &'a str,
    pub(crate) process: Option<&'a str>,
    pub(crate) submission: Option<u64>,
}

/// Parses a displayed label. A label without a number at its end is only text.
pub(crate) fn parse(display: &str) -> Displayed<'_> {
    let all_text = Displayed {
        text: display.trim(),
        process: None,
        submission: None,
    };
    let trimmed = display.trim_end();
    let Some((before, hex)) = trimmed.rsplit_once("0x") else {
        return all_text;
    };

    let Ok(submission) = u64::from_str_radix(hex, 16) else {
        return all_text;
    };
    let (text, process) = match last_group(before.trim_end()) {
        Some((text, group)) => (text, Some(group.trim()).filter(|name| *name != "n/a")),
        None => (before, None),
    };

    Displayed {
        text: text.trim(),
        process,
        submission: Some(submission),
    }
}

/// Returns the text before a known process in a label, with any name. None if the label does not
/// have the process in parentheses.
pub(crate) fn before<'a>(display: &'a str, process: &str) -> Option<&'a str> {
    let at = display.rfind(process).filter(|_| !process.is_empty())?;
    let before = display.get(..at)?.trim_end();
    Some(before.strip_suffix('(')?.trim())
}

/// Splits `bench (GPU) (12)` into `bench (GPU)` and 12. `012` and `+12` are not pids but part of a
/// name.
pub(crate) fn split_process(display: &str) -> (&str, Option<u32>) {
    let pid_of = |text: &str| {
        let pid: u32 = text.parse().ok()?;
        (pid.to_string() == text).then_some(pid)
    };
    let split = display
        .strip_suffix(')')
        .and_then(|open| open.rsplit_once(" ("))
        .and_then(|(name, pid)| Some((name, pid_of(pid)?)));
    match split {
        Some((name, pid)) => (name, Some(pid)),
        None => (display, None),
    }
}

/// Splits `text ( inner (12) )` at its last balanced parentheses, into `text ` and ` inner (12) `.
fn last_group(text: &str) -> Option<(&str, &str)> {
    let inner_end = text.strip_suffix(')')?.len();
    let mut depth = 1_usize;
    for (at, c) in text.get(..inner_end)?.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((text.get(..at)?, text.get(at + 1..inner_end)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(display: &str, text: &str, process: Option<&str>, submission: Option<u64>) {
        let expected = Displayed {
            text,
            process,
            submission,
        };
        assert_eq!(parse(display), expected, "{display:?}");
    }

    #[test]
    fn displayed_labels_are_parsed() {
        let both = "Command Buffer 0:sin";
        check(
            "Command Buffer 0:sin      ( bench (12) )  0x1f",
            both,
            Some("bench (12)"),
            Some(31),
        );
        check(
            "Command Buffer 0:sin   (bench (12)) 0x1f",
            both,
            Some("bench (12)"),
            Some(31),
        );
        check(
            "      ( bench (GPU) (12) )  0x1f",
            "",
            Some("bench (GPU) (12)"),
            Some(31),
        );
        check(
            "   (Clear)  ( bench (12) )  0x1f",
            "(Clear)",
            Some("bench (12)"),
            Some(31),
        );
        check(
            "f(x) & g(x)      ( n/a )  0x1f",
            "f(x) & g(x)",
            None,
            Some(31),
        );
        check("1  channels active", "1  channels active", None, None);
        check("at 0x1f of it", "at 0x1f of it", None, None);
        check("0x1f", "", None, Some(31));
        check("unbalanced) 0x1f", "unbalanced)", None, Some(31));
        check("", "", None, None);
    }

    #[test]
    fn a_known_process_may_have_any_name() {
        let found = before(
            "a & 7      ( d'Arc (1) (2 (100) )  0x1f",
            "d'Arc (1) (2 (100)",
        );
        assert_eq!(found, Some("a & 7"));
        assert_eq!(before("bench (12) did it", "bench (12)"), None);
        assert_eq!(before("nobody", ""), None);
    }

    #[test]
    fn names_and_pids_are_split() {
        assert_eq!(split_process("bench (12)"), ("bench", Some(12)));
        assert_eq!(split_process("bench (GPU) (12)"), ("bench (GPU)", Some(12)));
        assert_eq!(split_process("bench (GPU)"), ("bench (GPU)", None));
        assert_eq!(split_process(""), ("", None));
    }
}
