//! Judges the result of reading a document with a second reader, which has simple code and another
//! XML library and compares cell by cell. Tests and fuzzing use it.

use std::collections::HashMap;

use metalens_trace::{Column, Names, Table};
use roxmltree::{Document, Error, Node};

/// Panics if a cell differs from the document. Returns false for content that only the second
/// reader refuses or reads differently: prefixes, which are not part of XML itself, and harmless
/// content of labels: `]]>`, and the two characters after the surrogates that XML excludes.
pub(crate) fn agrees(text: &str, name: &str, tables: &[Table], names: &Names) -> bool {
    if text.contains("xmlns") || text.contains("<xml:") {
        return false;
    }
    let text = first_element(text);
    match Document::parse(text) {
        Err(
            Error::UnknownNamespace(..)
            | Error::InvalidCharacterData(..)
            | Error::NonXmlChar('\u{fffe}' | '\u{ffff}', _),
        ) => false,
        _ => {
            compare(text, name, tables, names);
            true
        }
    }
}

/// Returns the text from the first element on. Text before it is ignored, even if it is broken.
fn first_element(text: &str) -> &str {
    let rest = &text[text.find('<').unwrap_or(0)..];
    let (inside, end) = match (rest.strip_prefix("<?"), rest.strip_prefix("<!--")) {
        (Some(instruction), _) => (instruction, "?>"),
        (_, Some(comment)) => (comment, "-->"),
        _ => return rest,
    };
    match inside.split_once(end) {
        Some((_, behind)) => first_element(behind),
        None => rest,
    }
}

/// Compares every cell of a document with what was read, and counts them.
pub(crate) fn compare(text: &str, name: &str, tables: &[Table], names: &Names) -> usize {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    // A node without a schema is not a table.
    let has_any = |node: &Node<'_, '_>| children(*node, "schema").next().is_some();
    let nodes = children(document.root_element(), "node").filter(has_any);
    let nodes: Vec<Node<'_, '_>> = nodes.collect();
    assert_eq!(tables.len(), nodes.len(), "{name}");
    let tables = tables.iter().zip(nodes);
    tables
        .map(|(table, node)| compare_table(table, names, node, name))
        .sum()
}

fn compare_table(table: &Table, names: &Names, node: Node<'_, '_>, name: &str) -> usize {
    let rows: Vec<Node<'_, '_>> = children(node, "row").collect();
    // Elements outside rows are skipped, with any ids.
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

/// Compares one cell. `Err` describes the value that was read.
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
            // Text that is only in the display form counts too.
            let only_displayed = text.as_deref() == Some("") && display.is_some();
            let expected = if composite || only_displayed {
                display
            } else {
                text
            };
            (values[row].map(|s| names.text(s).to_owned()), expected)
        }
        Column::Processes(values) => {
            let found = values[row].and_then(|id| names.process(id)).map(|p| {
                // If no pid follows, the complete display form is the name.
                let name = names.text(p.name).to_owned();
                match p.pid {
                    Some(pid) if spaced(&name) != display.as_deref().unwrap_or("") => {
                        format!("{name} ({pid})")
                    }
                    _ => name,
                }
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
            // Without this part the display form may contain the number.
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
            // A label without a display form displays nothing.
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

    if found.as_deref().map(spaced) == expected.as_deref().map(spaced) {
        Ok(())
    } else {
        Err(format!("{found:?}, expected {expected:?}"))
    }
}

/// Normalizes white space. XML replaces each white space in an attribute by a space, and a line end
/// of two characters by one; the reader under test keeps it.
fn spaced(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ")
}

/// Removes leading zeros: `007` is 7.
fn plain(number: String) -> String {
    number.parse::<u64>().map_or(number, |v| v.to_string())
}

/// Returns the part of a composite with a tag.
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
