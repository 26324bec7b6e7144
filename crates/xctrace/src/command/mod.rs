//! Command lines as pure functions: a request and a version in, arguments out.

mod export;
mod length;
mod record;

pub use export::{Export, Part, What};
pub use length::Length;
pub use record::{Launch, Record, Target, Template};
