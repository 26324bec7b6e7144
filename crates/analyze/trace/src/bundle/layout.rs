//! Reads the layout of the rows of a store from schema.xml, bulkstore_descriptor and the header of
//! the bulkstore, which must agree.

use super::files::{Files, SMALL};
use super::keyed::{Keyed, Object};
use super::little_endian::word;
use super::manager::Store;
use crate::error::Result;
use crate::table::Schema;
use crate::xml::{Element, read_tree};

/// The offset and the size of a column's value in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A little-endian number of 4 bytes.
    U32(usize),
    /// A little-endian number of 8 bytes.
    U64(usize),
}

/// A column of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoreColumn {
    pub(crate) mnemonic: String,
    /// Display name of the column.
    pub(crate) name: String,
    /// Apple's internal name of the type, such as `XRDurationTypeID`.
    pub(crate) type_id: String,
    pub(crate) slot: Slot,
}

/// The layout of the rows of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) schema: String,
    pub(crate) columns: Vec<StoreColumn>,
    pub(crate) row_size: usize,
    pub(crate) rows: u64,
    /// Slot of the time of a row. Rows are sorted by it.
    pub(crate) time: Slot,
}

impl Layout {
    /// Returns the declaration as an export has it, with the type names of exports.
    pub(crate) fn declared(&self, tag: impl Fn(&str) -> String) -> Schema {
        let columns = self.columns.iter().map(|column| crate::table::ColumnSpec {
            mnemonic: column.mnemonic.clone(),
            name: column.name.clone(),
            engineering_type: tag(&column.type_id),
        });
        Schema {
            name: self.schema.clone(),
            columns: columns.collect(),
        }
    }
}

/// Reads the layout of a store, and checks that it has the table that the table manager names.
pub(crate) fn read_listed(files: &Files, store: &Store) -> Result<Layout> {
    let layout = read(files, &store.path).map_err(|error| error.at_table(&store.schema))?;
    if layout.schema == store.schema {
        return Ok(layout);
    }
    let detail = format!(
        "it has the table {}, but the table manager names {}",
        layout.schema, store.schema
    );
    let path = format!("{}/schema.xml", store.path);
    Err(files.unsupported(&path, detail).at_table(&store.schema))
}

/// Reads the layout of a store. Refuses unknown layouts.
pub(crate) fn read(files: &Files, store: &str) -> Result<Layout> {
    let schema_path = format!("{store}/schema.xml");
    let schema = files.stream_up_to(&schema_path, SMALL, |bytes| {
        read_tree(bytes, &files.shown(&schema_path), "schema")
    })?;
    let descriptor_path = format!("{store}/bulkstore_descriptor");
    let bytes = files.read(&descriptor_path, SMALL)?;
    let unsupported = |detail: &str| files.unsupported(&descriptor_path, detail);
    let archive = Keyed::parse(bytes).ok_or_else(|| unsupported(Keyed::INVALID))?;
    let descriptor = archive.root().and_then(|root| root.get("$0"));
    let descriptor = descriptor.ok_or_else(|| unsupported("the descriptor is empty"))?;
    let fields = Fields::parse(descriptor).map_err(|detail| unsupported(&detail))?;
    if archive.exhausted() {
        return Err(unsupported(Keyed::EXHAUSTED));
    }

    fields
        .layout(&schema)
        .map_err(|detail| unsupported(&detail))
}

/// Maximum number of fields. Real stores have at most 19.
const MAX_FIELDS: usize = 1_000;

/// The fields and the size of rows, from a descriptor.
struct Fields {
    /// Name and type of each field, in order.
    fields: Vec<(String, u64)>,
    row_size: u64,
    rows: u64,
}

impl Fields {
    /// Parses a descriptor, and refuses rows of varying size and unknown versions.
    fn parse(descriptor: Object<'_>) -> Result<Self, String> {
        let number = |name: &str| descriptor.get(name).and_then(Object::integer);
        let (max, min) = (number("_maxEventSize"), number("_minEventSize"));
        if descriptor.get("_variableSize").and_then(Object::boolean) != Some(false) || max != min {
            return Err("its rows vary in size".to_owned());
        }

        match number("_version") {
            Some(1) => {}
            Some(other) => return Err(format!("its version is {other}, not 1")),
            None => return Err("it has no version".to_owned()),
        }
        let props = descriptor.get("_props");
        let prop = |name: &str| props.and_then(|props| props.get(name)?.integer());
        let (rows, same) = (prop("next_event_id"), prop("mono_event_id"));
        if same.is_some() && rows != same {
            let [rows, same] = [rows, same].map(|rows| match rows {
                Some(rows) => rows.to_string(),
                None => "absent".to_owned(),
            });
            return Err(format!("its row count is {rows} and {same}"));
        }

        let list = descriptor.get("_fields").ok_or("it has no fields")?;
        let mut fields = Vec::new();
        for (at, field) in list.items().enumerate() {
            if at > MAX_FIELDS {
                return Err(format!("it has more than {MAX_FIELDS} fields"));
            }
            let field = field.get("$0").ok_or("a field is empty")?;
            let name = field
                .get("_name")
                .and_then(Object::text)
                .ok_or("a field has no name")?;
            let kind = field
                .get("_type")
                .and_then(Object::integer)
                .ok_or("a field has no type")?;
            let index = field.get("_index").and_then(Object::integer);
            if index != Some(at as u64) {
                return Err(format!("field {name} is out of order"));
            }
            fields.push((name.to_owned(), kind));
        }

        Ok(Self {
            fields,
            row_size: max.ok_or("it has no row size")?,
            rows: rows.ok_or("it has no row count")?,
        })
    }

    /// Checks that each field except the first is a column, in the same order, and that the schema
    /// has nothing else. Otherwise a broken column would look like a missing one.
    fn check_columns(&self, schema: &Element) -> Result<(), String> {
        if schema.children.iter().any(|child| child.name != "column") {
            return Err("its schema has more than columns".to_owned());
        }
        let columns = schema.children_named("column");
        let plain = columns.filter(|column| column.attribute("topologyField").is_none());
        let plain = plain.filter_map(|column| column.attribute("mnemonic"));
        let fields = self.fields.iter().skip(1).map(|(name, _)| name.as_str());
        if plain.eq(fields) {
            Ok(())
        } else {
            Err("its columns differ from its fields".to_owned())
        }
    }

    /// Assigns the columns of the schema to the fields, which are packed without padding.
    fn layout(&self, schema: &Element) -> Result<Layout, String> {
        let Some(((first, topology), others)) = self.fields.split_first() else {
            return Err("it has no fields".to_owned());
        };
        let topology = Topology::from_type(*topology)
            .filter(|_| first == "topology")
            .ok_or_else(|| format!("topology type {topology} is unknown"))?;
        let mut offset = topology.size();
        let mut slots = std::collections::BTreeMap::new();

        for (name, kind) in others {
            let (slot, width) = match kind {
                1 => (Slot::U32(offset), 4),
                2 => (Slot::U64(offset), 8),
                _ => {
                    return Err(format!("field {name} has the unknown type {kind}"));
                }
            };
            if slots.insert(name.as_str(), slot).is_some() {
                return Err(format!("two fields have the name {name}"));
            }
            offset += width;
        }

        if offset as u64 != self.row_size {
            return Err(format!(
                "fields of {offset} bytes in rows of {}",
                self.row_size
            ));
        }

        // The first field stands for up to four columns.
        let max_columns = self.fields.len() + 3;
        if schema.children_named("column").nth(max_columns).is_some() {
            return Err("it has more columns than fields".to_owned());
        }

        let columns: Result<Vec<StoreColumn>, String> = schema
            .children_named("column")
            .map(|column| parse_column(column, topology, &slots))
            .collect();
        let columns = columns?;
        self.check_columns(schema)?;
        for (at, column) in columns.iter().enumerate() {
            if columns
                .iter()
                .take(at)
                .any(|earlier| earlier.mnemonic == column.mnemonic)
            {
                return Err(format!("two columns have the name {}", column.mnemonic));
            }
        }

        Ok(Layout {
            schema: schema
                .attribute("name")
                .ok_or("the schema has no name")?
                .to_owned(),
            columns,
            row_size: offset,
            rows: self.rows,
            time: Slot::U64(0),
        })
    }
}

/// Parses a `<column>`. Its slot is that of its topology field, or else of the descriptor.
fn parse_column(
    column: &Element,
    topology: Topology,
    slots: &std::collections::BTreeMap<&str, Slot>,
) -> Result<StoreColumn, String> {
    let attribute = |name: &str| {
        let found = column.attribute(name).map(str::to_owned);
        found.ok_or_else(|| format!("a column of the schema has no {name}"))
    };
    let mnemonic = attribute("mnemonic")?;
    let slot = match column.attribute("topologyField") {
        Some(field) => topology.slot(field),
        None => slots.get(mnemonic.as_str()).copied(),
    };
    Ok(StoreColumn {
        slot: slot.ok_or_else(|| format!("column {mnemonic} is not in the rows"))?,
        name: column
            .attribute("engineeringName")
            .unwrap_or(&mnemonic)
            .to_owned(),
        type_id: attribute("engineeringType")?,
        mnemonic,
    })
}

/// The form of the first field of every row: its time, and up to two categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topology {
    /// Time, category 1 and category 2: `XRT64_CC32_R`.
    Point,
    /// Time, duration, category 1 and category 2: `XRTD64_CC32_R`.
    Interval,
}

impl Topology {
    fn from_type(kind: u64) -> Option<Self> {
        match kind {
            7 => Some(Self::Point),
            6 => Some(Self::Interval),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Point => 16,
            Self::Interval => 24,
        }
    }

    fn slot(self, field: &str) -> Option<Slot> {
        match (self, field) {
            (_, "XRTraceRelativeTimestampFieldID") => Some(Slot::U64(0)),
            (Self::Interval, "XRDurationFieldID") => Some(Slot::U64(8)),
            (_, "XRCategory1FieldID") => Some(Slot::U32(self.size() - 8)),
            (_, "XRCategory2FieldID") => Some(Slot::U32(self.size() - 4)),
            _ => None,
        }
    }
}

/// Checks the header of a bulkstore against its descriptor.
pub(crate) fn check_header(header: &[u8], layout: &Layout) -> Result<(), String> {
    let word = |at| word(header, at);

    let row_size = u32::try_from(layout.row_size).ok();
    let per_block = word(24).unwrap_or(0);
    let expected = [
        ("magic", word(0), Some(0x1234_0a0a)),
        ("version", word(4), Some(3)),
        ("header size", word(8), Some(40)),
        ("start of rows", word(12), Some(HEADER)),
        ("row size", word(16), row_size),
        (
            "block size",
            word(20),
            row_size.and_then(|size| size.checked_mul(per_block)),
        ),
    ];

    match expected
        .into_iter()
        .find(|(_, found, expected)| found != expected)
    {
        None => Ok(()),
        Some((what, found, expected)) => Err(format!(
            "its {what} is {found:x?}, but {expected:x?} is expected"
        )),
    }
}

/// Offset of the first row.
pub(crate) const HEADER: u32 = 0x1000;
