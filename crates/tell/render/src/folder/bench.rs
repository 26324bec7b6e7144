//! Writes the result of a benchmark into its folder, beside the runs: for programs and for people,
//! and a manifest in the same format as a report's.

use std::path::Path;

use metalens_bench::Bench;

use super::content::{self, FileContent};
use super::store;
use crate::bench;
use crate::error::{Error, Result};
use crate::{html, markdown};

/// Name of the result in the folder.
const JSON: &str = "bench.json";
const CSV: &str = "bench.csv";
const MARKDOWN: &str = "bench.md";
/// Name of the page in the folder.
pub const PAGE: &str = "bench.html";

/// Writes the result, and replaces an earlier one: a benchmark that goes on has more runs.
pub fn write(result: &Bench, folder: &Path) -> Result<()> {
    let page = markdown::page(&bench::document(result), &[]);
    let html = html::bench_page(result)?;
    let mut csv = Vec::new();
    bench::csv(result, &mut csv).map_err(|cause| Error::CannotWrite {
        folder: folder.to_path_buf(),
        at: folder.join(CSV),
        cause,
    })?;

    let csv = String::from_utf8_lossy(&csv).into_owned();

    let contents = [
        FileContent::json(JSON, result)?,
        FileContent::page(CSV, "text/csv", csv, true),
        FileContent::page(MARKDOWN, "text/markdown", page, true),
        FileContent::page(PAGE, "text/html", html, true),
    ];
    let manifest = content::manifest(&result.schema, &contents, Vec::new());
    store::write(folder, &contents, &manifest, true)
}
