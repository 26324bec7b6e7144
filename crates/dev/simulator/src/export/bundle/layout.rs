//! Computes the layout of a row: the topology field with the times, then the other columns, packed.

use super::etypes;
use crate::export::schema::{Schema, widened};
use crate::scenario::Scenario;

/// The layout of a table's rows in bytes.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// True if rows have a duration.
    pub(super) has_duration: bool,
    /// Columns in the order of the table.
    pub(super) columns: Vec<Column>,
    /// Size of a row, in bytes.
    pub(super) row_bytes: usize,
}

/// The position of one column in a row.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) mnemonic: &'static str,
    pub(super) name: &'static str,
    /// Name of the engineering type in a bundle.
    pub(super) engineering_type: &'static str,
    /// Part of the topology field that has the value, or `None` if the column has its own field.
    pub(super) topology_field: Option<&'static str>,
    /// Offset in the row, in bytes.
    pub(super) offset: usize,
    /// Width of the value, in bytes.
    pub(super) width: usize,
}

/// Returns the value of `_type` for a field of this width in bytes.
pub(super) const fn field_type(width: usize) -> u64 {
    if width == 8 { 2 } else { 1 }
}

impl Layout {
    /// Places the columns in a row, as Instruments does.
    pub(super) fn new(schema: &Schema, scenario: &Scenario) -> Self {
        let has_duration = schema
            .columns
            .get(1)
            .is_some_and(|column| column.0 == "duration");
        let mut row_bytes = if has_duration { 24 } else { 16 };
        let mut columns = Vec::new();

        for (position, (mnemonic, name, xml_type)) in schema.columns.iter().enumerate() {
            let known = etypes::by_xml_name(match *xml_type {
                "backtrace" if scenario.recording.tagged_stacks => "tagged-backtrace",
                xml_type => widened(mnemonic, xml_type, scenario.xcode),
            });
            let (topology_field, offset, width) = match topology(schema, has_duration, position) {
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
            has_duration,
            columns,
            row_bytes,
        }
    }

    /// Returns the name of the topology.
    pub(super) const fn topology(&self) -> &'static str {
        if self.has_duration {
            "XRTD64_CC32_R_TypeID"
        } else {
            "XRT64_CC32_R_TypeID"
        }
    }

    /// Returns the value of `_type` for the topology field.
    pub(super) const fn topology_type(&self) -> u64 {
        if self.has_duration { 6 } else { 7 }
    }

    /// Returns the columns with fields of their own.
    pub(super) fn own_fields(&self) -> impl Iterator<Item = &Column> {
        self.columns
            .iter()
            .filter(|column| column.topology_field.is_none())
    }
}

/// Returns the part of the topology field for a column, with its offset and width.
fn topology(
    schema: &Schema,
    has_duration: bool,
    position: usize,
) -> Option<(&'static str, usize, usize)> {
    let category = if has_duration { 16 } else { 8 };
    match (position, schema.columns.get(position)?.2) {
        (0, _) => Some(("XRTraceRelativeTimestampFieldID", 0, 8)),
        (1, "duration") => Some(("XRDurationFieldID", 8, 8)),
        // Input tables keep their second column among the categories.
        (1, "pid" | "raw-string") => Some(("XRCategory1FieldID", category, 4)),
        (1, "thread") if !has_duration => Some(("XRCategory1FieldID", category, 4)),
        _ => None,
    }
}
