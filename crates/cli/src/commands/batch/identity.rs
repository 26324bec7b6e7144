//! Whether an input is the one that was analyzed: by names, sizes and times of its
//! files, and where those differ by their bytes.
//!
//! A fresh checkout, or a copy, has other times and the same bytes: so the bytes decide,
//! and they are read only then.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::Context;
use metalens_analyzer::Settings;
use metalens_trace::{Likeness, likeness};
use sha2::{Digest, Sha256};

use crate::args::batch::BatchArguments;
use crate::report_folder::{hexadecimal, sha256};

/// A file of an input.
#[derive(Debug)]
pub(super) struct Part {
    /// Where it is in the input.
    pub(super) name: String,
    path: PathBuf,
    pub(super) size: u64,
    /// When it was changed, ns since 1970.
    changed: i128,
}

/// The files that an input consists of, and the one beside it that says how much work
/// there was.
pub(super) fn parts(path: &Path) -> io::Result<Vec<Part>> {
    let mut parts = Vec::new();
    match likeness(path)? {
        Likeness::Bundle => collect(path, "", true, &mut HashSet::new(), &mut parts)?,
        Likeness::Export | Likeness::Folder => {
            collect(path, "", false, &mut HashSet::new(), &mut parts)?;
        }
        _ => {
            // Its ending alone: a copy of another name is the same input.
            let ending = path.extension().map(|ending| ending.to_string_lossy());
            parts.extend(part(path, format!(".{}", ending.unwrap_or_default())));
        }
    }
    let work = path.with_extension("work.json");
    if work.is_file() && work != path {
        parts.extend(part(&work, "../work.json".to_owned()));
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(parts)
}

/// The files of a folder, each folder once: links may lead in circles.
fn collect(
    folder: &Path,
    inside: &str,
    deep: bool,
    seen: &mut HashSet<PathBuf>,
    parts: &mut Vec<Part>,
) -> io::Result<()> {
    if !seen.insert(folder.canonicalize()?) {
        return Ok(());
    }
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{inside}{}", entry.file_name().to_string_lossy());
        match path.is_dir() {
            true if deep => collect(&path, &format!("{name}/"), deep, seen, parts)?,
            true => {}
            false => parts.extend(part(&path, name)),
        }
    }
    Ok(())
}

/// A file; none if it is gone, or a link that leads nowhere.
fn part(path: &Path, name: String) -> Option<Part> {
    let facts = fs::metadata(path).ok()?;
    let changed = facts
        .modified()
        .ok()
        .map(|time| match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()).unwrap_or(i128::MAX),
            Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or(i128::MAX),
        });
    Some(Part {
        name,
        path: path.to_owned(),
        size: facts.len(),
        changed: changed.unwrap_or(0),
    })
}

/// Names, sizes and times: what is the same has not been changed.
pub(super) fn stamp(parts: &[Part]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.name.as_bytes());
        hash.update([0]);
        hash.update(part.size.to_le_bytes());
        hash.update(part.changed.to_le_bytes());
    }
    hexadecimal(&hash.finalize())
}

/// Names and bytes. What cannot be read counts as such: an analysis may not need it.
pub(super) fn content(parts: &[Part]) -> String {
    let mut all = Sha256::new();
    for part in parts {
        all.update(part.name.as_bytes());
        all.update([0]);
        match hash_of(&part.path) {
            Ok(hash) => all.update(hash),
            Err(error) => all.update(error.kind().to_string().as_bytes()),
        }
    }
    hexadecimal(&all.finalize())
}

fn hash_of(path: &Path) -> io::Result<[u8; 32]> {
    const BUFFER: usize = 256 << 10;
    let mut file = File::open(path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; BUFFER]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            read => hash.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// How an input is to be analyzed, and by which metalens: its version's number alone
/// does not tell two builds apart.
pub(super) fn settings(arguments: &BatchArguments, settings: &Settings) -> anyhow::Result<String> {
    let BatchArguments {
        part,
        measure,
        reading,
        show_names,
        ..
    } = arguments;
    let work = match &measure.work {
        Some(file) => {
            let shown = file.display();
            sha256(&fs::read(file).with_context(|| format!("cannot read {shown}"))?)
        }
        None => String::new(),
    };
    let program = std::env::current_exe().and_then(|path| hash_of(&path));
    let program = program.map_or_else(|_| String::new(), |hash| hexadecimal(&hash));
    let version = env!("CARGO_PKG_VERSION");
    let said = format!(
        "{version} {program} {settings:?} {part:?} {reading:?} {show_names} {work} {}",
        super::row::FORM
    );
    Ok(sha256(said.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_decide() {
        let root = tempfile::tempdir().unwrap();
        let bundle = root.path().join("x.trace");
        fs::create_dir_all(bundle.join("corespace")).unwrap();
        let write = |text: &str| fs::write(bundle.join("corespace/store"), text).unwrap();
        let of = || {
            let parts = parts(&bundle).unwrap();
            (stamp(&parts), content(&parts))
        };
        let old = std::time::SystemTime::UNIX_EPOCH;
        let age = || {
            let file = File::options()
                .write(true)
                .open(bundle.join("corespace/store"));
            file.unwrap().set_modified(old).unwrap();
        };
        write("one");
        let first = of();
        assert_eq!(of(), first);
        age();
        let aged = of();
        assert!(aged.0 != first.0 && aged.1 == first.1);
        write("two");
        age();
        let changed = of();
        assert!(changed.0 == aged.0 && changed.1 != aged.1);
        fs::write(root.path().join("x.work.json"), "{}").unwrap();
        assert!(of().0 != changed.0 && of().1 != changed.1);
    }
}
