//! Removes private data from a file that may be published: the home folder, the names of the
//! user and the machine, identifiers, and texts that look like secrets.

use std::ffi::OsStr;

/// Replaces names of the user and the machine, and secrets, in texts.
#[derive(Debug, Default)]
pub struct Redactor {
    home: Option<String>,
    /// Each private name with its replacement.
    names: Vec<(String, &'static str)>,
}

/// Text in the place of a secret.
pub const SECRET: &str = "<secret>";

impl Redactor {
    /// Returns a redactor for the current user, and for the name of this machine.
    #[must_use]
    pub fn for_current_user(host: String) -> Self {
        let variable = |name: &str| std::env::var_os(name)?.into_string().ok();
        Self::new(
            variable("HOME"),
            variable("USER").or_else(|| variable("LOGNAME")),
            Some(host),
        )
    }

    /// Returns a redactor for these names. Skips `root`, which names nobody, and names of two
    /// letters, which occur in many words.
    fn new(home: Option<String>, user: Option<String>, host: Option<String>) -> Self {
        let home = home.filter(|home| home.len() > 1);
        let last = home.as_deref().and_then(|home| home.rsplit('/').next());
        let user_names = [user.clone(), last.map(str::to_owned)];
        let short = host.as_deref().and_then(|host| host.split('.').next());
        let host_names = [host.clone(), short.map(str::to_owned)];

        let with = |replacement: &'static str| move |name: String| (name, replacement);
        let users = user_names.into_iter().flatten().map(with("<user>"));
        let hosts = host_names.into_iter().flatten().map(with("<host>"));
        let mut names: Vec<_> = users.chain(hosts).collect();
        names.retain(|(name, _)| name.len() > 2 && name != "root" && name != "localhost");
        // Longest first, since the short name of a host is a part of the long one.
        names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { home, names }
    }

    /// Redacts the words of a command line.
    pub fn redact_command<W: AsRef<OsStr>>(&self, words: &[W]) -> Vec<String> {
        let mut is_value = false;
        let mut hidden = Vec::new();
        for word in words {
            let word = word.as_ref().to_string_lossy();
            let is_flag = word.starts_with('-');
            let after = |mark: &str| {
                let (name, _) = word.split_once(mark)?;
                let is_secret = is_secret_name(name) && !name.contains(' ');
                is_secret.then(|| format!("{}{mark}{SECRET}", self.redact(name)))
            };
            hidden.push(if is_value && !is_flag {
                SECRET.to_owned()
            } else if let Some(word) = after("=").or_else(|| after(": ")) {
                word
            } else if word.contains(' ') {
                // A command in one word, as in `sh -c 'run --token abc'`.
                let words: Vec<&str> = word.split(' ').collect();
                self.redact_command(&words).join(" ")
            } else {
                self.redact(&word)
            });
            is_value = is_flag && !word.contains('=') && is_secret_name(&word);
        }
        hidden
    }

    /// Redacts any other text.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if let Some(home) = &self.home {
            text = replaced(&text, home, "~");
        }
        for (name, replacement) in &self.names {
            text = replaced(&text, name, replacement);
        }
        without_identifiers(&without_credentials(&text))
    }
}

/// Replaces a name where it is a word of its own: not `ada` in `adagrad`.
fn replaced(text: &str, name: &str, replacement: &str) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = find(rest, name) {
        let occurrence = rest
            .get(before.len()..rest.len() - after.len())
            .unwrap_or_default();
        redacted.push_str(before);
        let before = redacted.chars().next_back();
        let is_word = !before.is_some_and(is_part) && !after.chars().next().is_some_and(is_part);
        redacted.push_str(if is_word { replacement } else { occurrence });
        rest = after;
    }
    redacted.push_str(rest);
    redacted
}

/// Returns the texts before and after the first occurrence of a name, ignoring case.
fn find<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let starts = text.char_indices().map(|(start, _)| start);
    let mut occurrences = starts.filter_map(|start| {
        let end = start.checked_add(name.len())?;
        let is_equal = text.get(start..end)?.eq_ignore_ascii_case(name);
        is_equal.then_some((text.get(..start)?, text.get(end..)?))
    });
    occurrences.next()
}

/// Returns whether a name is that of a secret: `--api-key`, `HF_TOKEN`, but not
/// `--max-tokens` or `--tokenizer`.
fn is_secret_name(name: &str) -> bool {
    const ALONE: [&str; 14] = [
        "token",
        "secret",
        "password",
        "passwd",
        "pwd",
        "passphrase",
        "apikey",
        "credential",
        "credentials",
        "auth",
        "authorization",
        "bearer",
        "cookie",
        "accesskey",
    ];
    const KEYS: [&str; 5] = ["api", "access", "private", "secret", "auth"];

    let name = name.to_ascii_lowercase();
    let parts: Vec<&str> = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .collect();
    let is_key = |pair: &[&str]| matches!(pair, [kind, "key"] if KEYS.contains(kind));
    parts.iter().any(|part| ALONE.contains(part)) || parts.windows(2).any(is_key)
}

/// Removes user and password from `https://user:password@host`, and known kinds of keys.
fn without_credentials(text: &str) -> String {
    const KINDS: [&str; 13] = [
        "sk-",
        "sk_",
        "hf_",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "AKIA",
        "ya29.",
        "eyJ",
    ];

    let is_key = |word: &str| word.len() >= 16 && KINDS.iter().any(|kind| word.starts_with(kind));
    let hidden = by_words(text, "_-.", |word| is_key(word).then_some(SECRET));

    let mut redacted = String::with_capacity(hidden.len());
    let mut rest = hidden.as_str();
    while let Some((before, after)) = rest.split_once("://") {
        redacted.push_str(before);
        redacted.push_str("://");
        let end = after
            .find(|letter: char| letter == '/' || letter.is_whitespace())
            .unwrap_or(after.len());
        let (authority, path) = after.split_at_checked(end).unwrap_or((after, ""));
        match authority.rsplit_once('@') {
            Some((_, host)) => redacted.push_str(&format!("{SECRET}@{host}")),
            None => redacted.push_str(authority),
        }
        rest = path;
    }
    redacted.push_str(rest);
    redacted
}

/// Removes identifiers of devices: hexadecimal digits in groups of `8-4-4-4-12` or, newer, `8-16`.
fn without_identifiers(text: &str) -> String {
    by_words(text, "-", |word| is_identifier(word).then_some("<uuid>"))
}

fn is_identifier(word: &str) -> bool {
    let parts: Vec<usize> = word.split('-').map(str::len).collect();
    let is_hex = word
        .chars()
        .all(|letter| letter == '-' || letter.is_ascii_hexdigit());
    is_hex && matches!(parts.as_slice(), [8, 4, 4, 4, 12] | [8, 16])
}

/// Replaces some words of a text. A word consists of letters, digits, and the marks in `also`.
fn by_words(text: &str, also: &str, replacement: impl Fn(&str) -> Option<&'static str>) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || also.contains(letter);
    let mut redacted = String::with_capacity(text.len());
    let mut word = String::new();
    for letter in text.chars() {
        if is_part(letter) {
            word.push(letter);
        } else {
            redacted.push_str(replacement(&word).unwrap_or(&word));
            word.clear();
            redacted.push(letter);
        }
    }
    redacted.push_str(replacement(&word).unwrap_or(&word));
    redacted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let owned = |text: &str| Some(text.to_owned());
        Redactor::new(owned("/Users/ada"), owned("ada"), owned("Adas-Mac.local"))
    }

    #[test]
    fn texts_are_redacted() {
        let check =
            |text: &str, expected: &str| assert_eq!(redactor().redact(text), expected, "{text}");
        check("--data=/Users/ada/x", "--data=~/x");
        check("/Users/adam/x", "/Users/adam/x");
        check("/private/var/ada/x", "/private/var/<user>/x");
        check("--optimizer=adagrad --ada_2", "--optimizer=adagrad --ada_2");
        check("ADA@adas-mac.local:x", "<user>@<host>:x");
        check("Adas-Mac is here", "<host> is here");
        check("on 9A1B2C3D-0000-1111-2222-333344445555.", "on <uuid>.");
        check("00008103-000A1B2C3D4E5F60", "<uuid>");
        check(
            "git https://me:pw@x.org/y https://x.org",
            "git https://<secret>@x.org/y https://x.org",
        );
        check("t='hf_abcdefghijklmnop'", "t='<secret>'");
        check("sk-learn", "sk-learn");
        check("", "");

        // A home of `/` and a user `root` are not private.
        assert_eq!(
            Redactor::new(Some("/".to_owned()), Some("root".to_owned()), None).redact("/root"),
            "/root"
        );
    }

    #[test]
    fn commands_are_redacted() {
        let check = |words: &[&str], expected: &[&str]| {
            assert_eq!(redactor().redact_command(words), expected);
        };

        check(
            &["run", "--token", "abc", "x"],
            &["run", "--token", "<secret>", "x"],
        );
        check(
            &["--api-key=abc", "--n=3"],
            &["--api-key=<secret>", "--n=3"],
        );
        check(
            &["HF_TOKEN=abc", "python"],
            &["HF_TOKEN=<secret>", "python"],
        );
        check(
            &["--max-tokens", "128", "--tokenizer=x"],
            &["--max-tokens", "128", "--tokenizer=x"],
        );
        check(&["--password", "--verbose"], &["--password", "--verbose"]);
        check(
            &["--secret-key", "abc", "~"],
            &["--secret-key", "<secret>", "~"],
        );
        check(&["--key", "c4"], &["--key", "c4"]);
        check(&["--author", "x"], &["--author", "x"]);
        check(&["/Users/ada/.venv/bin/python"], &["~/.venv/bin/python"]);
        check(
            &[
                "sh",
                "-c",
                "exec run --token abc --n=3  hf_abcdefghijklmnop",
            ],
            &["sh", "-c", "exec run --token <secret> --n=3  <secret>"],
        );
        check(
            &["sh", "-c", "cd x; TOKEN=abc run y"],
            &["sh", "-c", "cd x; TOKEN=<secret> run y"],
        );
        check(&["password=a b c"], &["password=<secret>"]);
        check(
            &["-H", "Authorization: Bearer abc"],
            &["-H", "Authorization: <secret>"],
        );
    }
}
