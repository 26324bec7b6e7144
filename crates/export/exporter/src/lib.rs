//! Exports a `.trace` bundle with `xctrace export`, into a folder of XML files. Each table is
//! complete or marked as cut off. This crate does not interpret rows.
//!
//! ```text
//! bundle → contents → jobs → one table per call → X.export/<schema>.xml + export.json
//! ```
//!
//! # Sources
//!
//! As in `metalens_xctrace`, the knowledge comes from publications of others, not from a Mac. This
//! crate follows these rules:
//!
//! * The end of a document decides whether it is complete, not the exit code: crashes without a
//!   message cut off tables, and code 10 was sometimes temporary.
//! * One table per call: documents with several tables lacked all schemas except the first.
//! * One call at a time: the effect of several calls on one bundle is not published.
//! * The output file must not exist: the effect on an existing file is not published.
//!
//! On systems other than Unix, the crate only reads the manifest of an export.

#[cfg(unix)]
mod exporting;
mod manifest;

#[cfg(unix)]
pub use exporting::{
    Error, ExportEvent, ExportRequest, Exported, Exporter, Result, TableFailure, TableSelection,
    Tell, TimeRange,
};
pub use manifest::{ExportManifest, MANIFEST, TableFile, TableState};
