//! Tests that a second reader, with simple code and another XML library, gives every cell the same
//! value, on the small export and on real ones if they are available.

use std::io::Read;
use std::path::{Path, PathBuf};

use metalens_testing::real_recordings;
use metalens_trace::{Names, Selection, read_document};
use roxmltree::Document;

use super::{GOOD, judge};

#[test]
fn the_second_reader_agrees_on_the_good_document() {
    assert_eq!(compare(GOOD, "good.xml"), 21);
}

#[test]
fn the_second_reader_agrees_on_every_real_table() {
    let Some(folder) = real_recordings() else {
        return;
    };
    let mut cells = 0;
    for file in exports_in(&folder) {
        let text = text_of(&file);
        if Document::parse(&text).is_ok_and(|d| d.descendants().any(|n| n.has_tag_name("schema"))) {
            cells += compare(&text, &file.display().to_string());
        }
    }
    assert!(cells > 100_000, "only {cells} cells were compared");
}

/// Returns every exported table, but not the XML files of bundles.
pub(crate) fn exports_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.ends_with(".trace") {
            found.extend(exports_in(&path));
        } else if (name.ends_with(".xml") || name.ends_with(".xml.gz")) && !name.starts_with("toc")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub(crate) fn text_of(file: &Path) -> String {
    let bytes = std::fs::read(file).unwrap();
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        flate2::read::GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap()
    } else {
        (&bytes[..]).read_to_string(&mut text).unwrap()
    };
    text
}

/// Compares every cell of a document and counts them.
fn compare(text: &str, name: &str) -> usize {
    let mut names = Names::new();
    let selection = Selection::everything().with_rendered_labels();
    let tables = read_document(text.as_bytes(), name, &mut names, &selection).unwrap();
    judge::compare(text, name, &tables, &names)
}
