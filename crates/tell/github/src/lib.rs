//! Posts one comment on a pull request through `gh`, GitHub's own program, and updates it on the next
//! run. It prints nothing, and links no network library.
//!
//! ```text
//! DestinationRequest + environment → Destination ─┐
//! Posting (texts, charts) ────────────────────────┴→ post ─ Gh (`gh api`) → ServerAnswer → Comment, …
//! ```
//!
//! # The token
//!
//! `gh` takes the token from its environment or its login, and knows to which hosts it may go. A token
//! of the environment is removed from all output of `gh` before the output is read, since a server
//! may repeat it.
//!
//! # Rules for requests
//!
//! * A repeatable request is sent again after a server error or a broken connection. A
//!   rate-limited request is sent again after the time that the server names. Posting a
//!   comment is not repeatable: it is first looked up whether the comment exists.
//! * Waiting times are bounded.
//!
//! # Sources
//!
//! Nothing here has been run against github.com. The code follows GitHub's documentation and
//! published reports of users. The tests use a server of their own and a fake `gh`, which answers as
//! `gh` 2.23 does.

mod answer;
mod assets;
mod destination;
mod error;
mod gh;
mod post;
mod pulls;
mod repository;

pub use assets::{ASSETS_BRANCH, ChartFile, PlacedChart, on_branch};
pub use destination::{
    Destination, DestinationRequest, EnvironmentFacts, PullRequestRef, repository, server,
};
pub use error::{Error, Result, TextError};
pub use gh::Gh;
pub use post::{PostTexts, Posting, post};
pub use pulls::Head;
pub use repository::Repository;
