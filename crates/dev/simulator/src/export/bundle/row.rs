//! Writes cells as the bytes of a row: numbers directly, other values by reference.

use super::layout::Layout;
use super::uniquing::Uniquing;
use crate::export::cells::{Cells, Number, Part, Text};
use crate::export::functions::Stack;
use crate::plan::{Plan, ProcessIndex};

/// A buffer that takes one row after another.
#[derive(Debug)]
pub(super) struct RowCells<'a> {
    plan: &'a Plan,
    pub(super) uniquing: &'a mut Uniquing,
    pub(super) layout: Layout,
    row: Vec<u8>,
    column: usize,
}

impl<'a> RowCells<'a> {
    pub(super) fn new(plan: &'a Plan, uniquing: &'a mut Uniquing, layout: Layout) -> Self {
        Self {
            plan,
            uniquing,
            row: vec![0; layout.row_bytes],
            layout,
            column: 0,
        }
    }

    /// Clears the buffer for a new row.
    pub(super) fn clear(&mut self) {
        self.row.fill(0);
        self.column = 0;
    }

    /// Returns the bytes of the complete row.
    pub(super) fn row(&self) -> &[u8] {
        debug_assert_eq!(
            self.column,
            self.layout.columns.len(),
            "one cell per column"
        );
        &self.row
    }

    /// Writes a value as it is stored. A value that does not fit its field becomes NULL.
    pub(super) fn raw(&mut self, value: u64) {
        let Some(column) = self.layout.columns.get(self.column) else {
            return;
        };
        let bytes = if column.width == 8 {
            value.to_le_bytes()
        } else {
            u64::from(u32::try_from(value).unwrap_or(u32::MAX)).to_le_bytes()
        };
        self.row[column.offset..column.offset + column.width]
            .copy_from_slice(&bytes[..column.width]);
        self.column += 1;
    }
}

impl Cells for RowCells<'_> {
    /// Writes a NULL cell: all bits are ones.
    fn nothing(&mut self) {
        self.raw(u64::MAX);
    }

    fn number(&mut self, kind: Number, value: u64) {
        match kind {
            // Zero is stored as 2^63 - 1, so that negative values fit an unsigned number.
            Number::FixedDecimal => self.raw(value + 0x7fff_ffff_ffff_ffff),
            _ => self.raw(value),
        }
    }

    /// Writes NULL: no known real bundle has a row with a percentage, so its encoding is unknown.
    /// The percentages of counters are decimals in `gpu-counter-value`.
    fn percent(&mut self, _billionths: u64) {
        self.nothing();
    }

    fn text(&mut self, _kind: Text, value: &str) {
        let id = self.uniquing.string(value);
        self.raw(u64::from(id));
    }

    fn process(&mut self, process: ProcessIndex) {
        let id = self.uniquing.process(self.plan, process);
        self.raw(u64::from(id));
    }

    fn thread(&mut self, process: ProcessIndex) {
        let id = self.uniquing.thread(self.plan, process);
        self.raw(u64::from(id));
    }

    fn stack(&mut self, stack: &Stack<'_>) {
        let id = self.uniquing.stack(self.plan, stack);
        self.raw(u64::from(id));
    }

    fn label(&mut self, _tag: &'static str, parts: &[Part<'_>]) {
        let id = self.uniquing.label(self.plan, parts, true);
        self.raw(u64::from(id));
    }

    fn label_once(&mut self, _tag: &'static str, parts: &[Part<'_>]) {
        let id = self.uniquing.label(self.plan, parts, false);
        self.raw(u64::from(id));
    }
}
