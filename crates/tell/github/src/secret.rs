//! Defines the token, a text that is never shown, and removes it from other texts.

use std::fmt;

/// A secret that proves to GitHub who sends a request.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Returns a text as a token, or `None` if it has characters that no token has. Ignores spaces
    /// around it.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_token = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_token.then(|| Self(text.to_owned()))
    }

    /// Returns whether the token is that of a workflow run, or of an app's installation.
    pub(crate) fn is_of_installation(&self) -> bool {
        self.0.starts_with("ghs_")
    }

    /// Returns a text without the token, in every spelling of its letters: plain, percent-encoded, or
    /// escaped as in JSON or HTML. All output of a tool or a server passes through here before it is
    /// read.
    pub(crate) fn scrubbed(&self, text: &[u8]) -> Vec<u8> {
        let mut scrubbed = Vec::with_capacity(text.len());
        let mut rest = text;

        while let Some((&first, after)) = rest.split_first() {
            if let Some(after) = self.stripped_from(rest) {
                scrubbed.extend_from_slice(b"(token)");
                rest = after;
            } else {
                scrubbed.push(first);
                rest = after;
            }
        }

        scrubbed
    }

    /// Returns the rest of a text that begins with the token.
    fn stripped_from<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        self.0.bytes().try_fold(text, after_letter)
    }

    /// Returns the secret itself, only for a tool's standard input or environment.
    pub(crate) fn exposed(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(token)")
    }
}

/// Returns the rest of a text that begins with a letter, in one of these spellings: `g`, `%67`,
/// `%2567`, `\u0067`, `&#103;` or `&#x67;`.
fn after_letter(text: &[u8], letter: u8) -> Option<&[u8]> {
    let (&first, rest) = text.split_first()?;
    if first == letter {
        return Some(rest);
    }

    match first {
        b'%' => {
            // A percent sign may itself be encoded, more than once.
            let mut digits = rest;
            while let Some(more) = digits.strip_prefix(b"25") {
                digits = more;
            }
            after_number(digits, 16, 2, letter)
        }
        b'\\' => match rest.strip_prefix(b"u00") {
            Some(digits) => after_number(digits, 16, 2, letter),
            None => rest.strip_prefix(&[letter]),
        },
        b'&' => {
            let number = rest.strip_prefix(b"#")?;
            let (digits, radix) = match number.strip_prefix(b"x") {
                Some(digits) => (digits, 16),
                None => (number, 10),
            };
            let length = digits.iter().position(|&byte| byte == b';')?;
            after_number(digits, radix, length, letter)?.strip_prefix(b";")
        }
        _ => None,
    }
}

/// Returns the rest after a number of `length` digits, if the number is the code of that letter.
fn after_number(text: &[u8], radix: u32, length: usize, letter: u8) -> Option<&[u8]> {
    let (digits, rest) = text.split_at_checked(length)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let found = u8::from_str_radix(digits, radix).ok()?;

    (found == letter).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_no_spaces() {
        let check = |text: &str, is_token: bool, is_of_installation: bool| {
            let token = Token::new(text);
            assert_eq!(token.is_some(), is_token, "{text}");
            let found = token.is_some_and(|token| token.is_of_installation());
            assert_eq!(found, is_of_installation, "{text}");
        };
        check("ghp_abc", true, false);
        check(" ghs_abc\n", true, true);
        check("0123456789abcdef", true, false);
        check("", false, false);
        check("two words", false, false);
        check("a\nheader: b", false, false);
    }

    #[test]
    fn a_token_never_prints_itself() {
        let token = Token::new("ghp_secret").unwrap();
        let shown = format!("{token} {token:?} {:?}", Some(&token));
        assert!(!shown.contains("secret"), "{shown}");
    }

    #[test]
    fn a_token_is_found_in_every_spelling() {
        let token = Token::new("ghp_s/t").unwrap();
        let check = |text: &str, expected: &str| {
            let scrubbed = token.scrubbed(text.as_bytes());
            assert_eq!(String::from_utf8(scrubbed).unwrap(), expected, "{text}");
        };
        check("bad ghp_s/t!", "bad (token)!");
        check("ghp_s/tghp_s/t", "(token)(token)");
        check("gghp_s/t", "g(token)");
        check("x?t=ghp_s%2ft&y", "x?t=(token)&y");
        check("%67%68%70%5F%73%2F%74", "(token)");
        check("%2567hp%255fs%25252ft", "(token)");
        check("\"ghp\\u005fs\\/t\"", "\"(token)\"");
        check("g&#104;p_s&#x2F;t", "(token)");
        check(
            "ghp_s/ t %67 %zz \\u00 & &#; %",
            "ghp_s/ t %67 %zz \\u00 & &#; %",
        );
        check("ghp_", "ghp_");
        check("日本 ghp_s/t 語", "日本 (token) 語");
    }
}
