//! The grammar of displayed labels and process names.
//!
//! ```text
//! Command Buffer 0:sin      ( bench (12) )  0x8e438c0a     Instruments 26
//! Command Buffer 0:sin   (bench (12)) 0x8e438c0a           earlier ones
//! └──── text ────────┘      └ process ┘     └ submission
//! ```
//!
//! Used only where a label's parts do not say it themselves: a process may have
//! parentheses in its name, and a label may have anything.

/// `sin      ( bench (12) )  0x1f` taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Displayed<'a> {
    pub(crate) text: &'a str,
    pub(crate) process: Option<&'a str>,
    pub(crate) submission: Option<u64>,
}

/// Takes a displayed label apart. One without a number at its end is all text.
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

/// The words before the process that a label is known to name, however odd its
/// name; none if the label does not name it in parentheses.
pub(crate) fn before<'a>(display: &'a str, process: &str) -> Option<&'a str> {
    let at = display.rfind(process).filter(|_| !process.is_empty())?;
    let before = display.get(..at)?.trim_end();
    Some(before.strip_suffix('(')?.trim())
}

/// `bench (GPU) (12)` → (`bench (GPU)`, 12). Nobody writes a pid as `012` or `+12`: what
/// looks so is part of a name.
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

/// `text ( inner (12) )` → (`text `, ` inner (12) `): the last balanced parentheses.
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
    fn labels() {
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
    fn a_known_process_may_be_called_anything() {
        let found = before(
            "a & 7      ( d'Arc (1) (2 (100) )  0x1f",
            "d'Arc (1) (2 (100)",
        );
        assert_eq!(found, Some("a & 7"));
        assert_eq!(before("bench (12) did it", "bench (12)"), None);
        assert_eq!(before("nobody", ""), None);
    }

    #[test]
    fn processes() {
        assert_eq!(split_process("bench (12)"), ("bench", Some(12)));
        assert_eq!(split_process("bench (GPU) (12)"), ("bench (GPU)", Some(12)));
        assert_eq!(split_process("bench (GPU)"), ("bench (GPU)", None));
        assert_eq!(split_process(""), ("", None));
    }
}
