//! A second reader, written for obviousness and over another XML library, gives
//! every cell the same value: on real exports where they are at hand, and on
//! the small one always.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use metalens_trace::{Column, Names, Selection, Table, read_document};
use roxmltree::{Document, Node};

use super::GOOD;

#[test]
fn agrees_on_the_good_document() {
    assert_eq!(compare(GOOD, "good.xml"), 21);
}

#[test]
fn agrees_on_every_real_table() {
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

/// The folder of real recordings, if this machine has it.
pub(crate) fn real_recordings() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real");
    let folder = std::env::var_os("METALENS_REAL").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        eprintln!("skipped: no real recordings at hand (METALENS_REAL names their folder)");
        return None;
    }
    Some(folder)
}

/// Every exported table; bundles hold other XML.
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
    match bytes.starts_with(&[0x1f, 0x8b]) {
        true => flate2::read::GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap(),
        false => (&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    text
}

/// Compares every cell of a document and counts them.
fn compare(text: &str, name: &str) -> usize {
    let mut names = Names::new();
    let selection = Selection::everything().with_rendered_labels();
    let tables = read_document(text.as_bytes(), name, &mut names, &selection).unwrap();
    compare_read(text, name, &tables, &names)
}

/// The same of what was read before.
pub(crate) fn compare_read(text: &str, name: &str, tables: &[Table], names: &Names) -> usize {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let nodes: Vec<Node<'_, '_>> = children(document.root_element(), "node").collect();
    assert_eq!(tables.len(), nodes.len(), "{name}");
    let tables = tables.iter().zip(nodes);
    tables
        .map(|(table, node)| compare_table(table, names, node, name))
        .sum()
}

fn compare_table(table: &Table, names: &Names, node: Node<'_, '_>, name: &str) -> usize {
    let rows: Vec<Node<'_, '_>> = children(node, "row").collect();
    // What is in no row is stepped over, whatever ids it has.
    let ids: HashMap<&str, Node<'_, '_>> = rows
        .iter()
        .flat_map(Node::descendants)
        .filter_map(|n| Some((n.attribute("id")?, n)))
        .collect();
    assert_eq!(table.rows(), rows.len(), "{name}");
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<Node<'_, '_>> = row.children().filter(Node::is_element).collect();
        for (cell, (spec, column)) in cells.iter().zip(table.columns()) {
            let cell = cell.attribute("ref").map_or(*cell, |id| ids[id]);
            let expected = (cell.tag_name().name() != "sentinel").then_some(cell);
            check_cell(column, at, names, expected, &ids)
                .unwrap_or_else(|found| panic!("{name}, row {at}, {}: {found}", spec.mnemonic));
        }
    }
    rows.len() * table.schema.columns.len()
}

/// `Err` describes what was read instead.
fn check_cell(
    column: &Column,
    row: usize,
    names: &Names,
    cell: Option<Node<'_, '_>>,
    ids: &HashMap<&str, Node<'_, '_>>,
) -> Result<(), String> {
    let display = cell
        .and_then(|cell| cell.attribute("fmt"))
        .map(str::to_owned);
    let text = cell.map(|cell| cell.text().unwrap_or("").to_owned());
    let (found, expected) = match column {
        Column::Integers(values) => (values.get(row).map(|v| v.to_string()), text.map(plain)),
        Column::Texts(values) => {
            let composite = cell.is_some_and(|cell| cell.children().any(|n| n.is_element()));
            // Words that stand in the display form alone are words too.
            let only_displayed = text.as_deref() == Some("") && display.is_some();
            let expected = match composite || only_displayed {
                true => display,
                false => text,
            };
            (values[row].map(|s| names.text(s).to_owned()), expected)
        }
        Column::Processes(values) => {
            let found = values[row].and_then(|id| names.process(id)).map(|p| {
                // A name that is not followed by its pid is all that is displayed.
                let pid = p.pid.map_or(String::new(), |pid| format!(" ({pid})"));
                let pid = pid.as_str();
                let is_shown = display
                    .as_ref()
                    .is_some_and(|display| display.ends_with(pid));
                format!("{}{}", names.text(p.name), if is_shown { pid } else { "" })
            });
            (found, display)
        }
        Column::Threads(values) => {
            let thread = values[row].and_then(|id| names.thread(id));
            let tid = cell
                .and_then(|cell| part(cell, "tid", ids))
                .map(|n| n.text().unwrap_or(""));
            assert_eq!(
                thread
                    .and_then(|t| t.tid)
                    .map(|tid| tid.to_string())
                    .as_deref(),
                tid
            );
            (thread.map(|t| names.text(t.display).to_owned()), display)
        }
        Column::Labels(values) => {
            let label = values[row].and_then(|id| names.label(id));
            let number = cell.and_then(|cell| part(cell, "metal-encoder-id", ids));
            let number = number.map(|n| plain(n.text().unwrap_or("").to_owned()));
            // Without that part the display form may end with it.
            let number = number.or_else(|| {
                let (_, hex) = display.as_ref()?.trim_end().rsplit_once("0x")?;
                Some(u64::from_str_radix(hex, 16).ok()?.to_string())
            });
            let found = label
                .and_then(|l| l.submission_id())
                .map(|id| id.to_string());
            if found != number {
                return Err(format!("submission {found:?}, expected {number:?}"));
            }
            let rendered = label
                .and_then(|l| l.rendered)
                .map(|s| names.text(s).to_owned());
            // One without a display form displays nothing.
            (rendered, cell.map(|_| display.unwrap_or_default()))
        }
        Column::Stacks(values) => {
            let frames = |cell: Node<'_, '_>| {
                let frames = children(cell, "frame");
                let name = |f: Node<'_, '_>| {
                    let frame = f.attribute("ref").map_or(f, |id| ids[id]);
                    frame.attribute("name").unwrap_or("").to_owned()
                };
                frames.map(name).collect::<Vec<_>>().join(";")
            };
            let found = values[row].map(|id| {
                names
                    .stack(id)
                    .map(|f| names.text(f.name))
                    .collect::<Vec<_>>()
                    .join(";")
            });
            (found, cell.map(frames))
        }
        Column::Dropped => return Err("was dropped".to_owned()),
    };
    // Between quotes XML has all white space as a space, and we keep what is there.
    let spaced = |text: &Option<String>| text.as_ref().map(|t| t.replace(['\t', '\n', '\r'], " "));
    match spaced(&found) == spaced(&expected) {
        true => Ok(()),
        false => Err(format!("{found:?}, expected {expected:?}")),
    }
}

/// `007` is 7.
fn plain(number: String) -> String {
    number.parse::<u64>().map_or(number, |v| v.to_string())
}

/// A composite's part of a tag.
fn part<'a, 'i>(
    cell: Node<'a, 'i>,
    tag: &str,
    ids: &HashMap<&str, Node<'a, 'i>>,
) -> Option<Node<'a, 'i>> {
    let part = cell.children().find(|n| n.has_tag_name(tag))?;
    Some(part.attribute("ref").map_or(part, |id| ids[id]))
}

fn children<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |n| n.has_tag_name(tag))
}
