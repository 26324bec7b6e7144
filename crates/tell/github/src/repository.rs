//! Parses names of repositories, and the address of the server.

use std::fmt;

use crate::error::{Error, Result};

/// Checks the address of a server, such as `https://github.com`. It becomes a part of addresses in
/// comments, and `gh` sends the token there.
pub(crate) fn check_server(address: &str) -> Result<()> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte);
    let host = address.strip_prefix("https://");
    if host.is_some_and(|host| !host.is_empty() && host.bytes().all(is_letter)) {
        Ok(())
    } else {
        let shown = without_user(address);
        Err(Error::Misuse(format!(
            "GITHUB_SERVER_URL: {shown:?} is not an address such as https://github.com"
        )))
    }
}

/// Returns an address without its user, since that part may be a token.
fn without_user(address: &str) -> String {
    let Some((before, rest)) = address.rsplit_once('@') else {
        return address.to_owned();
    };
    match before.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://(user)@{rest}"),
        None => format!("(user)@{rest}"),
    }
}

/// Name of a repository, `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository(String);

impl Repository {
    /// Parses `owner/name`.
    ///
    /// # Errors
    ///
    /// If the text does not have this form: the name becomes a part of addresses.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            let shown = without_user(text);
            Error::Misuse(format!(
                "{shown:?} is not a repository (expected OWNER/NAME)"
            ))
        };

        let (owner, name) = text.split_once('/').ok_or_else(wrong)?;
        let is_name = |part: &str| {
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            !part.is_empty() && part.len() <= 100 && part.bytes().all(is_letter)
        };

        let is_dots = |part: &str| part.bytes().all(|byte| byte == b'.');
        if !is_name(owner) || !is_name(name) || is_dots(owner) || is_dots(name) {
            return Err(wrong());
        }

        Ok(Self(text.to_owned()))
    }

    pub(crate) fn path(&self, rest: &str) -> String {
        format!("repos/{self}{rest}")
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_a_scheme_and_a_host() {
        let check = |text: &str, expected: bool| {
            assert_eq!(check_server(text).is_ok(), expected, "{text}");
        };
        check("https://github.com", true);
        check("https://ghe.example:8443", true);
        check("http://github.com", false);
        check("https://user@github.com", false);
        check("https://github.com/a", false);
        check("https://a\"b", false);
        check("https://", false);
        check("github.com", false);
    }

    #[test]
    fn a_user_is_not_shown_in_errors() {
        let check = |text: &str, expected: &str| {
            let server = check_server(text).unwrap_err().to_string();
            let repository = Repository::parse(text).unwrap_err().to_string();
            for message in [server, repository] {
                assert!(message.contains(&format!("{expected:?} ")), "{message}");
            }
        };
        check(
            "https://ghp_s@ghe.example/o/r",
            "https://(user)@ghe.example/o/r",
        );
        check(
            "https://u:gh@p@ghe.example/o/r",
            "https://(user)@ghe.example/o/r",
        );
        check("ghp_s@ghe.example:o/r/s", "(user)@ghe.example:o/r/s");
        check("http://ghe.example", "http://ghe.example");
    }

    #[test]
    fn repository_names_are_checked() {
        let check = |text: &str, expected: bool| {
            assert_eq!(Repository::parse(text).is_ok(), expected, "{text}");
        };
        check("octo-org/a.b_c", true);
        check("octo", false);
        check("a/b/c", false);
        check("../b", false);
        check("a/..", false);
        check("a/b?x", false);
        check("/b", false);
    }
}
