//! Sends requests: tries again after failures, waits at rate limits, and reports long waits.

use std::ffi::OsString;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{scope, sleep};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::address::Api;
use crate::answer::ServerAnswer;
use crate::curl::{self, ApiRequest, Method, NoAnswer};
use crate::error::{Error, Result};
use crate::secret::Token;

/// A client of the API, authorized by one token.
#[derive(Debug, Clone)]
pub struct Client {
    /// Name of `curl`. A name is looked up in `PATH`, a path would be looked up in this folder.
    program: OsString,
    pub(crate) api: Api,
    token: Token,
    timeouts: Timeouts,
    notify: fn(&str),
}

/// Durations after which a waiting client reacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Time after which the client reports what it waits for.
    pub notice_after: Duration,
    /// Time without a byte after which a request fails, in whole seconds. GitHub itself ends a
    /// request after ten seconds.
    pub stalled_after: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            notice_after: Duration::from_secs(5),
            stalled_after: Duration::from_secs(30),
        }
    }
}

/// Number of times that the same request is sent.
const ATTEMPTS: u32 = 4;
/// Number of times that a request is sent to a server that does not answer.
const ATTEMPTS_IN_SILENCE: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Longest time that the client waits at a rate limit, in seconds. A longer one is an error, since a
/// CI job costs money while it waits.
const LONGEST_WAIT: u64 = 90;
/// Limit on the pages of a list: ten thousand comments.
const PAGES: usize = 100;
const REDIRECTIONS: usize = 3;

impl Client {
    /// Returns a client that sends this token with every request.
    #[must_use]
    pub fn new(api: Api, token: Token) -> Self {
        Self {
            program: OsString::from("curl"),
            api,
            token,
            timeouts: Timeouts::default(),
            notify: |_| (),
        }
    }

    /// Returns a client that reports to `notify` what it waits for.
    #[must_use]
    pub fn with_notices(self, notify: fn(&str)) -> Self {
        Self { notify, ..self }
    }

    /// Returns a client with these timeouts instead of the defaults.
    #[must_use]
    pub fn with_timeouts(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }

    pub(crate) fn get(&self, path: &str) -> Result<ServerAnswer> {
        self.send(&self.request(Method::Get, path, None))
    }

    /// Returns a repeatable request to this API.
    pub(crate) fn request(&self, method: Method, path: &str, body: Option<Value>) -> ApiRequest {
        ApiRequest {
            method,
            url: self.api.url(path),
            body,
            is_repeatable: true,
        }
    }

    /// Sends a request and returns the answer if its status is a success.
    ///
    /// # Errors
    ///
    /// If the request was refused, if no answer came, or if the answer leads to another host.
    pub fn send(&self, request: &ApiRequest) -> Result<ServerAnswer> {
        let mut request = request.clone();
        for _ in 0..=REDIRECTIONS {
            let answer = self.answer(&request)?;
            match answer.status {
                200..=299 => return Ok(answer),
                301 | 302 | 307 | 308 => request.url = self.redirected(&request, &answer)?,
                status => {
                    return Err(Error::Refused {
                        request: request.summary(),
                        status,
                        message: answer.reason(),
                    });
                }
            }
        }
        Err(Error::Unexpected {
            request: request.summary(),
            why: "too many redirections".to_owned(),
        })
    }

    /// Returns the address that a redirection names, if it is on the same host. GitHub redirects
    /// requests for a renamed repository to its number.
    fn redirected(&self, request: &ApiRequest, answer: &ServerAnswer) -> Result<String> {
        let to = answer.header("location").unwrap_or("");
        let keeps_method = matches!(answer.status, 307 | 308) || request.method == Method::Get;
        let followed = self.api.followed(to).filter(|_| keeps_method);
        followed.ok_or_else(|| Error::Redirected {
            request: request.summary(),
            to: crate::answer::one_line(to),
        })
    }

    /// Sends a request, and sends it again after failures that another attempt may avoid.
    fn answer(&self, request: &ApiRequest) -> Result<ServerAnswer> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let is_last = attempt >= ATTEMPTS;
            match self.ask(request)? {
                Err(failed) if attempt >= attempts(&failed) || !may_ask_again(request, &failed) => {
                    return Err(Error::NoAnswer {
                        request: request.summary(),
                        code: failed.code,
                        stderr: failed.stderr,
                    });
                }
                Ok(answer) => match answer.retry_after(now()) {
                    Some(seconds) if is_last || seconds > LONGEST_WAIT => {
                        return Err(Error::RateLimited {
                            request: request.summary(),
                            seconds,
                        });
                    }
                    // GitHub refused the request without acting on it, so even a request that is not
                    // repeatable may be sent again.
                    Some(seconds) => {
                        (self.notify)(&format!(
                            "GitHub rate limit reached: waiting {seconds} s before {}",
                            request.summary()
                        ));
                        sleep(Duration::from_secs(seconds));
                        continue;
                    }
                    None if is_last || answer.status < 500 || !request.is_repeatable => {
                        return Ok(answer);
                    }
                    None => {}
                },
                Err(failed) if failed.code == curl::TIMED_OUT => {
                    (self.notify)(&format!("no answer to {}: trying again", request.summary()));
                }
                Err(_) => {}
            }

            sleep(pause);
            pause *= 2;
        }

        Err(Error::Unexpected {
            request: request.summary(),
            why: "the request was never sent".to_owned(),
        })
    }

    /// Sends a request once, and reports a long wait.
    fn ask(&self, request: &ApiRequest) -> Result<std::result::Result<ServerAnswer, NoAnswer>> {
        let Timeouts {
            notice_after,
            stalled_after,
        } = self.timeouts;
        let (answered, answer) = channel::<()>();

        scope(|scope| {
            scope.spawn(move || {
                if answer.recv_timeout(notice_after) == Err(RecvTimeoutError::Timeout) {
                    (self.notify)(&format!("waiting for an answer to {}", request.summary()));
                }
            });

            let outcome = curl::ask(
                &self.program,
                request,
                &self.api,
                &self.token,
                stalled_after,
            );
            drop(answered);

            outcome
        })
    }

    /// Returns all items of a list, page by page.
    pub(crate) fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>> {
        let mut request = self.request(Method::Get, path, None);
        let mut all = Vec::new();

        for _ in 0..PAGES {
            let answer = self.send(&request)?;
            let page: Vec<T> = answer.json(&request.summary())?;
            all.extend(page);

            let Some(next) = answer.next() else {
                return Ok(all);
            };
            request.url = self.api.followed(next).ok_or_else(|| Error::Redirected {
                request: request.summary(),
                to: crate::answer::one_line(next),
            })?;
        }

        Err(Error::Unexpected {
            request: request.summary(),
            why: format!("the list has more than {PAGES} pages"),
        })
    }
}

/// Returns the number of times that a request with this failure is sent.
fn attempts(failed: &NoAnswer) -> u32 {
    match failed.code {
        curl::TIMED_OUT => ATTEMPTS_IN_SILENCE,
        _ => ATTEMPTS,
    }
}

/// Returns whether a failed request may be sent again: it was not sent (the host was not found, or
/// did not listen), or sending it twice does no harm. Other failures, such as a wrong certificate,
/// would occur again.
fn may_ask_again(request: &ApiRequest, failed: &NoAnswer) -> bool {
    // Exit codes of curl: 5 to 7 are proxy or host not resolved and failed to connect.
    let was_not_sent = matches!(failed.code, 5..=7);
    let was_interrupted = matches!(failed.code, 16 | 18 | 28 | 35 | 52 | 55 | 56 | 92);

    was_not_sent || (was_interrupted && request.is_repeatable)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
