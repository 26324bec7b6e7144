//! Computes the layout of a row: the topology field with the times, then the other columns, packed.

use crate::scenario::Scenario;
use crate::sheet::{Kind, Schema};

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
    pub(super) kind: Kind,
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
        let second = schema.columns.get(1).map(|column| column.kind);
        let has_duration = second == Some(Kind::Duration);
        let mut row_bytes = if has_duration { 24 } else { 16 };
        let mut columns = Vec::new();

        for (position, column) in schema.columns_in(scenario.xcode).enumerate() {
            let kind = match column.kind {
                Kind::Backtrace if scenario.recording.tagged_stacks => Kind::TaggedBacktrace,
                kind => kind,
            };
            let (topology_field, offset, width) = match topology(kind, has_duration, position) {
                Some((field, offset, width)) => (Some(field), offset, width),
                None => (None, row_bytes, kind.facts().width),
            };
            if topology_field.is_none() {
                row_bytes += width;
            }

            columns.push(Column {
                mnemonic: column.mnemonic,
                name: column.name,
                kind,
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
    kind: Kind,
    has_duration: bool,
    position: usize,
) -> Option<(&'static str, usize, usize)> {
    let category = if has_duration { 16 } else { 8 };
    match (position, kind) {
        (0, _) => Some(("XRTraceRelativeTimestampFieldID", 0, 8)),
        (1, Kind::Duration) => Some(("XRDurationFieldID", 8, 8)),
        // Input tables keep their second column among the categories.
        (1, Kind::Pid | Kind::RawString) => Some(("XRCategory1FieldID", category, 4)),
        (1, Kind::Thread) if !has_duration => Some(("XRCategory1FieldID", category, 4)),
        _ => None,
    }
}
