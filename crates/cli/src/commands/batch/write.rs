//! The index on disk. What is there already to the byte is not touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;

use super::index::{Index, SCHEMA};
use super::trends;
use crate::{pages, whole};

const JSON: &str = "index.json";
const FILES: [&str; 4] = [JSON, "index.csv", "index.md", "index.html"];

/// Refuses a folder that has an index which is not ours.
pub(super) fn check(folder: &Path, force: bool) -> anyhow::Result<()> {
    whole::try_to_write_in(folder).with_context(|| {
        format!(
            "cannot write into {}: no file can be made",
            folder.display()
        )
    })?;
    if force || old(folder).is_some() {
        return Ok(());
    }
    for file in FILES {
        whole::refuse_existing(&folder.join(file), false)?;
    }
    Ok(())
}

/// The index that is there, if it is one.
fn old(folder: &Path) -> Option<serde_json::Value> {
    let text = fs::read(folder.join(JSON)).ok()?;
    let index: serde_json::Value = serde_json::from_slice(&text).ok()?;
    (index.get("schema")?.as_str()? == SCHEMA).then_some(index)
}

/// The index as JSON; ends with a newline.
pub(super) fn json(index: &Index) -> anyhow::Result<Vec<u8>> {
    let mut json = serde_json::to_vec_pretty(index).context("cannot write the index")?;
    json.push(b'\n');
    Ok(json)
}

/// Writes the index in every form, and the pictures of its trends.
pub(super) fn index(index: &Index, folder: &Path, show_names: bool) -> anyhow::Result<()> {
    let drawn = trends::draw(index)?;
    let before = old(folder).map_or_else(Vec::new, |old| trends::paths_of(&old));
    let pictures: Vec<_> = drawn.iter().map(|one| one.page.clone()).collect();
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for one in drawn {
        files.extend(one.files);
    }
    // They are ours, as the index says that had them.
    for stale in before.iter().filter(|path| !files.contains_key(*path)) {
        let _ = fs::remove_file(folder.join(stale));
    }
    let html = pages::index_html(index, &pictures, show_names)?;
    let markdown = pages::index_markdown(index, &pictures, show_names)?;
    let csv = pages::index_csv(index, show_names);
    // JSON first: by it the others are known as ours.
    let [for_programs, table, page, interactive] = FILES;
    write(folder, for_programs, &json(index)?)?;
    for (path, bytes) in &files {
        write(folder, path, bytes)?;
    }
    write(folder, table, csv.as_bytes())?;
    write(folder, page, markdown.as_bytes())?;
    write(folder, interactive, html.as_bytes())?;
    // It stays if somebody has something in it.
    let _ = fs::remove_dir(folder.join(trends::FOLDER));
    Ok(())
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let path = folder.join(name);
    if fs::read(&path).is_ok_and(|there| there == bytes) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
    }
    whole::write(&path, true, |out| Ok(out.write_all(bytes)?))
}
