//! Runs `xctrace export`, and checks and keeps the documents that it writes.

mod bundle;
mod call;
mod changed_template;
mod contents;
mod document;
mod error;
mod export;
mod exporter;
mod folder;
mod job;
mod request;

pub use error::{Error, Result};
pub use exporter::{ExportEvent, Exporter, Tell};
pub use metalens_xctrace::command::TimeRange;
pub use request::{ExportRequest, Exported, TableFailure, TableSelection};
