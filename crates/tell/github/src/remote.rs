//! Finds the repository that a checkout was cloned from, with `git`.

use crate::address::Repository;

/// Returns the repository of the remote `origin`, or `None` if there is none.
pub(crate) fn repository_of_remote() -> Option<Repository> {
    let command = duct::cmd("git", ["remote", "get-url", "origin"]).stdin_null();
    let output = command
        .stdout_capture()
        .stderr_null()
        .unchecked()
        .run()
        .ok()?;

    repository(String::from_utf8_lossy(&output.stdout).trim())
}

/// Parses `git@github.com:o/r.git`, `https://github.com/o/r` or `ssh://git@github.com/o/r`.
fn repository(url: &str) -> Option<Repository> {
    let rest = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => url.split_once(':')?.1,
    };

    let rest = rest.trim_matches('/');
    Repository::parse(rest.strip_suffix(".git").unwrap_or(rest)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_addresses_name_a_repository() {
        let check = |url: &str, expected: Option<&str>| {
            let found = repository(url).map(|repository| repository.to_string());
            assert_eq!(found.as_deref(), expected, "{url}");
        };
        check("git@github.com:o/r.git", Some("o/r"));
        check("https://github.com/o/r", Some("o/r"));
        check("https://token@github.com/o/r.git", Some("o/r"));
        check("ssh://git@github.com/o/r.git", Some("o/r"));
        check("/srv/git/r.git", None);
        check("", None);
    }
}
