//! Builds command lines of `xctrace`: a request and a version in, arguments out.

mod export;
mod length;
mod record;

pub use export::{Export, ExportSelection, TimeRange};
pub use length::Length;
pub use record::{Launch, Record, Target, Template};
