//! Recognizes the files that commands name, so that runs of an old program are not taken for runs of
//! the new one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use metalens_files::{hexadecimal, sha256_of_file};

use crate::variants::Variant;

/// Largest file that is recognized by its content, in bytes. Larger ones, such as models, are
/// recognized by length and time.
const MOST_BYTES: u64 = 256 << 20;

/// Returns what each file that a word of a command names is recognized by: the program, a script, a
/// model. The words are those that are published.
pub(crate) fn files_of(variants: &[Variant]) -> BTreeMap<String, String> {
    let programs = variants.iter().filter(|variant| !variant.is_workload);
    let words = programs.flat_map(|variant| variant.words.iter().zip(&variant.run.words));
    words
        .filter_map(|(shown, word)| Some((shown.clone(), recognized_by(Path::new(word))?)))
        .collect()
}

fn recognized_by(file: &Path) -> Option<String> {
    let metadata = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    if metadata.len() <= MOST_BYTES
        && let Ok(digest) = sha256_of_file(file)
    {
        return Some(hexadecimal(&digest));
    }
    Some(format!("{} {:?}", metadata.len(), metadata.modified().ok()))
}
