//! The token: a text that is never shown.

use std::fmt;

/// What proves to GitHub who asks.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Whose token it is, as its prefix tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A person's: `ghp_`, `gho_`, `github_pat_`.
    User,
    /// That of a workflow run, or of an app's installation: `ghs_`.
    Installation,
    /// An app's, on behalf of a person: `ghu_`.
    UserToServer,
    /// None of these: an Enterprise server's, or an old one.
    Unknown,
}

impl Token {
    /// A text as a token; none if no token could look so. Spaces around it are not of it.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_token = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_token.then(|| Self(text.to_owned()))
    }

    /// Whose it is.
    #[must_use]
    pub fn kind(&self) -> TokenKind {
        let begins = |prefix: &&str| self.0.starts_with(*prefix);
        match () {
            () if ["ghp_", "gho_", "github_pat_"].iter().any(begins) => TokenKind::User,
            () if begins(&"ghs_") => TokenKind::Installation,
            () if begins(&"ghu_") => TokenKind::UserToServer,
            () => TokenKind::Unknown,
        }
    }

    /// A text without it, wherever it is from.
    #[must_use]
    pub fn scrubbed(&self, text: &str) -> String {
        text.replace(&self.0, "(token)")
    }

    /// The secret itself: for a tool's standard input or environment, nothing else.
    pub(crate) fn exposed(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:?})", self.kind())
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(token)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let check = |text: &str, expected: Option<TokenKind>| {
            assert_eq!(
                Token::new(text).map(|token| token.kind()),
                expected,
                "{text}"
            );
        };
        check("ghp_abc", Some(TokenKind::User));
        check(" gho_abc\n", Some(TokenKind::User));
        check("github_pat_abc", Some(TokenKind::User));
        check("ghs_abc", Some(TokenKind::Installation));
        check("ghu_abc", Some(TokenKind::UserToServer));
        check("0123456789abcdef", Some(TokenKind::Unknown));
        check("", None);
        check("two words", None);
        check("a\nheader: b", None);
    }

    #[test]
    fn it_hides() {
        let token = Token::new("ghp_secret").unwrap();
        let shown = format!("{token} {token:?} {:?}", Some(&token));
        assert!(!shown.contains("secret"), "{shown}");
        assert_eq!(token.scrubbed("bad ghp_secret!"), "bad (token)!");
    }
}
