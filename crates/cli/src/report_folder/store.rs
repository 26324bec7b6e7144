//! Writing the folder, in an order that leaves no half one under a manifest.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::Context;

use super::manifest::{Manifest, sha256};
use super::{Content, FOLDER_OF_CHARTS, MANIFEST};
use crate::whole;

/// Refuses a place where no file can be made.
pub(super) fn check_place(folder: &Path) -> anyhow::Result<()> {
    let shown = folder.display();
    let there = folder
        .ancestors()
        .find(|one| one.symlink_metadata().is_ok());
    let there = match there {
        Some(there) if !there.as_os_str().is_empty() => there,
        _ => Path::new("."),
    };
    let at = there.display();
    anyhow::ensure!(
        there.is_dir(),
        "cannot write into {shown}: {at} is not a folder"
    );
    whole::try_to_write_in(there)
        .with_context(|| format!("cannot write into {shown}: no file can be made in {at}"))
}

/// Writes the files, then the manifest. Should that fail without `force`, what was
/// written is taken away again: it was nobody's before. With `force` the new files
/// that are already there stay, without a manifest.
pub(super) fn write(
    folder: &Path,
    contents: &[Content],
    manifest: &Manifest,
    force: bool,
) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec_pretty(manifest).context("cannot write the manifest")?;
    text.push(b'\n');
    let mut made = Made::default();
    let written = made
        .folders(folder)
        .and_then(|()| clear(folder, manifest, force))
        .and_then(|()| made.files(folder, contents, &text, force));
    match force {
        true => written.with_context(|| {
            let shown = folder.display();
            format!("the report in {shown} is not whole, and has no manifest")
        }),
        false => written.inspect_err(|_| made.take_away()),
    }
}

/// What a run has made.
#[derive(Default)]
struct Made {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    fn folders(&mut self, folder: &Path) -> anyhow::Result<()> {
        let charts = folder.join(FOLDER_OF_CHARTS);
        let missing = charts.ancestors().filter(|one| !one.as_os_str().is_empty());
        let missing = missing.take_while(|one| one.symlink_metadata().is_err());
        let missing: Vec<PathBuf> = missing.map(Path::to_path_buf).collect();
        let created = fs::create_dir_all(&charts);
        self.folders = missing;
        created.with_context(|| format!("cannot create {}", charts.display()))
    }

    fn files(
        &mut self,
        folder: &Path,
        contents: &[Content],
        manifest: &[u8],
        force: bool,
    ) -> anyhow::Result<()> {
        let files = contents.iter();
        let files = files.map(|one| (one.path.as_str(), one.bytes.as_slice()));
        for (path, bytes) in files.chain([(MANIFEST, manifest)]) {
            let file = folder.join(path);
            whole::write(&file, force, |out| Ok(out.write_all(bytes)?))?;
            self.files.push(file);
        }
        Ok(())
    }

    /// Leaves alone what others put there meanwhile: a folder with something in it stays.
    fn take_away(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Takes an older report's manifest away, and the charts that it lists and the new
/// one does not: nobody shall take them for the new report's.
fn clear(folder: &Path, new: &Manifest, force: bool) -> anyhow::Result<()> {
    let file = folder.join(MANIFEST);
    if !force || file.symlink_metadata().is_err() {
        return Ok(());
    }
    let old = fs::read(&file).ok();
    let old = old.and_then(|text| serde_json::from_slice::<Manifest>(&text).ok());
    fs::remove_file(&file).with_context(|| format!("cannot replace {}", file.display()))?;
    for listed in old.iter().flat_map(|old| &old.files) {
        let is_kept = new.files.iter().any(|kept| kept.path == listed.path);
        if is_kept || !is_a_chart(&listed.path) {
            continue;
        }
        let stale = folder.join(&listed.path);
        // One that was changed since is somebody's work.
        let is_as_written = fs::read(&stale).is_ok_and(|bytes| sha256(&bytes) == listed.sha256);
        if is_as_written {
            fs::remove_file(&stale)
                .with_context(|| format!("cannot remove the old {}", stale.display()))?;
        }
    }
    Ok(())
}

/// Whether a path of a manifest, which anybody may have written, is a picture right in
/// the folder of charts.
fn is_a_chart(path: &str) -> bool {
    let parts: Vec<Component<'_>> = Path::new(path).components().collect();
    match parts.as_slice() {
        [Component::Normal(folder), Component::Normal(name)] => {
            *folder == FOLDER_OF_CHARTS && Path::new(name).extension().is_some_and(|is| is == "png")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_elsewhere_are_no_charts() {
        let check = |path: &str, expected: bool| assert_eq!(is_a_chart(path), expected, "{path}");
        check("charts/compare.png", true);
        check("charts/../report.png", false);
        check("charts/a/b.png", false);
        check("/charts/a.png", false);
        check("../charts/a.png", false);
        check("charts/notes.md", false);
        check("report.md", false);
        check("", false);
    }
}
