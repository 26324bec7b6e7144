//! Builds command lines of `xctrace`: a request and a version in, arguments out.

mod export;
mod length;
mod record;

pub use export::{Export, ExportSelection, TRACK_DETAILS, TimeRange, TrackDetail};
pub use length::Length;
pub use record::{Launch, Record, Target, Template};
