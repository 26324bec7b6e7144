//! Makes the reports of a batch: finds the inputs, and analyzes those whose report is out of date.

mod entry;
mod error;
mod find;
mod lock;
mod pool;
mod reports;
mod request;
mod run;
mod slugs;
mod stamp;
mod state;

pub use error::{Error, Result};
pub use find::{FoundRecording, RefusedPath, Search, find};
pub use lock::FolderLock;
pub use reports::{ReportProblem, Reports, WrittenReport};
pub use request::BatchRequest;
pub use run::{BatchOutcome, BatchWatcher, index_of_refused, run};
