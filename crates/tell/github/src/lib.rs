//! Talks to GitHub's API through `curl`. It posts one comment on a pull request
//! and updates it on the next run. It prints nothing, and links no network library.
//!
//! ```text
//! Request + Api + Token → Curl (arguments, and a configuration for its standard input)
//!                           └→ Answer (status, headers, body) → Comment, PullRequest, …
//! DestinationRequest + environment → Destination ─┐
//! Posting (texts, charts) ────────────────────────┴→ post: tries one upload method after another
//! ```
//!
//! # The token
//!
//! The token goes to `curl` on standard input and to `gh` in its environment: never into
//! arguments, files, or texts. A printed [`Token`] does not show its text. The token is removed from
//! all output of a tool or a server (headers, bodies, standard error), in every encoding that it may
//! have there, before the output is read.
//!
//! # Rules for requests
//!
//! * Requests use TLS, except to this machine itself (tests).
//! * A redirection is followed on the same host only.
//! * A repeatable request is sent again after a server error or a broken connection. A
//!   rate-limited request is sent again after the time that the server names. Posting a
//!   comment is not repeatable: the client first looks up whether the comment exists.
//! * Sizes of answers and waiting times are bounded.
//!
//! # Sources
//!
//! Nothing here has been run against github.com. The code follows GitHub's documentation and
//! published reports of users. The tests use a server of their own and a fake `gh`.

mod address;
mod answer;
mod assets;
mod checks;
mod client;
mod comments;
mod curl;
mod destination;
mod error;
mod gh;
pub mod images;
mod post;
mod pulls;
mod remote;
mod secret;

pub use address::{Api, Repository};
pub use answer::ServerAnswer;
pub use assets::{ASSETS_BRANCH, Asset};
pub use checks::{Annotation, CheckRun};
pub use client::{Client, Timeouts};
pub use comments::{Comment, CommentAction, UpsertedComment};
pub use curl::{ApiRequest, Curl, Method};
pub use destination::{
    Destination, DestinationRequest, EnvironmentFacts, PullRequestRef, environment_token,
    repository, variable,
};
pub use error::{Error, Result, TextError};
pub use gh::Gh;
pub use images::{ChartFile, ImagesChoice, PlacedChart, UploadMethod};
pub use post::{PostTexts, Posting, post};
pub use pulls::{Head, PullRequest};
pub use secret::Token;
