//! A copy of Apple's template with settings that `xctrace record` has no option
//! for: the Shader Timeline, and the GPU's clock. Others record this way; it has
//! never been run against a real Xcode by metalens's authors, and some GPUs
//! refuse: see what comes of it.

mod change;
mod patch;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result, file};

pub use self::change::{Change, Clock};

/// Apple's template.
const STOCK: &str = "Metal System Trace.tracetemplate";
/// Where it is, in Instruments' own folder: now, and in older Xcodes.
const PLACES: [&str; 2] = [
    "Contents/Packages/GPU.instrdst/Contents/Templates",
    "Contents/Resources/templates",
];
/// Elsewhere it is looked for no further than this.
const DEEPEST: usize = 8;
const MOST_FOLDERS: usize = 5_000;
/// Apple's is a few hundred kilobytes.
const LARGEST: u64 = 16 << 20;

/// A changed copy, which is removed when this is dropped.
#[derive(Debug)]
pub struct Copy {
    file: NamedTempFile,
}

impl Copy {
    /// Makes one of the template that belongs to an `xctrace`, with all of these changes.
    ///
    /// # Errors
    ///
    /// If it is not found, or has no such settings.
    pub fn of_template_of(xctrace: &Path, changes: &[Change]) -> Result<Self> {
        let refused = |why: String| Error::Template {
            wanted: joined(changes, Change::option, " and "),
            why,
        };
        let stock = find(xctrace, &refused)?;
        let by_hand = |why: &str| {
            refused(format!(
                "{}: {why}. In Instruments, {} in a Metal System Trace, save it as a template, \
                 and give that with --template",
                stock.display(),
                joined(changes, Change::by_hand, " and ")
            ))
        };
        let bytes = match metalens_files::read(&stock, LARGEST) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(by_hand("it is far too large"));
            }
            read => read.map_err(file("read", &stock))?,
        };
        let changed = patch::patched(&bytes, changes).map_err(by_hand)?;
        // Not under Apple's name: `xctrace` refuses that with exit code 30.
        let options = joined(changes, Change::option, "").replace("--", "-");
        let mut copy = tempfile::Builder::new()
            .prefix(&format!("metalens{options}-"))
            .suffix(".tracetemplate")
            .tempfile()
            .map_err(file("create a file in", std::env::temp_dir()))?;
        let path = copy.path().to_owned();
        copy.write_all(&changed).map_err(file("write", path))?;
        Ok(Self { file: copy })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

fn joined(changes: &[Change], word: fn(Change) -> &'static str, between: &str) -> String {
    let words: Vec<&str> = changes.iter().map(|&one| word(one)).collect();
    words.join(between)
}

/// The template of the Xcode that an `xctrace` is part of.
fn find(xctrace: &Path, refused: &dyn Fn(String) -> Error) -> Result<PathBuf> {
    // Links lead to where it really is.
    let real = fs::canonicalize(xctrace).map_err(file("find", xctrace))?;
    let mut instruments = real
        .ancestors()
        .map(|folder| folder.join("Applications/Instruments.app"));
    let Some(instruments) = instruments.find(|folder| folder.is_dir()) else {
        return Err(refused(format!(
            "{} is in no Xcode, so its template cannot be found",
            real.display()
        )));
    };
    let mut known = PLACES
        .iter()
        .map(|place| instruments.join(place).join(STOCK));
    let found = known.find(|path| path.is_file());
    found.or_else(|| search(&instruments)).ok_or_else(|| {
        refused(format!(
            "there is no `{STOCK}` in {}",
            instruments.display()
        ))
    })
}

/// Anywhere in a folder, the nearest first; links are not followed.
fn search(root: &Path) -> Option<PathBuf> {
    let mut level = vec![root.to_owned()];
    let mut seen = 0;
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for folder in &level {
            seen += 1;
            let candidate = folder.join(STOCK);
            if candidate.is_file() {
                return Some(candidate);
            }
            if seen > MOST_FOLDERS {
                return None;
            }
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let folders = entries.filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir()));
            next.extend(folders.map(|one| one.path()));
        }
        // The same order on every disk.
        next.sort();
        level = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tool: &Path) -> Result<PathBuf> {
        find(tool, &|why| Error::Template {
            wanted: "--shader-timeline".to_owned(),
            why,
        })
    }

    #[test]
    fn where_the_template_is() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let developer = root.join("Xcode.app/Contents/Developer/usr/bin");
        let instruments = root.join("Xcode.app/Contents/Applications/Instruments.app");
        fs::create_dir_all(&developer).unwrap();
        let tool = developer.join("xctrace");
        fs::write(&tool, "").unwrap();
        let error = found(&tool).unwrap_err().to_string();
        assert!(error.contains("is in no Xcode"), "{error}");
        fs::create_dir_all(&instruments).unwrap();
        let error = found(&tool).unwrap_err().to_string();
        assert!(
            error.contains("there is no `Metal System Trace.tracetemplate` in"),
            "{error}"
        );
        let put = |place: &str| {
            let folder = instruments.join(place);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(STOCK), patch::of_a_test()).unwrap();
            assert_eq!(found(&tool).unwrap(), folder.join(STOCK));
        };
        // The known places come before what is found by searching.
        put("Contents/PlugIns/New.instrdst/Contents/Templates");
        put("Contents/Resources/templates");
        put("Contents/Packages/GPU.instrdst/Contents/Templates");

        let both = [Change::ShaderTimeline, Change::GpuClock(Clock::Maximum)];
        let copy = Copy::of_template_of(&tool, &both).unwrap();
        let name = copy
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            name.starts_with("metalens-shader-timeline-gpu-clock-"),
            "{name}"
        );
        assert!(name != STOCK && name.ends_with(".tracetemplate"));
        let path = copy.path().to_owned();
        assert!(patch::patched(&fs::read(&path).unwrap(), &both).is_ok());
        drop(copy);
        assert!(!path.exists());
    }
}
