//! Reports as pages to keep and to post.

mod gaps;
mod markdown;
mod redact;

pub(crate) use gaps::gaps;
pub(crate) use markdown::markdown;
pub(crate) use redact::redacted;
