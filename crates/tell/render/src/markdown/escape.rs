//! Escapes text so that Markdown, HTML and GitHub show it and do not interpret it.
//!
//! A kernel's label is whatever its author, or somebody who means harm, made it: a
//! mention that sends mail, a link, a comment's marker, a picture, an instruction to
//! read from right to left. Beside Markdown's own marks, GitHub makes links of plain
//! words (`@name`, `#1`, `GH-1`, `a/b@c0ffee…`, `c0ffee…`, `www.…`), after all
//! backslashes are gone: those are broken by a space of no width, as Dependabot and
//! Renovate do. In a code span GitHub makes no links; names in tables are such spans.

use std::borrow::Cow;

use metalens_text::{is_hidden, name};

/// A zero-width space, as HTML and Markdown write it.
const BREAK: &str = "&#8203;";

/// Escapes text for a line of Markdown, also in a table.
pub(super) fn in_markdown(text: &str) -> String {
    // Blanks at a line's beginning are code, or nothing.
    let text = text.trim_start_matches(is_blank);
    let mark = mark_of_line(text);
    each(text, |at, letter, out| match letter {
        _ if mark == Some(at) => out.extend(['\\', letter]),
        '\\' | '`' | '*' | '_' | '|' | '[' | ']' | '#' | '~' => {
            out.extend(['\\', letter]);
        }
        '$' => out.push_str("&#36;"),
        _ => in_either(letter, out),
    })
}

/// Escapes text for an element or a quoted attribute of HTML, where Markdown is not parsed.
pub(super) fn in_html(text: &str) -> String {
    each(text, |_, letter, out| match letter {
        '"' => out.push_str("&quot;"),
        // Lest it is looked for all the same.
        '`' | '*' | '_' | '[' | ']' | '$' | '\\' => {
            out.push_str(&format!("&#{};", u32::from(letter)));
        }
        _ => in_either(letter, out),
    })
}

/// Returns a code span, from which readers copy the exact text. Text that a code span in a table
/// cannot hold becomes an HTML element.
pub(super) fn as_code(text: &str) -> String {
    let is_odd = |letter: char| {
        matches!(letter, '`' | '|' | '\\') || letter.is_control() || is_hidden(letter)
    };
    let begins_or_ends_with_space = text.trim() != text;
    // Whoever searches bodies for markers does not know code from text.
    let is_odd = text.contains(is_odd) || text.contains("<!--");
    if text.is_empty() || begins_or_ends_with_space || is_odd {
        format!("<code>{}</code>", in_markdown(text))
    } else {
        format!("`{text}`")
    }
}

/// Returns the beginning and the end of a text that is longer than `longest`.
pub(super) fn clipped(text: &str, longest: usize) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= longest {
        return Cow::Borrowed(text);
    }
    let end = longest / 3;
    let beginning: String = text.chars().take(longest - end - 1).collect();
    let end: String = text.chars().skip(length - end).collect();
    Cow::Owned(format!("{beginning}…{end}"))
}

fn in_either(letter: char, out: &mut String) {
    match letter {
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '&' => out.push_str("&amp;"),
        _ => out.push(letter),
    }
}

fn each(text: &str, write: impl Fn(usize, char, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hash = 0..0;
    for (at, letter) in text.char_indices() {
        let (before, rest) = text.split_at(at);
        if is_break(letter) {
            out.push(' ');
            continue;
        }
        if is_named(letter) {
            out.push_str(&name(letter));
            continue;
        }
        write(at, letter, &mut out);
        if let Some(length) = hash_length(before, rest) {
            hash = at..at + length;
        }
        // Cut so often that no part is long enough to be one.
        let cuts_hash = hash.contains(&at) && (at - hash.start) % 6 == 3;
        if links(before, letter, rest) || cuts_hash {
            out.push_str(BREAK);
        }
    }
    out
}

/// Returns the position of a mark that would begin a list or underline a heading.
fn mark_of_line(text: &str) -> Option<usize> {
    let after_number = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = text.len() - after_number.len();
    let is_numbered = digits > 0 && begins_item(after_number, &['.', ')']);
    let is_of_rule = |letter: char| matches!(letter, '-' | '=') || is_blank(letter);
    let is_rule = !text.is_empty() && text.chars().all(is_of_rule);
    let is_item = begins_item(text, &['-', '+']);
    // What begins so is a command in a log of a workflow.
    let is_command = text.starts_with("::");
    if is_numbered {
        Some(digits)
    } else {
        // A dash alone stands for an empty cell of a table.
        (text != "-" && (is_rule || is_item || is_command)).then_some(0)
    }
}

fn begins_item(text: &str, marks: &[char]) -> bool {
    text.strip_prefix(marks)
        .is_some_and(|after| after.is_empty() || after.starts_with(is_blank))
}

/// Returns whether a letter is a space, or is shown as one.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() && !is_named(letter)
}

/// Returns whether a letter ends a line or a cell, and is shown as a space.
fn is_break(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\t')
}

/// Returns whether a letter is shown by name.
fn is_named(letter: char) -> bool {
    is_hidden(letter) || (letter.is_control() && !is_break(letter))
}

/// Returns whether GitHub would make a link, a mention or a picture of the word around this
/// letter.
fn links(before: &str, letter: char, rest: &str) -> bool {
    let after = rest.get(letter.len_utf8()..).unwrap_or("");
    let is_next = |test: fn(char) -> bool| after.chars().next().is_some_and(test);
    let ends = |word: &str| ends_with_ignoring_case(before, word);
    match letter {
        '@' => is_next(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_')),
        '#' => is_next(|letter| letter.is_ascii_digit()),
        ':' => {
            let is_address = after.starts_with("//") || ends("mailto") || ends("xmpp");
            is_address || (!before.ends_with(':') && begins_emoji(after))
        }
        // Before the dot: behind it, it is a link already.
        'w' | 'W' => ends("ww") && after.starts_with('.'),
        '-' => ["gh", "ghsa", "cve"].iter().any(|word| ends(word)),
        '$' => !after.is_empty(),
        _ => false,
    }
}

fn ends_with_ignoring_case(text: &str, word: &str) -> bool {
    let at = text.len().checked_sub(word.len());
    let end = at.and_then(|at| text.get(at..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// Returns whether the text begins an emoji, as in `tada:`, but not in `fast:` of
/// `metal::fast::exp`.
fn begins_emoji(after: &str) -> bool {
    let is_of_name =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '+' | '-');
    let end = after.trim_start_matches(is_of_name);
    let name = after.get(..after.len() - end.len()).unwrap_or("");
    // The time of day is none, and of all numbers these are.
    let is_number = name.chars().all(|letter| letter.is_ascii_digit());
    let is_name = !name.is_empty() && (!is_number || matches!(name, "100" | "1234"));
    is_name && end.starts_with(':') && !end.starts_with("::")
}

/// Returns the length of the commit hash that begins here: 7 to 64 hexadecimal digits and no more.
/// The first may be a capital: a sentence may begin with the hash.
fn hash_length(before: &str, rest: &str) -> Option<usize> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_digit = |letter: char| matches!(letter, '0'..='9' | 'a'..='f');
    if before.ends_with(is_of_word) {
        return None;
    }
    let after = rest.strip_prefix(|letter: char| letter.is_ascii_hexdigit())?;
    let after = after.trim_start_matches(is_digit);
    let length = rest.len() - after.len();
    ((7..=64).contains(&length) && !after.starts_with(is_of_word)).then_some(length)
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

    use super::*;

    /// In the expected text, `·` is a zero-width space.
    #[test]
    fn markdown_in_text_is_escaped() {
        let check = |text: &str, expected: &str| {
            assert_eq!(in_markdown(text).replace(BREAK, "·"), expected, "{text}");
        };
        check(
            "a | `b` *c* _d_ ~e~",
            "a \\| \\`b\\` \\*c\\* \\_d\\_ \\~e\\~",
        );
        check("<img src=x> &amp;", "&lt;img src=x&gt; &amp;amp;");
        check("<!-- metalens:a -->", "&lt;!-- metalens:a --&gt;");
        check("![a](b)", "!\\[a\\](b)");
        check("hello @octocat, @a/b", "hello @·octocat, @·a/b");
        check("see #12, a/b#3, # 4", "see \\#·12, a/b\\#·3, \\# 4");
        check("GH-12 gh-1 CVE-2026-1", "GH-·12 gh-·1 CVE-·2026-1");
        check("https://a.b www.c.d", "https:·//a.b www·.c.d");
        check("mailto:a@b.c", "mailto:·a@·b.c");
        check("::error::gone", "\\::error::gone");
        check("by c0ffee1234 in", "by c0ff·ee1234· in");
        check("C0ffee1234 is it", "C0ff·ee1234· is it");
        check("c0ffee1234c0ffee", "c0ff·ee1234·c0ffee·");
        check("1234567 deadbeef_x face", "1234·567 deadbeef\\_x face");
        check("17A0000 12:00:00.000", "17A0000 12:00:00.000");
        check(":100: :tada:", ":·100: :·tada:");
        check(":tada: metal::fast::exp", ":·tada: metal::fast::exp");
        check("$x$", "&#36;·x&#36;");
        check("a\nb\r\u{1b}[2J", "a b ‹U+001B›\\[2J");
        check("\u{1b}]0;x\u{7}", "‹U+001B›\\]0;x‹U+0007›");
        check(
            "\u{85}a\u{b}b\u{c}\u{9b}",
            "‹U+0085›a‹U+000B›b‹U+000C›‹U+009B›",
        );
        check("\t\r\na", "a");
        check("a\u{202e}b\u{200b}", "a‹U+202E›b‹U+200B›");
        check("\u{2028}- a", "‹U+2028›- a");
        check("- a", "\\- a");
        check("1. a", "1\\. a");
        check("---", "\\---");
        check("\u{1}---\t", "‹U+0001›--- ");
        check("    code", "code");
        check("+", "\\+");
        check("=", "\\=");
        check("-", "-");
        check("-3.2 ms, 3.5 %", "-3.2 ms, 3.5 %");
        check("Zoë 核", "Zoë 核");
    }

    #[test]
    fn html_in_text_is_escaped() {
        let check = |text: &str, expected: &str| {
            assert_eq!(in_html(text).replace(BREAK, "·"), expected, "{text}");
        };
        check("a\" onload=\"x", "a&quot; onload=&quot;x");
        check("</details> @b", "&lt;/details&gt; @·b");
        check("a_b", "a&#95;b");
    }

    #[test]
    fn code_spans_keep_the_exact_text() {
        let check = |text: &str, expected: &str| {
            assert_eq!(as_code(text).replace(BREAK, "·"), expected, "{text}");
        };
        check("matmul_f16 @x #1", "`matmul_f16 @x #1`");
        check("a|b", "<code>a\\|b</code>");
        check("a\\|b", "<code>a\\\\\\|b</code>");
        check("`", "<code>\\`</code>");
        check(" a", "<code>a</code>");
        check("<!-- a -->", "<code>&lt;!-- a --&gt;</code>");
        check("<b>", "`<b>`");
        check("", "<code></code>");
        check("a\nb", "<code>a b</code>");
        check("a\u{1b}b", "<code>a‹U+001B›b</code>");
    }

    #[test]
    fn long_texts_are_clipped() {
        let check = |text: &str, longest: usize, expected: &str| {
            assert_eq!(clipped(text, longest), expected);
        };
        check("abcdefghij", 10, "abcdefghij");
        check("abcdefghijk", 10, "abcdef…ijk");
        check("ääääääääääää", 4, "ää…ä");
    }

    /// Returns the visible text, without invisible breaks.
    fn seen(text: &str) -> String {
        let mut seen = String::new();
        for letter in text.chars() {
            match letter {
                '\n' | '\r' | '\t' => seen.push(' '),
                _ if letter.is_control() || is_hidden(letter) => {
                    seen.push_str(&format!("‹U+{:04X}›", u32::from(letter)));
                }
                _ => seen.push(letter),
            }
        }
        one_spaced(&seen)
    }

    fn one_spaced(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns the text that another parser of Markdown reads; panics if it is more than text.
    fn read(page: &str) -> String {
        use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
        // What GitHub has.
        let github = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_MATH
            | Options::ENABLE_GFM;
        let mut text = String::new();
        let mut cells = 0;
        for event in Parser::new_ext(page, github) {
            match event {
                Event::Start(Tag::Paragraph | Tag::Table(_) | Tag::TableHead | Tag::TableRow) => {}
                Event::End(TagEnd::TableCell) => cells += 1,
                Event::Start(Tag::TableCell) => text.push(' '),
                Event::End(_) | Event::SoftBreak => {}
                Event::Text(part) | Event::Code(part) => text.push_str(&part),
                Event::InlineHtml(html) if matches!(&*html, "<code>" | "</code>") => {}
                other => panic!("{page:?} is obeyed: {other:?}"),
            }
        }
        assert!(matches!(cells, 0 | 4), "{page:?}");
        one_spaced(&text.replace('\u{200b}', ""))
    }

    proptest::proptest! {
        /// Escaped text reads as the original, in a line and in a table, as text and as code.
        #[test]
        fn another_parser_reads_only_text(
            text in proptest::collection::vec(
                proptest::prop_oneof![
                    proptest::string::string_regex("[-#*_`|\\\\<>&!\\[\\](){}@:/.+=~^$\"\u{202e}\u{200b}\n\t\u{1} 0-9a-f]{1,6}").unwrap(),
                    proptest::sample::select(vec![
                        "www.a", "http://", "mailto:a@b.c", "GH-1", "- ", "1. ", "---", "<!--", "-->",
                        "</details>", "&amp;", "&#64;", "c0ffee00", "![a](b)", "[x]: y", "$$", ":tada:",
                    ]).prop_map(str::to_owned),
                    proptest::string::string_regex("\\PC{1,4}").unwrap(),
                ],
                0..8,
            ).prop_map(|parts| parts.concat())
        ) {
            let expected = seen(&text);
            let line = in_markdown(&text);
            if expected != "-" {
                proptest::prop_assert_eq!(read(&line), expected.clone());
            }
            for cell in [line, as_code(&text)] {
                let table = format!("| a | b |\n| --- | --- |\n| {cell} | z |\n");
                let both = one_spaced(&format!("a b {expected} z"));
                proptest::prop_assert_eq!(read(&table), both);
            }
            let html = in_html(&text);
            proptest::prop_assert!(!html.contains(['<', '>', '"', '\n']));
        }
    }
}
