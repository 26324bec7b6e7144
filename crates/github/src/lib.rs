//! The one door to GitHub: its API through `curl`, and `gh`; and a comment on a pull request,
//! which the next run updates. Prints nothing, and links no network library.
//!
//! ```text
//! Request + Api + Token → Curl (arguments, and a configuration for its standard input)
//!                           └→ Answer (status, headers, body) → Comment, PullRequest, …
//! PlaceRequest + environment → Place ─┐
//! Posting (texts, charts) ────────────┴→ post: down the ladder of images until it stands
//! ```
//!
//! # The token
//!
//! It goes to `curl` on standard input and to `gh` in its environment: never into
//! arguments, files, or texts. [`Token`] hides itself when it is printed. What a tool or
//! a server says (headers, bodies, standard error) is searched for it, however it is
//! encoded there, before anything reads it.
//!
//! # What is asked, and how
//!
//! * Only over TLS, but for this machine itself (tests).
//! * A redirection is followed where it stays on the same host, and nowhere else.
//! * What may be asked twice is asked again after a server's error or a broken
//!   connection; what was refused for its rate, after the time that the server names.
//!   To post a comment is neither: whether it is there is looked up first.
//! * Answers and waiting times are bounded.
//!
//! # What is known, and how
//!
//! Nothing here has spoken to github.com: it rests on GitHub's documentation and on
//! what others published of their own attempts. The tests speak to a server of their
//! own, and to a stand-in for `gh`.

mod address;
mod answer;
mod assets;
mod client;
mod comments;
mod curl;
mod error;
mod gh;
pub mod images;
mod place;
mod post;
mod pulls;
mod remote;
mod secret;

pub use address::{Api, Repository};
pub use answer::Answer;
pub use assets::{ASSETS_BRANCH, Asset};
pub use client::{Client, Patience};
pub use comments::{Comment, Kept, Outcome};
pub use curl::{Curl, Method, Request};
pub use error::{Error, NoText, Result};
pub use gh::{Attached, Gh, GhVersion};
pub use images::{Chart, ChartPlace, ImagesChoice, PlacedChart, Way};
pub use place::{Around, Number, Place, PlaceRequest, environment_token, repository, variable};
pub use post::{Posting, Texts, post};
pub use pulls::{Head, PullRequest};
pub use remote::repository_of_remote;
pub use secret::{Token, TokenKind};
