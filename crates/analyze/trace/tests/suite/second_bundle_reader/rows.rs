//! Reads the numbers of rows and lists, and the list of strings.

use std::collections::{BTreeMap, BTreeSet};

use super::archive::Archive;
use super::{Bundled, core, file, store};

pub(super) fn strings(bytes: &[u8]) -> Result<Vec<String>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    // Text before the first element is ignored, even if it is broken.
    let text = text.find("<plist").and_then(|begin| text.get(begin..));
    let text = text.ok_or("no property list")?;
    let document = roxmltree::Document::parse_with_options(text, options);
    let document = document.map_err(|error| error.to_string())?;
    let array = document.root_element().first_element_child();
    let array = array.ok_or("no list of strings")?;
    let texts = array.children().filter(roxmltree::Node::is_element);
    Ok(texts
        .map(|string| string.text().unwrap_or_default().to_owned())
        .collect())
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}

fn wide(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Returns each list of an index, or None for an entry that points to no list.
pub(super) fn lists(files: &Bundled, folder: &str) -> Result<Vec<Option<Vec<u64>>>, String> {
    let path = core(&format!("uniquing/{folder}/integeruniquer"));
    let index = file(files, &format!("{path}.index"))?;
    let data = file(files, &format!("{path}.data"))?;
    let block = word(index, 28).ok_or("no size of blocks")?;
    let entries = index.get(40..).ok_or("no index")?.chunks(8);
    let list = |entry: &[u8]| {
        let offset = word(entry, 0)?;
        let start = word(entry, 4)?.checked_mul(block)?.checked_add(offset)?;
        let count = word(data, start)?;
        let is_inside = count.checked_mul(8)?.checked_add(offset + 4)? <= block;
        let numbers = (0..count).map(|at| wide(data, start + 4 + 8 * at));
        is_inside.then(|| numbers.collect()).flatten()
    };
    Ok(entries.map(list).collect())
}

pub(super) struct Column {
    pub(super) mnemonic: String,
    pub(super) type_id: String,
    /// The number with all bits of its width set, which means null.
    pub(super) ones: u64,
}

/// The rows of a store. All bits set mean null.
pub(super) struct Rows {
    pub(super) schema: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Option<u64>>>,
}

impl Rows {
    pub(super) fn column(&self, mnemonic: &str) -> Option<usize> {
        let mut columns = self.columns.iter();
        columns.position(|column| column.mnemonic == mnemonic)
    }

    pub(super) fn read(files: &Bundled, number: u64) -> Result<Self, String> {
        let (count, size, slots) = layout(files, number)?;
        let bytes = file(files, &store(number, "bulkstore"))?;
        let from = |row: usize| 0x1000 + row * size;
        let mut rows = Vec::new();
        for row in 0..count {
            let row = bytes.get(from(row)..from(row + 1)).ok_or("too few rows")?;
            rows.push(row);
        }

        let behind = bytes.get(from(count)..).unwrap_or_default();
        if behind.iter().any(|&byte| byte != 0) {
            return Err("more rows than it says".to_owned());
        }

        rows.sort_by_key(|row| wide(row, 0));
        let text = file(files, &store(number, "schema.xml"))?;
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        let document = roxmltree::Document::parse(text).map_err(|error| error.to_string())?;
        let root = document.root_element();
        let (mut columns, mut places) = (Vec::new(), Vec::new());
        for column in root.children().filter(|node| node.has_tag_name("column")) {
            let attribute = |name: &str| column.attribute(name).map(str::to_owned);
            let mnemonic = attribute("mnemonic").ok_or("no mnemonic")?;
            let field = attribute("topologyField").unwrap_or_else(|| mnemonic.clone());
            let &(at, width) = slots.get(&field).ok_or("a column of no field")?;
            places.push((at, width));
            columns.push(Column {
                mnemonic,
                type_id: attribute("engineeringType").ok_or("no type")?,
                ones: u64::MAX >> (64 - 8 * width),
            });
        }

        let cell = |row: &[u8], &(at, width): &(usize, usize)| {
            let number = match width {
                4 => word(row, at).map(|number| number as u64),
                _ => wide(row, at),
            };
            number.filter(|number| *number != u64::MAX >> (64 - 8 * width))
        };

        let of_row = |row: &[u8]| places.iter().map(|place| cell(row, place)).collect();
        Ok(Self {
            schema: root.attribute("name").ok_or("no name")?.to_owned(),
            columns,
            rows: rows.into_iter().map(of_row).collect(),
        })
    }
}

/// The offset and the width of each field of a row.
type Slots = BTreeMap<String, (usize, usize)>;

/// Returns the number of rows, their size and their fields.
fn layout(files: &Bundled, number: u64) -> Result<(usize, usize, Slots), String> {
    let archive = Archive::read(files, &store(number, "bulkstore_descriptor"))?;
    let root = archive.top("root")?.ok_or("no root")?;
    let descriptor = archive.get(root, "$0")?.ok_or("no descriptor")?;
    let props = archive.get(descriptor, "_props")?.ok_or("no props")?;
    let count = archive.number(props, "next_event_id")?.ok_or("no count")?;
    let fields = archive.get(descriptor, "_fields")?.ok_or("no fields")?;
    let (mut slots, mut offset, mut known) = (Slots::new(), 0, BTreeSet::new());

    for field in archive.items(fields)? {
        let field = archive.get(field, "$0")?.ok_or("an empty field")?;
        let name = archive.text(field, "_name")?.ok_or("no name")?;
        let kind = archive.number(field, "_type")?.ok_or("no type")?;
        known.insert(archive.number(field, "_index")?.ok_or("no index")?);
        let topology: &[(&str, usize)] = match kind {
            6 => &[
                ("XRTraceRelativeTimestampFieldID", 8),
                ("XRDurationFieldID", 8),
            ],
            7 => &[("XRTraceRelativeTimestampFieldID", 8)],
            _ => &[],
        };
        let width = match kind {
            1 | 2 => 4 * usize::try_from(kind).map_err(|error| error.to_string())?,
            _ => 8 * topology.len() + 8,
        };
        slots.insert(name, (offset, width));
        for (at, (name, width)) in topology.iter().enumerate() {
            slots.insert((*name).to_owned(), (offset + 8 * at, *width));
        }
        if !topology.is_empty() {
            slots.insert("XRCategory1FieldID".to_owned(), (offset + width - 8, 4));
            slots.insert("XRCategory2FieldID".to_owned(), (offset + width - 4, 4));
        }
        offset += width;
    }

    let sizes = ["_maxEventSize", "_minEventSize"].map(|name| archive.number(descriptor, name));
    for size in sizes {
        if size? != Some(offset as u64) {
            return Err("rows of another size".to_owned());
        }
    }

    let count = usize::try_from(count).map_err(|error| error.to_string())?;
    Ok((count, offset, slots))
}
