//! Parses the answer of a server: its status, headers and body.

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// An answer of a server.
#[derive(Debug)]
pub(crate) struct ServerAnswer {
    /// HTTP status code.
    pub(crate) status: u16,
    /// Headers with names in lowercase.
    headers: Vec<(String, String)>,
    body: String,
}

/// Length at which a reason is cut, in characters.
const LONGEST_REASON: usize = 300;

impl ServerAnswer {
    /// Parses the output of `gh api --include`: a line with the status, headers, and the body.
    /// Returns `None` without these.
    pub(crate) fn parse(output: &str) -> Option<Self> {
        let output = output.replace("\r\n", "\n");
        let (head, body) = output.split_once("\n\n")?;
        let mut lines = head.lines();
        let status = lines.next()?.strip_prefix("HTTP/")?;
        let status = status.split_whitespace().nth(1)?.parse().ok()?;

        let pairs = lines.filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        });

        Some(Self {
            status,
            headers: pairs.collect(),
            body: body.to_owned(),
        })
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known == name)?;
        Some(&found.1)
    }

    /// Returns the seconds to wait if the rate limit was reached, else `None`. `now` is in seconds
    /// since 1970.
    pub(crate) fn retry_after(&self, now: u64) -> Option<u64> {
        let number = |name: &str| self.header(name)?.parse::<u64>().ok();
        if !matches!(self.status, 403 | 429) {
            return None;
        }

        if let Some(seconds) = number("retry-after") {
            return Some(seconds);
        }
        if number("x-ratelimit-remaining") == Some(0) {
            let reset = number("x-ratelimit-reset")?;
            return Some(reset.saturating_sub(now).max(1));
        }

        // GitHub's manual says to wait at least a minute without these headers.
        let is_secondary = self
            .reason()
            .to_lowercase()
            .contains("secondary rate limit");
        (self.status == 429 || is_secondary).then_some(60)
    }

    /// Returns GitHub's reason as one line.
    pub(crate) fn reason(&self) -> String {
        let json: Option<serde_json::Value> = serde_json::from_str(&self.body).ok();
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let message = json.as_ref().and_then(|json| text(&json["message"]));
        let mut reason = message.unwrap_or_else(|| "no reason given".to_owned());

        let errors = json.as_ref().and_then(|json| json["errors"].as_array());
        for error in errors.into_iter().flatten() {
            if let Some(more) = text(&error["message"]).or_else(|| text(error)) {
                reason.push_str("; ");
                reason.push_str(&more);
            }
        }
        one_line(&reason)
    }

    /// Parses the body as JSON. An answer without a body is null.
    pub(crate) fn json<T: DeserializeOwned>(&self, request: &str) -> Result<T> {
        let body = if self.body.is_empty() {
            "null"
        } else {
            &self.body
        };
        serde_json::from_str(body).map_err(|error| Error::Unexpected {
            request: request.to_owned(),
            why: error.to_string(),
        })
    }
}

/// Returns the start of a text as one line without control characters, safe for a terminal.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.trim().replace(char::is_control, " ");
    line.chars().take(LONGEST_REASON).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(head: &str, body: &str) -> ServerAnswer {
        ServerAnswer::parse(&format!("{head}{body}")).unwrap()
    }

    #[test]
    fn only_an_answer_has_a_status() {
        let found = answer("HTTP/2.0 201 Created\nRetry-After: 7\r\n\r\n", "{}");
        assert_eq!((found.status, found.body.as_str()), (201, "{}"));
        assert_eq!(found.header("retry-after"), Some("7"));
        for output in ["", "{}\n\n", "HTTP/2.0\n\n"] {
            assert!(ServerAnswer::parse(output).is_none(), "{output:?}");
        }
    }

    #[test]
    fn rate_limits_name_their_rest() {
        let check = |headers: &str, body: &str, expected: Option<u64>| {
            assert_eq!(
                answer(headers, body).retry_after(100),
                expected,
                "{headers}"
            );
        };

        check("HTTP/1.1 429 x\nRetry-After: 7\n\n", "", Some(7));
        check(
            "HTTP/1.1 403 x\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 130\n\n",
            "",
            Some(30),
        );
        check(
            "HTTP/1.1 403 x\n\n",
            r#"{"message":"You have exceeded a secondary rate limit."}"#,
            Some(60),
        );
        check(
            "HTTP/1.1 403 x\nx-ratelimit-remaining: 12\n\n",
            r#"{"message":"Forbidden"}"#,
            None,
        );
        check("HTTP/1.1 200 x\nRetry-After: 7\n\n", "", None);
    }

    #[test]
    fn reasons_are_one_harmless_line() {
        let check = |body: &str, expected: &str| {
            assert_eq!(answer("HTTP/1.1 422 x\n\n", body).reason(), expected);
        };
        check(
            r#"{"message":"Validation Failed","errors":[{"message":"Body is too long"}]}"#,
            "Validation Failed; Body is too long",
        );
        check("{\"message\":\"a\\u001b[2Jb\"}", "a [2Jb");
        check("<html>", "no reason given");
    }
}
