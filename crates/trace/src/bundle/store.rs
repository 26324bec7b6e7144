//! The numbers of a store: the wanted fields of its rows, in an export's order.
//!
//! Stores keep rows as they came, an export shows them by time, rows of equal
//! time as they came. Reading stops behind the last row: what follows is
//! preallocated. Memory follows what the store really holds, never what its
//! descriptor claims.

use std::io::Read;

use super::files::Files;
use super::layout::{self, HEADER, Layout, Slot, StoreColumn, check_header};
use super::manager::Store;
use crate::error::{Problem, Result};

pub(crate) struct Rows {
    pub(crate) layout: Layout,
    /// The wanted fields.
    fields: Vec<Field>,
    /// Where each row is, by time; none if they came so.
    order: Option<Vec<u32>>,
    count: usize,
}

/// One field of all rows.
struct Field {
    slot: Slot,
    numbers: Numbers,
}

enum Numbers {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

/// This much is read of rows, however small they are stored.
const ALWAYS_READ: u64 = 1 << 20;

/// Rows that are read at a time.
const CHUNK: usize = 1 << 12;

impl Rows {
    /// Reads every column of a store.
    pub(crate) fn whole(files: &Files, store: &Store) -> Result<Self> {
        Self::read(files, store, layout::read(files, &store.path)?, |_| true)
    }

    /// Reads the wanted columns.
    pub(crate) fn read(
        files: &Files,
        store: &Store,
        layout: Layout,
        wanted: impl Fn(&StoreColumn) -> bool,
    ) -> Result<Self> {
        let path = format!("{}/bulkstore", store.path);
        let unsupported =
            |detail: String| files.error(&path, Problem::UnsupportedBundle { detail });
        let count = u32::try_from(layout.rows)
            .map_err(|_| unsupported(format!("{} rows are too many", layout.rows)))?;
        let size = u64::from(count).saturating_mul(layout.row_size as u64);
        if size > files.credible(&path, ALWAYS_READ) {
            let detail = format!("{count} rows are more than so few bytes can hold");
            return Err(unsupported(detail));
        }
        let columns = layout.columns.iter().filter(|column| wanted(column));
        let slots = columns.map(|column| column.slot).chain([layout.time]);
        let mut fields: Vec<Field> = Vec::new();
        for slot in slots {
            if fields.iter().all(|field| field.slot != slot) {
                fields.push(Field::new(slot));
            }
        }
        let mut rows = Self {
            layout,
            fields,
            order: None,
            count: count as usize,
        };
        files.stream(&path, |stored| {
            let mut header = vec![0; HEADER as usize];
            stored
                .read_exact(&mut header)
                .map_err(|error| unsupported(format!("its header cannot be read: {error}")))?;
            check_header(&header, &rows.layout).map_err(unsupported)?;
            rows.take_rows(stored).map_err(|read| {
                unsupported(format!("it holds {read} rows, its descriptor says {count}"))
            })
        })?;
        rows.sort(count);
        Ok(rows)
    }

    /// Takes the fields out of the rows; `Err` is how many rows there were.
    fn take_rows(&mut self, stored: &mut dyn Read) -> Result<(), usize> {
        let size = self.layout.row_size;
        let mut chunk = vec![0; CHUNK * size];
        let mut done = 0;
        while done < self.count {
            let rows = CHUNK.min(self.count - done);
            let bytes = chunk.get_mut(..rows * size).unwrap_or(&mut []);
            stored.read_exact(bytes).map_err(|_| done)?;
            for field in &mut self.fields {
                field.take(bytes, size);
            }
            done += rows;
        }
        Ok(())
    }

    /// Orders the rows by time, unless they are.
    fn sort(&mut self, count: u32) {
        let Some(time) = self
            .fields
            .iter()
            .find(|field| field.slot == self.layout.time)
        else {
            return;
        };
        if (1..self.count).all(|row| time.get(row - 1) <= time.get(row)) {
            return;
        }
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by_key(|&row| time.get(row as usize));
        self.order = Some(order);
    }

    /// The numbers of a field in the order of the export, all ones included.
    pub(crate) fn numbers(&self, slot: Slot) -> impl Iterator<Item = u64> {
        let field = self.fields.iter().find(|field| field.slot == slot);
        let place = |row: usize| match &self.order {
            Some(order) => order.get(row).map_or(row, |&at| at as usize),
            None => row,
        };
        let rows = if field.is_some() { self.count } else { 0 };
        (0..rows).map(move |row| field.map_or(0, |field| field.get(place(row))))
    }

    /// The same, null where all bits are set.
    pub(crate) fn values(&self, slot: Slot) -> impl Iterator<Item = Option<u64>> {
        let null = match slot {
            Slot::U32(_) => u64::from(u32::MAX),
            Slot::U64(_) => u64::MAX,
        };
        self.numbers(slot)
            .map(move |number| (number != null).then_some(number))
    }

    /// How many rows there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Where the column of a mnemonic is.
    pub(crate) fn slot(&self, mnemonic: &str) -> Option<Slot> {
        let mut columns = self.layout.columns.iter();
        columns
            .find(|column| column.mnemonic == mnemonic)
            .map(|column| column.slot)
    }
}

impl Field {
    fn new(slot: Slot) -> Self {
        let numbers = match slot {
            Slot::U32(_) => Numbers::Narrow(Vec::new()),
            Slot::U64(_) => Numbers::Wide(Vec::new()),
        };
        Self { slot, numbers }
    }

    fn take(&mut self, rows: &[u8], size: usize) {
        let rows = rows.chunks_exact(size);
        match (self.slot, &mut self.numbers) {
            (Slot::U32(at), Numbers::Narrow(numbers)) => {
                let field =
                    |row: &[u8]| row.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
                numbers.extend(rows.map(|row| u32::from_le_bytes(field(row).unwrap_or_default())));
            }
            (Slot::U64(at), Numbers::Wide(numbers)) => {
                let field =
                    |row: &[u8]| row.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
                numbers.extend(rows.map(|row| u64::from_le_bytes(field(row).unwrap_or_default())));
            }
            _ => {}
        }
    }

    fn get(&self, row: usize) -> u64 {
        match &self.numbers {
            Numbers::Narrow(numbers) => numbers.get(row).copied().map_or(0, u64::from),
            Numbers::Wide(numbers) => numbers.get(row).copied().unwrap_or(0),
        }
    }
}
