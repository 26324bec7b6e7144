//! What every stage builds on: stretches of time, sums and percentiles, numbers in words, sentences.
//! Nothing here knows what a GPU is.

pub(crate) mod by_id;
pub(crate) mod distinct;
pub(crate) mod held;
pub mod message;
pub(crate) mod moment;
pub(crate) mod parallel;
pub(crate) mod spans;
pub(crate) mod statistics;
pub mod units;
