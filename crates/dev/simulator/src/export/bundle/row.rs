//! Writes cells as the bytes of a row: numbers directly, other values by reference.

use super::layout::Layout;
use super::uniquing::Uniquing;
use crate::plan::Plan;
use crate::sheet::{Kind, Value};

/// A buffer that takes one row after another.
#[derive(Debug)]
pub(super) struct RowCells<'a> {
    plan: &'a Plan,
    pub(super) uniquing: &'a mut Uniquing,
    pub(super) layout: Layout,
    row: Vec<u8>,
}

impl<'a> RowCells<'a> {
    pub(super) fn new(plan: &'a Plan, uniquing: &'a mut Uniquing, layout: Layout) -> Self {
        Self {
            plan,
            uniquing,
            row: vec![0; layout.row_bytes],
            layout,
        }
    }

    /// Returns the bytes of a row.
    pub(super) fn row(&mut self, values: &[Value<'_>]) -> &[u8] {
        self.row.fill(0);
        for (column, value) in self.layout.columns.iter().zip(values) {
            let stored = stored(self.plan, self.uniquing, column.kind, *value);
            // A value that does not fit its field becomes NULL.
            let bytes = if column.width == 8 {
                stored.to_le_bytes()
            } else {
                u64::from(u32::try_from(stored).unwrap_or(u32::MAX)).to_le_bytes()
            };
            self.row[column.offset..column.offset + column.width]
                .copy_from_slice(&bytes[..column.width]);
        }
        &self.row
    }
}

/// Returns a value as it is stored.
fn stored(plan: &Plan, uniquing: &mut Uniquing, kind: Kind, value: Value<'_>) -> u64 {
    let reference = match (value.in_column(kind, plan), kind) {
        // No known real bundle has a row with a percentage, so its encoding is unknown. The
        // percentages of counters are decimals in `gpu-counter-value`.
        (Value::Null | Value::Usual, _) | (Value::Number(_), Kind::Percent) => return u64::MAX,
        // Zero is stored as 2^63 - 1, so that negative values fit an unsigned number.
        (Value::Number(value), Kind::FixedDecimal) => return value + 0x7fff_ffff_ffff_ffff,
        (Value::Number(value), _) => return value,
        (Value::Worker(process), Kind::ThreadName) => return uniquing.worker_name(plan, process),
        (Value::Worker(process), _) => uniquing.worker(plan, process),
        (Value::Text(text), _) => uniquing.string(text),
        (Value::Process(process), Kind::Thread) => uniquing.thread(plan, process),
        (Value::Process(process), _) => uniquing.process(plan, process),
        (Value::Stack(stack), _) => uniquing.stack(plan, stack),
        (Value::Label(parts), _) => uniquing.label(plan, parts, true),
        (Value::LabelOnce(parts), _) => uniquing.label(plan, parts, false),
    };
    u64::from(reference)
}
