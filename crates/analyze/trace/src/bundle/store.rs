//! Reads the numbers of a store: the selected fields of its rows, in the order of an export.
//!
//! A store keeps rows in the order of recording, an export sorts them by time, rows of equal time
//! in the order of recording. The space after the last row is preallocated and contains zeros, and
//! no real store ends with a row of only zeros. So a row count that is too small or too large is
//! detected. Memory depends on the actual content of the store, not on its descriptor.

use std::io::{self, Read};

use super::files::{Files, REST_PIECE, fill};
use super::layout::{self, HEADER, Layout, Slot, StoreColumn, check_header};
use super::manager::Store;
use crate::error::Result;
use crate::integers::Integers;

/// The rows of a store, in the order of an export.
pub(crate) struct Rows {
    pub(crate) layout: Layout,
    /// The fields that the selected columns use.
    fields: Vec<Field>,
    count: usize,
}

/// One field of all rows.
struct Field {
    slot: Slot,
    numbers: Numbers,
    /// Number of selected columns that use this field.
    columns: usize,
}

/// The numbers of a field.
#[derive(Clone)]
pub(crate) enum Numbers {
    /// Numbers of 4 bytes.
    Narrow(Vec<u32>),
    /// Numbers of 8 bytes. All bits set mean null.
    Wide(Integers),
}

/// Inflated size of rows that is always allowed, in bytes.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// Number of rows that are read at once.
const CHUNK: usize = 1 << 12;

/// Preallocated zeros, as they follow the rows of a store.
static ZEROS: [u8; REST_PIECE] = [0; REST_PIECE];

impl Rows {
    /// Reads every column of a store.
    pub(crate) fn read_all(files: &Files, store: &Store) -> Result<Self> {
        Self::read(files, store, layout::read_listed(files, store)?, |_| true)
    }

    /// Reads the selected columns of a store.
    pub(crate) fn read(
        files: &Files,
        store: &Store,
        layout: Layout,
        wanted: impl Fn(&StoreColumn) -> bool,
    ) -> Result<Self> {
        let rows = Self::read_stored(files, store, layout, wanted);
        rows.map_err(|error| error.at_table(&store.schema))
    }

    /// Reads the wanted columns of a bulkstore, in the order in which it stores the rows.
    fn read_stored(
        files: &Files,
        store: &Store,
        layout: Layout,
        wanted: impl Fn(&StoreColumn) -> bool,
    ) -> Result<Self> {
        let path = format!("{}/bulkstore", store.path);
        let unsupported = |detail: String| files.unsupported(&path, detail);
        let count = u32::try_from(layout.rows)
            .map_err(|_| unsupported(format!("its row count {} is too large", layout.rows)))?;
        let size = u64::from(count).saturating_mul(layout.row_size as u64);
        if size > files.max_inflated(&path, ALWAYS_ALLOWED) {
            let detail = format!("its row count {count} is too large for its file size");
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
                    "it has {read} rows, but its descriptor has {count}"
                )));
            }
            if written < rows.count {
                return Err(unsupported(format!(
                    "its descriptor has {count} rows, but only the first {written} are written"
                )));
            }

            // Only preallocated zeros may follow. Other bits are rows that the descriptor lacks.
            let mut has_more = false;
            files.drain(&path, stored, |piece| {
                has_more |= ZEROS.get(..piece.len()) != Some(piece);
            })?;
            if has_more {
                return Err(unsupported(format!(
                    "it has more rows than the {count} in its descriptor"
                )));
            }
            Ok(())
        })?;

        rows.sort(count);
        Ok(rows)
    }

    /// Reads the fields of the rows. Returns the number of rows, and the number of rows up to the
    /// last one that is not only zeros.
    fn take_rows(&mut self, stored: &mut dyn Read) -> io::Result<(usize, usize)> {
        let size = self.layout.row_size;
        let mut chunk = vec![0; CHUNK.min(self.count) * size];
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

    /// Sorts the rows by time, unless they are sorted.
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

    /// Returns the numbers of a field, null if all bits are set.
    pub(crate) fn values(&self, slot: Slot) -> impl Iterator<Item = Option<u64>> {
        let field = self.fields.iter().find(|field| field.slot == slot);
        let rows = if field.is_some() { self.count } else { 0 };
        (0..rows).map(move |row| field.and_then(|field| field.numbers.get(row)))
    }

    /// Removes and returns the numbers of a field for one of its columns.
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

    /// Returns the number of rows.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the slot of a column by its mnemonic.
    pub(crate) fn slot(&self, mnemonic: &str) -> Option<Slot> {
        let mut columns = self.layout.columns.iter();
        columns
            .find(|column| column.mnemonic == mnemonic)
            .map(|column| column.slot)
    }
}

impl Field {
    /// Returns each field once, and the time.
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

    /// Appends the numbers of this field from a block of rows.
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
    /// Returns an empty field with room for the expected rows, but at most a million, since the
    /// expected number may be wrong.
    fn with_room(slot: Slot, rows: usize) -> Self {
        const MAX_ROOM: usize = 1 << 20;
        match slot {
            Slot::U32(_) => Self::Narrow(Vec::with_capacity(rows.min(MAX_ROOM))),
            Slot::U64(_) => Self::Wide(Integers::with_capacity(rows.min(MAX_ROOM))),
        }
    }

    /// Returns the number of a row, null if all bits are set.
    fn get(&self, row: usize) -> Option<u64> {
        match self {
            Self::Narrow(numbers) => numbers.get(row).and_then(|&number| present(number)),
            Self::Wide(numbers) => numbers.get(row),
        }
    }

    /// Returns the numbers as a column, null if all bits are set.
    pub(crate) fn into_integers(self) -> Integers {
        match self {
            Self::Narrow(numbers) => Integers::from_rows(numbers.into_iter().map(present)),
            Self::Wide(numbers) => numbers,
        }
    }

    /// Returns the numbers as a column, also with all bits set.
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

    /// Returns the order of the rows by time, with rows of equal time in their stored order. None
    /// if they are sorted.
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

        // Numbers of time and row are faster to sort and never equal.
        let mut keys: Vec<u64> = (0..count)
            .map(|row| time(row) << row_bits | u64::from(row))
            .collect();
        sort_nearly_sorted(&mut keys);
        let row_of = |key: u64| u32::try_from(key & ((1 << row_bits) - 1)).unwrap_or(0);
        Some(keys.into_iter().map(row_of).collect())
    }

    fn in_order(&self, order: &[u32]) -> Self {
        let rows = order.iter().map(|&row| row as usize);
        match self {
            Self::Narrow(numbers) => Self::Narrow(
                rows.map(|row| numbers.get(row).copied().unwrap_or(0))
                    .collect(),
            ),
            Self::Wide(numbers) => {
                Self::Wide(Integers::from_rows(rows.map(|row| numbers.get(row))))
            }
        }
    }
}

/// Sorts nearly sorted numbers by insertion: the rows of a real store are at most a few dozen
/// places from their final one. If many are farther, all are sorted normally.
fn sort_nearly_sorted(keys: &mut [u64]) {
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

/// Returns a number of 4 bytes, unless it is null.
pub(crate) fn present(number: u32) -> Option<u64> {
    (number != u32::MAX).then_some(u64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_sorted_and_unsorted_numbers_are_sorted() {
        let check = |keys: Vec<u64>| {
            let (mut ours, mut sorted) = (keys.clone(), keys);
            sort_nearly_sorted(&mut ours);
            sorted.sort_unstable();
            assert_eq!(ours, sorted);
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
