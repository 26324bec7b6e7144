//! Replaces characters that a terminal obeys or a reader cannot see.

use std::borrow::Cow;

/// Returns true if a character has no width or changes the reading direction, so that a
/// reader does not see the real text. Control characters do not count.
pub fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns the visible name of a character, such as `‹U+202E›`.
pub fn name(letter: char) -> String {
    format!("‹U+{:04X}›", u32::from(letter))
}

/// Returns a text that is safe within one line on a terminal: control characters (also line
/// breaks) and [hidden](is_hidden) ones become names, a tab becomes a space.
pub fn shown(text: &str) -> Cow<'_, str> {
    replaced(text, is_unsafe, push_shown)
}

/// Returns a text of several lines that is safe on a terminal: like [`shown`], but line
/// breaks stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    replaced(
        text,
        |letter| is_unsafe(letter) && letter != '\n',
        push_shown,
    )
}

/// Returns a message that is safe on a terminal: like [`shown_lines`], but all lines after
/// the first are indented, so that none passes for a message of its own.
pub fn shown_message(text: &str) -> Cow<'_, str> {
    match shown_lines(text.trim_end()) {
        lines if lines.contains('\n') => Cow::Owned(lines.replace('\n', "\n  ")),
        line => line,
    }
}

/// Returns a JSON document with the same value, in which control and [hidden](is_hidden)
/// characters are escaped. JSON requires that only below U+0020. Apart from line breaks and
/// tabs, these characters occur only in strings.
pub fn in_json(document: &str) -> Cow<'_, str> {
    replaced(document, is_unsafe_in_json, push_json_escape)
}

/// Returns lines of which none is a command to a runner of GitHub Actions: one that begins with `::`,
/// or has `##[` anywhere. A letter of each becomes its name.
pub fn without_commands(lines: &str) -> Cow<'_, str> {
    if !lines.contains("::") && !lines.contains("##[") {
        return Cow::Borrowed(lines);
    }
    let mut out = String::with_capacity(lines.len() + 16);
    for line in lines.split_inclusive(['\n', '\r']) {
        let text = without_blank_start(line);
        let (blank, _) = line.split_at(line.len() - text.len());
        out.push_str(blank);
        let text = match text.strip_prefix("::") {
            Some(rest) => {
                out.push_str(&name(':'));
                out.push(':');
                rest
            }
            None => text,
        };
        out.push_str(&text.replace("##[", &format!("#{}[", name('#'))));
    }
    Cow::Owned(out)
}

/// Returns a line without what a runner does not see at its start: blanks, hidden characters, and
/// styles, which are not printed there.
fn without_blank_start(line: &str) -> &str {
    let is_blank =
        |letter: char| letter != '\u{1b}' && (letter.is_whitespace() || is_unsafe(letter));
    let mut rest = line.trim_start_matches(is_blank);
    while let Some((_, after)) = rest
        .strip_prefix("\u{1b}[")
        .and_then(|style| style.split_once('m'))
    {
        rest = after.trim_start_matches(is_blank);
    }
    rest
}

/// Returns the same JSON without `##[`, as [`without_commands`] does. It occurs only in strings.
pub(crate) fn json_without_commands(document: &str) -> String {
    document.replace("##[", "#\\u0023[")
}

fn is_unsafe_in_json(letter: char) -> bool {
    is_unsafe(letter) && !matches!(letter, '\n' | '\r' | '\t')
}

fn push_json_escape(letter: char, out: &mut String) {
    for unit in letter.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

fn is_unsafe(letter: char) -> bool {
    letter.is_control() || is_hidden(letter)
}

fn push_shown(letter: char, out: &mut String) {
    match letter {
        '\t' => out.push(' '),
        _ => out.push_str(&name(letter)),
    }
}

/// Returns a text with some characters replaced. Most texts have none and are not copied.
fn replaced(
    text: &str,
    is_replaced: impl Fn(char) -> bool,
    write: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&is_replaced) {
        return Cow::Borrowed(text);
    }

    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_replaced(letter) {
            write(letter, &mut out);
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_line_has_no_control_or_hidden_characters() {
        let check = |text: &str, expected: &str| {
            assert_eq!(shown(text), expected, "{text:?}");
        };
        check("matmul_f16 核 Zoë 👩 é", "matmul_f16 核 Zoë 👩 é");
        check("a\u{1b}]0;b\u{7}c", "a‹U+001B›]0;b‹U+0007›c");
        check(
            "\u{1b}[31m\u{9b}2J\u{7f}\0",
            "‹U+001B›[31m‹U+009B›2J‹U+007F›‹U+0000›",
        );
        check("a\nb\r\nc\td", "a‹U+000A›b‹U+000D›‹U+000A›c d");
        check("\u{202e}a\u{2066}b\u{2069}", "‹U+202E›a‹U+2066›b‹U+2069›");
        check(
            "\u{200b}\u{200d}\u{feff}\u{2028}\u{2029}",
            "‹U+200B›‹U+200D›‹U+FEFF›‹U+2028›‹U+2029›",
        );
        check(
            "\u{85}\u{ad}\u{e0041}\u{e0100}",
            "‹U+0085›‹U+00AD›‹U+E0041›‹U+E0100›",
        );
    }

    #[test]
    fn line_breaks_stay_in_a_text_of_several_lines() {
        assert_eq!(
            shown_lines("a\u{1b}b\n  c\r\n"),
            "a‹U+001B›b\n  c‹U+000D›\n"
        );
        assert_eq!(shown_lines("a\n\tb"), "a\n b");
        assert_eq!(shown_message("a\nhint: b\n"), "a\n  hint: b");
        assert_eq!(shown_message("a"), "a");
    }

    #[test]
    fn no_line_is_a_command_to_a_runner() {
        let check = |text: &str, expected: &str| {
            assert_eq!(without_commands(text), expected, "{text:?}");
        };
        check("a::b\n", "a::b\n");
        check("::error::x\n", "‹U+003A›:error::x\n");
        check("a\n  ::error::x", "a\n  ‹U+003A›:error::x");
        check("a\r\u{a0}\u{200b}::x", "a\r\u{a0}\u{200b}‹U+003A›:x");
        check("\u{1b}[1m \u{1b}[2m::x", "\u{1b}[1m \u{1b}[2m‹U+003A›:x");
        check("a ##[error]x ###[", "a #‹U+0023›[error]x ##‹U+0023›[");
        check(":::x", "‹U+003A›::x");
        check("\u{1b}::x", "\u{1b}::x");
        let json = json_without_commands(r#"["a ##[b"]"#);
        assert_eq!(json, r#"["a #\u0023[b"]"#);
        assert_eq!(
            serde_json::from_str::<[String; 1]>(&json).unwrap(),
            ["a ##[b"]
        );
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(shown("a kernel's name"), Cow::Borrowed(_)));
        assert!(matches!(shown_lines("a\nb"), Cow::Borrowed(_)));
        assert!(matches!(in_json("{\n\"a\": 1\n}"), Cow::Borrowed(_)));
        assert_eq!(shown("a\nb"), "a‹U+000A›b");
    }

    proptest::proptest! {
        #[test]
        fn json_keeps_its_value(text in "(\\PC|\\pC|[\u{7f}-\u{9f}\u{200b}-\u{202e}\u{e0000}-\u{e0fff}]){0,12}") {
            let document = serde_json::to_string(&text).unwrap();
            let escaped = in_json(&document);
            proptest::prop_assert!(!escaped.contains(is_unsafe));
            proptest::prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }

        #[test]
        fn shown_text_has_no_control_characters(text in "(\\PC|\\pC){0,12}") {
            proptest::prop_assert!(!shown(&text).contains(is_unsafe));
            proptest::prop_assert!(!shown_lines(&text).replace('\n', "").contains(is_unsafe));
        }
    }
}
