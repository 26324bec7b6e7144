//! How a row is laid out: the topology field with the times, then the other columns, packed.

use super::etypes;
use crate::export::schemas::Schema;
use crate::export::table::widened;
use crate::scenario::Generation;

/// A table's rows in bytes.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Whether rows have a duration.
    pub(super) interval: bool,
    /// The columns as the table has them.
    pub(super) columns: Vec<Column>,
    /// The bytes of a row.
    pub(super) row_bytes: usize,
}

/// One column.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) mnemonic: &'static str,
    pub(super) name: &'static str,
    /// The engineering type's name in a bundle.
    pub(super) engineering_type: &'static str,
    /// The part of the topology field the value lives in; none when it has a field of its own.
    pub(super) topology_field: Option<&'static str>,
    /// Where in the row it starts.
    pub(super) offset: usize,
    /// How many bytes it takes.
    pub(super) width: usize,
}

/// What `_type` says of a field of a width.
pub(super) const fn field_type(width: usize) -> u64 {
    if width == 8 { 2 } else { 1 }
}

impl Layout {
    pub(super) fn of(schema: &Schema, generation: Generation) -> Self {
        let interval = schema
            .columns
            .get(1)
            .is_some_and(|column| column.0 == "duration");
        let mut row_bytes = if interval { 24 } else { 16 };
        let mut columns = Vec::new();
        for (position, (mnemonic, name, xml_type)) in schema.columns.iter().enumerate() {
            let known = etypes::of(widened(mnemonic, xml_type, generation));
            let (topology_field, offset, width) = match topology(schema, interval, position) {
                Some((field, offset, width)) => (Some(field), offset, width),
                None => (None, row_bytes, known.width),
            };
            if topology_field.is_none() {
                row_bytes += width;
            }
            columns.push(Column {
                mnemonic,
                name,
                engineering_type: known.id,
                topology_field,
                offset,
                width,
            });
        }
        Self {
            interval,
            columns,
            row_bytes,
        }
    }

    /// The name of the topology.
    pub(super) const fn topology(&self) -> &'static str {
        if self.interval {
            "XRTD64_CC32_R_TypeID"
        } else {
            "XRT64_CC32_R_TypeID"
        }
    }

    /// What `_type` says of the topology field.
    pub(super) const fn topology_type(&self) -> u64 {
        if self.interval { 6 } else { 7 }
    }

    /// The columns with fields of their own.
    pub(super) fn own_fields(&self) -> impl Iterator<Item = &Column> {
        let own = |column: &&Column| column.topology_field.is_none();
        self.columns.iter().filter(own)
    }
}

/// The topology's part a column lives in, with its offset and width.
fn topology(
    schema: &Schema,
    interval: bool,
    position: usize,
) -> Option<(&'static str, usize, usize)> {
    let category = if interval { 16 } else { 8 };
    match (position, schema.columns.get(position)?.2) {
        (0, _) => Some(("XRTraceRelativeTimestampFieldID", 0, 8)),
        (1, "duration") => Some(("XRDurationFieldID", 8, 8)),
        // The input tables keep their second column among the categories.
        (1, "pid" | "raw-string") => Some(("XRCategory1FieldID", category, 4)),
        (1, "thread") if !interval => Some(("XRCategory1FieldID", category, 4)),
        _ => None,
    }
}
