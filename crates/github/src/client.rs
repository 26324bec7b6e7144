//! Asking, with the patience that a server may expect, and no more.

use std::ffi::OsString;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{scope, sleep};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::address::Api;
use crate::answer::Answer;
use crate::curl::{self, Method, NoAnswer, Request};
use crate::error::{Error, Result};
use crate::secret::Token;

/// Whoever asks the API.
#[derive(Debug, Clone)]
pub struct Client {
    /// A name, looked for in `PATH`: a path would be looked for here.
    program: OsString,
    pub(crate) api: Api,
    token: Token,
    patience: Patience,
    tell: fn(&str),
}

/// How long to wait for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Until it is told what is waited for.
    pub unsaid: Duration,
    /// For the next byte, whole seconds. GitHub itself gives up on a question after ten.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            unsaid: Duration::from_secs(5),
            silence: Duration::from_secs(30),
        }
    }
}

/// How often the same is asked; less often of a server that says nothing.
const ATTEMPTS: u32 = 4;
const ATTEMPTS_IN_SILENCE: u32 = 2;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Whoever is told to wait longer is told so: a job costs money while it waits.
const LONGEST_REST: u64 = 90;
/// Ten thousand comments.
const PAGES: usize = 100;
const REDIRECTIONS: usize = 3;

impl Client {
    /// One that asks as whoever the token is of.
    #[must_use]
    pub fn new(api: Api, token: Token) -> Self {
        Self {
            program: OsString::from("curl"),
            api,
            token,
            patience: Patience::default(),
            tell: |_| (),
        }
    }

    /// Tells what it waits for, so that nobody wonders.
    #[must_use]
    pub fn telling(self, tell: fn(&str)) -> Self {
        Self { tell, ..self }
    }

    /// Waits this long.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        self.send(&self.request(Method::Get, path, None))
    }

    /// A request of this API.
    pub(crate) fn request(&self, method: Method, path: &str, body: Option<Value>) -> Request {
        Request {
            method,
            url: self.api.url(path),
            body,
            is_repeatable: true,
        }
    }

    /// Asks, and hands back what was granted.
    ///
    /// # Errors
    ///
    /// If it was refused, if no answer came, or if the answer leads elsewhere.
    pub fn send(&self, request: &Request) -> Result<Answer> {
        let mut request = request.clone();
        for _ in 0..=REDIRECTIONS {
            let answer = self.answer(&request)?;
            let asked = request.asked();
            match answer.status {
                200..=299 => return Ok(answer),
                301 | 302 | 307 | 308 => request.url = self.redirected(&request, &answer)?,
                status => {
                    return Err(Error::Refused {
                        asked,
                        status,
                        message: answer.reason(),
                    });
                }
            }
        }
        Err(Error::Unexpected {
            asked: request.asked(),
            why: "it leads in circles".to_owned(),
        })
    }

    /// A repository that was renamed is found under its number, on the same host.
    fn redirected(&self, request: &Request, answer: &Answer) -> Result<String> {
        let to = answer.header("location").unwrap_or("");
        let keeps_method = matches!(answer.status, 307 | 308) || request.method == Method::Get;
        let followed = self.api.followed(to).filter(|_| keeps_method);
        followed.ok_or_else(|| Error::Redirected {
            asked: request.asked(),
            to: crate::answer::one_line(to),
        })
    }

    /// Asks until there is an answer that waiting does not change.
    fn answer(&self, request: &Request) -> Result<Answer> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let is_last = attempt >= ATTEMPTS;
            match self.ask(request)? {
                Err(none) if attempt >= attempts(&none) || !may_ask_again(request, &none) => {
                    return Err(Error::NoAnswer {
                        asked: request.asked(),
                        code: none.code,
                        said: none.said,
                    });
                }
                Ok(answer) => match answer.rest(now()) {
                    Some(seconds) if is_last || seconds > LONGEST_REST => {
                        return Err(Error::RateLimited {
                            asked: request.asked(),
                            seconds,
                        });
                    }
                    // It was refused unread: whatever it is, it may be asked again.
                    Some(seconds) => {
                        let asked = request.asked();
                        (self.tell)(&format!(
                            "GitHub wants {seconds} s of rest before it answers {asked}: waiting"
                        ));
                        sleep(Duration::from_secs(seconds));
                        continue;
                    }
                    None if is_last || answer.status < 500 || !request.is_repeatable => {
                        return Ok(answer);
                    }
                    None => {}
                },
                Err(none) if none.code == curl::TIMED_OUT => {
                    (self.tell)(&format!("no answer to {}: asking again", request.asked()));
                }
                Err(_) => {}
            }
            sleep(pause);
            pause *= 2;
        }
        Err(Error::Unexpected {
            asked: request.asked(),
            why: "it was never asked".to_owned(),
        })
    }

    /// Asks once, and tells what is waited for if that takes long.
    fn ask(&self, request: &Request) -> Result<std::result::Result<Answer, NoAnswer>> {
        let Patience { unsaid, silence } = self.patience;
        let (answered, answer) = channel::<()>();
        scope(|scope| {
            scope.spawn(move || {
                if answer.recv_timeout(unsaid) == Err(RecvTimeoutError::Timeout) {
                    (self.tell)(&format!("waiting for an answer to {}", request.asked()));
                }
            });
            let asked = curl::ask(&self.program, request, &self.api, &self.token, silence);
            drop(answered);
            asked
        })
    }

    /// All pages of a list.
    pub(crate) fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>> {
        let mut request = self.request(Method::Get, path, None);
        let mut all = Vec::new();
        for _ in 0..PAGES {
            let answer = self.send(&request)?;
            let page: Vec<T> = answer.json(&request.asked())?;
            all.extend(page);
            let Some(next) = answer.next() else {
                return Ok(all);
            };
            request.url = self.api.followed(next).ok_or_else(|| Error::Redirected {
                asked: request.asked(),
                to: crate::answer::one_line(next),
            })?;
        }
        Err(Error::Unexpected {
            asked: request.asked(),
            why: format!("it has more than {PAGES} pages"),
        })
    }
}

/// How often is asked what got no answer.
fn attempts(none: &NoAnswer) -> u32 {
    match none.code {
        curl::TIMED_OUT => ATTEMPTS_IN_SILENCE,
        _ => ATTEMPTS,
    }
}

/// Whether nothing was asked yet (the host was not found, or did not listen), or it
/// does no harm to ask twice. Neither helps against a wrong certificate.
fn may_ask_again(request: &Request, none: &NoAnswer) -> bool {
    let was_not_asked = matches!(none.code, 5..=7);
    let broke_off = matches!(none.code, 16 | 18 | 28 | 35 | 52 | 55 | 56 | 92);
    was_not_asked || (broke_off && request.is_repeatable)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
