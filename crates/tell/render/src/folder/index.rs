//! Writes the index of a batch into its folder, beside the reports. Files that would not change are
//! not written.

use std::path::Path;

use metalens_analyzer::LONGEST_REPORT;
use metalens_batch::{Index, SCHEMA};
use metalens_files::Folder;

use super::manifest::MANIFEST;
use crate::error::{Error, Result};
use crate::{csv, html, index, json, markdown};

const JSON: &str = "index.json";
/// Name of the page in the folder.
pub const PAGE: &str = "index.html";
const FILES: [&str; 4] = [JSON, "index.csv", "index.md", PAGE];

/// Refuses a folder with an index that metalens did not write.
pub fn check(folder: &Folder, path: &Path, force: bool) -> Result<()> {
    folder.try_to_write().map_err(|cause| Error::CannotWrite {
        folder: path.to_path_buf(),
        at: path.to_path_buf(),
        cause,
    })?;

    if force || is_there(path) {
        return Ok(());
    }
    if path.join(MANIFEST).exists() {
        return Err(Error::HasReport {
            folder: path.to_path_buf(),
        });
    }
    for file in FILES {
        metalens_files::refuse_existing(&path.join(file), false)?;
    }
    Ok(())
}

/// Returns whether the folder has the index of an earlier batch.
fn is_there(folder: &Path) -> bool {
    let text = metalens_files::read(&folder.join(JSON), LONGEST_REPORT).ok();
    let index = text.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    index.is_some_and(|index| index["schema"] == SCHEMA)
}

/// Returns the index of the last batch. None if there is none that this version can read.
pub fn load(folder: &Path) -> Option<Index> {
    let text = metalens_files::read_text(&folder.join(JSON), LONGEST_REPORT).ok()?;
    Index::from_json(&text)
}

/// Writes the index in every form.
pub fn write(index: &Index, folder: &Folder, path: &Path, show_names: bool) -> Result<()> {
    let html = html::index_page(index, show_names)?;
    let markdown = markdown::page(&index::document(index, show_names), &[]);
    let mut table_csv = Vec::new();
    csv::index(index, show_names, &mut table_csv).map_err(|cause| Error::CannotWrite {
        folder: path.to_path_buf(),
        at: path.join("index.csv"),
        cause,
    })?;

    // JSON first: it marks the other files as written by metalens.
    let [for_programs, table, page, interactive] = FILES;
    let write = |name: &str, bytes: &[u8]| write_if_changed(folder, path, name, bytes);
    let json = json::document(index).map_err(|cause| Error::Json {
        what: "the index".to_owned(),
        cause,
    })?;
    write(for_programs, json.as_bytes())?;
    write(table, &table_csv)?;
    write(page, markdown.as_bytes())?;
    write(interactive, html.as_bytes())
}

fn write_if_changed(folder: &Folder, path: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let existing = metalens_files::read(&path.join(name), bytes.len() as u64);
    if existing.is_ok_and(|existing| existing == bytes) {
        return Ok(());
    }
    Ok(folder.write_bytes(Path::new(name), true, bytes)?)
}
