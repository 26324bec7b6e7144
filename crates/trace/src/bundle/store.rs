//! The numbers of a store: the wanted fields of its rows, in an export's order.
//!
//! Stores keep rows as they came, an export shows them by time, rows of equal
//! time as they came. What follows the last row is preallocated, and zeros: rows
//! that nobody counted would not be, and no real store ends with a row of nothing
//! but zeros, so that neither a count too small nor one too large is believed.
//! Memory follows what the store really holds, never what its descriptor claims.

use std::io::{self, Read};

use super::files::{Files, fill};
use super::layout::{self, HEADER, Layout, Slot, StoreColumn, check_header};
use super::manager::Store;
use crate::error::{Problem, Result};
use crate::integers::Integers;

/// In the order of an export.
pub(crate) struct Rows {
    pub(crate) layout: Layout,
    /// The wanted fields.
    fields: Vec<Field>,
    count: usize,
}

/// One field of all rows.
struct Field {
    slot: Slot,
    numbers: Numbers,
    /// How many wanted columns are this field.
    columns: usize,
}

/// The numbers of a field.
#[derive(Clone)]
pub(crate) enum Numbers {
    /// Of 4 bytes each.
    Narrow(Vec<u32>),
    /// Of 8 bytes each. All ones is null.
    Wide(Integers),
}

/// This much is read of rows, however small they are stored.
const ALWAYS_READ: u64 = 1 << 20;

/// Rows that are read at a time.
const CHUNK: usize = 1 << 12;

impl Rows {
    /// Reads every column of a store.
    pub(crate) fn whole(files: &Files, store: &Store) -> Result<Self> {
        Self::read(files, store, layout::of_store(files, store)?, |_| true)
    }

    /// Reads the wanted columns.
    pub(crate) fn read(
        files: &Files,
        store: &Store,
        layout: Layout,
        wanted: impl Fn(&StoreColumn) -> bool,
    ) -> Result<Self> {
        let rows = Self::read_stored(files, store, layout, wanted);
        rows.map_err(|error| error.at_table(&store.schema))
    }

    fn read_stored(
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
        let slots = columns.map(|column| column.slot);
        let mut rows = Self {
            fields: Field::all(slots, layout.time, count as usize),
            layout,
            count: count as usize,
        };
        files.stream(&path, |stored| {
            let mut header = vec![0; HEADER as usize];
            let read = stored.read_exact(&mut header);
            read.map_err(|error| files.io_error(&path, error))?;
            check_header(&header, &rows.layout).map_err(unsupported)?;
            let written = rows.take_rows(stored);
            let (read, written) = written.map_err(|error| files.io_error(&path, error))?;
            if read < rows.count {
                return Err(unsupported(format!(
                    "it holds {read} rows, its descriptor says {count}"
                )));
            }
            if written < rows.count {
                return Err(unsupported(format!(
                    "its descriptor says {count} rows, but nothing is written behind the first \
                     {written}"
                )));
            }
            let mut all = 0;
            // Without a branch for each byte: that would take longer.
            files.drain(&path, stored, |piece| {
                all = piece.iter().fold(all, |all, byte| all | byte);
            })?;
            match all {
                0 => Ok(()),
                _ => Err(unsupported(format!(
                    "it holds more rows than the {count} that its descriptor says"
                ))),
            }
        })?;
        rows.sort(count);
        Ok(rows)
    }

    /// Takes the fields out of the rows; returns how many there are, and the place behind
    /// the last of which anything is written.
    fn take_rows(&mut self, stored: &mut dyn Read) -> io::Result<(usize, usize)> {
        let size = self.layout.row_size;
        let mut chunk = vec![0; CHUNK * size];
        let (mut done, mut written) = (0, 0);
        while done < self.count {
            let wanted = CHUNK.min(self.count - done);
            let filled = fill(stored, chunk.get_mut(..wanted * size).unwrap_or(&mut []))?;
            let rows = filled / size;
            let bytes = chunk.get(..rows * size).unwrap_or(&[]);
            for field in &mut self.fields {
                field.take(bytes, size);
            }
            let is_blank = |row: &&[u8]| row.iter().all(|&byte| byte == 0);
            let blank = bytes.rchunks_exact(size).take_while(is_blank).count();
            done += rows;
            if blank < rows {
                written = done - blank;
            }
            if rows < wanted {
                break;
            }
        }
        Ok((done, written))
    }

    /// Orders the rows by time, unless they are.
    fn sort(&mut self, count: u32) {
        let time = self.layout.time;
        let times = self.fields.iter().find(|field| field.slot == time);
        let order = times.and_then(|field| field.numbers.order(count));
        self.fields.retain(|field| field.columns > 0);
        if let Some(order) = order {
            for field in &mut self.fields {
                field.numbers = field.numbers.in_order(&order);
            }
        }
    }

    /// The numbers of a field, null where all bits are set.
    pub(crate) fn values(&self, slot: Slot) -> impl Iterator<Item = Option<u64>> {
        let field = self.fields.iter().find(|field| field.slot == slot);
        let rows = if field.is_some() { self.count } else { 0 };
        (0..rows).map(move |row| field.and_then(|field| field.numbers.get(row)))
    }

    /// Takes the numbers of a field for one of the columns that it is.
    pub(crate) fn take(&mut self, slot: Slot) -> Numbers {
        let field = self.fields.iter_mut().find(|field| field.slot == slot);
        match field {
            Some(field) if field.columns > 1 => {
                field.columns -= 1;
                field.numbers.clone()
            }
            Some(field) => std::mem::take(&mut field.numbers),
            None => Numbers::default(),
        }
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
    /// Each of these once, and the time.
    fn all(slots: impl Iterator<Item = Slot>, time: Slot, rows: usize) -> Vec<Self> {
        let mut fields: Vec<Self> = Vec::new();
        for (slot, columns) in slots.map(|slot| (slot, 1)).chain([(time, 0)]) {
            match fields.iter_mut().find(|field| field.slot == slot) {
                Some(known) => known.columns += columns,
                None => fields.push(Self {
                    slot,
                    numbers: Numbers::with_room(slot, rows),
                    columns,
                }),
            }
        }
        fields
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
                for row in rows {
                    let number = u64::from_le_bytes(field(row).unwrap_or_default());
                    numbers.push((number != u64::MAX).then_some(number));
                }
            }
            _ => {}
        }
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Numbers {
    /// None yet. Room is made for as many as are said to come, but not for more
    /// than would fit any machine: what is said may be a lie.
    fn with_room(slot: Slot, rows: usize) -> Self {
        const MOST: usize = 1 << 20;
        match slot {
            Slot::U32(_) => Self::Narrow(Vec::with_capacity(rows.min(MOST))),
            Slot::U64(_) => Self::Wide(Integers::with_capacity(rows.min(MOST))),
        }
    }

    /// Null where all bits are set.
    fn get(&self, row: usize) -> Option<u64> {
        match self {
            Self::Narrow(numbers) => numbers.get(row).and_then(|&number| present(number)),
            Self::Wide(numbers) => numbers.get(row),
        }
    }

    /// As a column, null where all bits are set.
    pub(crate) fn into_integers(self) -> Integers {
        match self {
            Self::Narrow(numbers) => Integers::from_rows(numbers.into_iter().map(present)),
            Self::Wide(numbers) => numbers,
        }
    }

    /// As a column, all ones included.
    pub(crate) fn into_full_integers(self) -> Integers {
        match self {
            Self::Narrow(numbers) => {
                Integers::from_rows(numbers.into_iter().map(|number| Some(u64::from(number))))
            }
            Self::Wide(numbers) if !numbers.has_nulls() => numbers,
            Self::Wide(numbers) => Integers::from_rows(
                numbers
                    .iter()
                    .map(|number| Some(number.unwrap_or(u64::MAX))),
            ),
        }
    }

    /// Where each row stands by time, rows of equal time as they came. None if
    /// they came so.
    fn order(&self, count: u32) -> Option<Vec<u32>> {
        let time = |row: u32| self.get(row as usize).unwrap_or(u64::MAX);
        let mut last = 0;
        let is_sorted = (0..count).all(|row| {
            let before = std::mem::replace(&mut last, time(row));
            before <= last
        });
        if is_sorted {
            return None;
        }
        let latest = (0..count).map(time).max().unwrap_or(0);
        let row_bits = u32::BITS - count.leading_zeros();
        if latest.leading_zeros() < row_bits {
            let mut order: Vec<u32> = (0..count).collect();
            order.sort_by_key(|&row| time(row));
            return Some(order);
        }
        // Time and row in one number: quicker to sort, and never equal.
        let mut keys: Vec<u64> = (0..count)
            .map(|row| time(row) << row_bits | u64::from(row))
            .collect();
        settle(&mut keys);
        let row_of = |key: u64| u32::try_from(key & ((1 << row_bits) - 1)).unwrap_or(0);
        Some(keys.into_iter().map(row_of).collect())
    }

    fn in_order(&self, order: &[u32]) -> Self {
        let rows = order.iter().map(|&row| row as usize);
        match self {
            Self::Narrow(numbers) => {
                let number = |row: usize| numbers.get(row).copied().unwrap_or(0);
                Self::Narrow(rows.map(number).collect())
            }
            Self::Wide(numbers) => {
                Self::Wide(Integers::from_rows(rows.map(|row| numbers.get(row))))
            }
        }
    }
}

/// Sorts what is nearly sorted: the rows of a real store stand at most a few dozen
/// places from their own. Should many stand far, that ends soon, and all are sorted.
fn settle(keys: &mut [u64]) {
    let mut hops_left = keys.len().saturating_mul(8);
    for at in 1..keys.len() {
        let (before, rest) = keys.split_at(at);
        let key = rest.first().copied().unwrap_or(u64::MAX);
        let later = before.iter().rev().take_while(|&&other| other > key);
        let hops = later.count();
        if hops == 0 {
            continue;
        }
        let Some(left) = hops_left.checked_sub(hops) else {
            return keys.sort_unstable();
        };
        hops_left = left;
        if let Some(moved) = keys.get_mut(at - hops..=at) {
            moved.rotate_right(1);
        }
    }
}

/// A number of 4 bytes, unless it is null.
pub(crate) fn present(number: u32) -> Option<u64> {
    (number != u32::MAX).then_some(u64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few out of place, many far out of place, and reversed: sorted all the same.
    #[test]
    fn settled_is_sorted() {
        let check = |keys: Vec<u64>| {
            let (mut settled, mut sorted) = (keys.clone(), keys);
            settle(&mut settled);
            sorted.sort_unstable();
            assert_eq!(settled, sorted);
        };
        let swapped = |distance: usize| {
            let mut keys: Vec<u64> = (0..1_000).collect();
            for at in (0..1_000 - distance).step_by(distance + 1) {
                keys.swap(at, at + distance);
            }
            keys
        };
        check(vec![]);
        check(vec![7]);
        for distance in [1, 7, 20, 300, 999] {
            check(swapped(distance));
        }
        check((0..1_000).rev().collect());
        check([(500..1_000), (0..500)].into_iter().flatten().collect());
    }
}
