//! Parses addresses of GitHub's API, and names of repositories.

use std::fmt;

use crate::error::{Error, Result};

/// The address of an API of GitHub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Api {
    /// Prefix of all addresses, without a slash at its end: `https://api.github.com`.
    base: String,
    /// Scheme and host to which the token may be sent: `https://api.github.com`.
    origin: String,
}

impl Api {
    /// Address of github.com's own API.
    pub const PUBLIC: &'static str = "https://api.github.com";

    /// Parses the base of all addresses.
    ///
    /// # Errors
    ///
    /// If the text is not an address, or if the token would be sent there unencrypted.
    pub fn parse(text: &str) -> Result<Self> {
        let shown = without_user(text);
        let wrong =
            |why: &str| Error::Address(format!("{shown:?} is not the address of an API: {why}"));
        let base = text.trim_end_matches('/');
        if !base.bytes().all(|byte| byte.is_ascii_graphic()) || base.contains(['"', '\\', '?', '#'])
        {
            return Err(wrong("it contains invalid characters"));
        }

        let (scheme, rest) = base
            .split_once("://")
            .ok_or_else(|| wrong("https:// is missing"))?;
        let host = rest.split('/').next().unwrap_or("");
        if host.is_empty() || host.contains('@') {
            return Err(wrong("the host is missing, or includes a user"));
        }

        match scheme {
            "https" => {}
            "http" if is_this_machine(host) => {}
            _ => return Err(wrong("only https:// keeps a token secret")),
        }

        let origin = format!("{scheme}://{host}");
        Ok(Self {
            base: base.to_owned(),
            origin,
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(crate) fn graphql(&self) -> String {
        match self.base.strip_suffix("/v3") {
            Some(before) if before.ends_with("/api") => format!("{before}/graphql"),
            _ => self.url("/graphql"),
        }
    }

    /// Returns the only scheme that requests may use.
    pub(crate) fn scheme(&self) -> &str {
        self.base.split("://").next().unwrap_or("https")
    }

    /// Returns the full address of a link in an answer, if the token may be sent there.
    pub(crate) fn followed(&self, url: &str) -> Option<String> {
        let is_clean =
            url.bytes().all(|byte| byte.is_ascii_graphic()) && !url.contains(['"', '\\']);

        let rest = match url.strip_prefix('/') {
            Some(_) if !url.starts_with("//") => url,
            _ => url.strip_prefix(&self.origin)?,
        };

        let is_whole_host = rest.is_empty() || rest.starts_with(['/', '?']);
        (is_clean && is_whole_host).then(|| format!("{}{rest}", self.origin))
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

/// Returns whether a host (with its port) is this machine.
fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(ipv6) => ipv6.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    };

    let ipv4 = name.parse::<std::net::Ipv4Addr>();
    name == "localhost" || name == "::1" || ipv4.is_ok_and(|address| address.is_loopback())
}

/// Name of a repository, `owner/name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    owner: String,
    name: String,
}

impl Repository {
    /// Parses `owner/name`.
    ///
    /// # Errors
    ///
    /// If the text does not have this form: the name becomes a part of addresses.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || {
            let shown = without_user(text);
            Error::Address(format!(
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

        Ok(Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }

    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/repos/{self}{rest}")
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_sent_unencrypted() {
        let check =
            |text: &str, expected: bool| assert_eq!(Api::parse(text).is_ok(), expected, "{text}");
        check("https://api.github.com", true);
        check("https://ghe.example/api/v3/", true);
        check("http://127.0.0.1:8080", true);
        check("http://localhost:8080", true);
        check("http://[::1]:8080", true);
        check("http://api.github.com", false);
        check("http://127.0.0.1.example", false);
        check("http://localhost.example", false);
        check("https://user@api.github.com", false);
        check("https://a\"b", false);
        check("https://", false);
        check("file:///etc/passwd", false);
        check("api.github.com", false);
    }

    #[test]
    fn a_user_is_not_shown_in_errors() {
        let check = |text: &str, expected: &str| {
            let api = Api::parse(text).unwrap_err().to_string();
            let repository = Repository::parse(text).unwrap_err().to_string();
            for message in [api, repository] {
                assert!(message.starts_with(&format!("{expected:?} ")), "{message}");
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
    fn the_token_follows_links_on_the_same_host_only() {
        let check = |url: &str, expected: Option<&str>| {
            let api = Api::parse("https://ghe.example/api/v3").unwrap();
            assert_eq!(api.followed(url).as_deref(), expected, "{url}");
        };
        let same = "https://ghe.example/api/v3/repositories/1?page=2";
        check(same, Some(same));
        check(
            "/api/v3/repositories/1",
            Some("https://ghe.example/api/v3/repositories/1"),
        );
        check("https://ghe.example.evil/api", None);
        check("https://ghe.example:444/api", None);
        check("https://ghe.example@evil/api", None);
        check("http://ghe.example/api", None);
        check("//evil/api", None);
        check("https://ghe.example/\nheader", None);
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

    #[test]
    fn graphql_has_its_own_address() {
        let check =
            |base: &str, expected: &str| assert_eq!(Api::parse(base).unwrap().graphql(), expected);
        check(Api::PUBLIC, "https://api.github.com/graphql");
        check(
            "https://ghe.example/api/v3",
            "https://ghe.example/api/graphql",
        );
    }
}
