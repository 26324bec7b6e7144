//! Writes the index of a batch. Files that would not change are not written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use metalens_analyzer::LONGEST_REPORT;
use metalens_batch::{Index, SCHEMA};
use metalens_files::Folder;
use metalens_render::folder::MANIFEST;
use metalens_render::{csv, html, index, json, markdown};

use super::trends;

const JSON: &str = "index.json";
const FILES: [&str; 4] = [JSON, "index.csv", "index.md", "index.html"];

/// Refuses a folder with an index that metalens did not write, or with a link in place of the
/// folder of charts.
pub(super) fn check(folder: &Folder, path: &Path, force: bool) -> anyhow::Result<()> {
    folder
        .try_to_write()
        .with_context(|| format!("cannot create files in {}", path.display()))?;
    metalens_files::refuse_link(&path.join(trends::FOLDER))?;

    if force || existing(path).is_some() {
        return Ok(());
    }
    let manifest = path.join(MANIFEST);
    anyhow::ensure!(
        !manifest.exists(),
        "{} has the report of one recording: choose another folder, or --force writes beside it",
        path.display()
    );
    for file in FILES {
        metalens_files::refuse_existing(&path.join(file), false)?;
    }
    Ok(())
}

/// Reads the index of an earlier batch. None if there is none.
fn existing(folder: &Path) -> Option<serde_json::Value> {
    let text = metalens_files::read(&folder.join(JSON), LONGEST_REPORT).ok()?;
    let index: serde_json::Value = serde_json::from_slice(&text).ok()?;
    (index.get("schema")?.as_str()? == SCHEMA).then_some(index)
}

/// Reads the index of the last batch, which the new one replaces. None if there is none that this
/// version can read.
pub(super) fn last(folder: &Path) -> Option<Index> {
    serde_json::from_value(existing(folder)?).ok()
}

/// Writes the index in every form, and the charts of its trends.
pub(super) fn index(
    index: &Index,
    folder: &Folder,
    path: &Path,
    show_names: bool,
) -> anyhow::Result<()> {
    let drawn = trends::draw(index)?;
    let before = existing(path).map_or_else(Vec::new, |index| trends::paths_in(&index));
    let pictures: Vec<_> = drawn.iter().map(|chart| chart.page.clone()).collect();
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for chart in drawn {
        files.extend(chart.files);
    }

    // The previous index lists these charts, so metalens wrote them.
    for stale in before.iter().filter(|path| !files.contains_key(*path)) {
        let _ = folder.remove(Path::new(stale));
    }
    let html = html::index_page(index, &pictures, show_names)?;
    let document = index::document(index, &pictures, show_names);
    let markdown = markdown::page(&document, &index::shown(&pictures));
    let mut table_csv = Vec::new();
    csv::index(index, show_names, &mut table_csv)?;

    // JSON first: it marks the other files as written by metalens.
    let [for_programs, table, page, interactive] = FILES;
    let write = |name: &str, bytes: &[u8]| write_if_changed(folder, path, name, bytes);
    let json = json::document(index).context("cannot write the index")?;
    write(for_programs, json.as_bytes())?;
    for (name, bytes) in &files {
        write(name, bytes)?;
    }
    write(table, &table_csv)?;
    write(page, markdown.as_bytes())?;
    write(interactive, html.as_bytes())?;

    // Removes the folder of charts only if it is empty.
    let _ = fs::remove_dir(path.join(trends::FOLDER));
    Ok(())
}

fn write_if_changed(folder: &Folder, path: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let existing = metalens_files::read(&path.join(name), bytes.len() as u64);
    if existing.is_ok_and(|existing| existing == bytes) {
        return Ok(());
    }
    Ok(folder.write_bytes(Path::new(name), true, bytes)?)
}
