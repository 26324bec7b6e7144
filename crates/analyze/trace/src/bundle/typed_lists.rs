//! Reads the typed lists of a run. A recording has one for every displayed label: a million, nearly
//! all of them equal except for one number.
//!
//! ```text
//! stored   "Command Buffer 0:" "sin" … bench 0x1f     kept   form 0, 0x1f
//!          "Command Buffer 0:" "cos" … bench 0x20            form 1, 0x20
//!          "Command Buffer 0:" "sin" … bench 0x21            form 0, 0x21
//! ```
//!
//! The lists are read block by block. Only the form and the number of each list are kept, which
//! takes a tenth of the stored size. Lists are returned completely.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::arrays::{Array, Arrays, INDEX_HEADER, MAGIC, used};
use super::files::{Files, LISTS};
use super::little_endian::{long, word};
use crate::error::Result;
use crate::integers::Integers;

/// The typed lists of a run.
pub(crate) enum TypedLists {
    /// The lists as they are stored.
    Stored(Arrays),
    /// Form and number of each list.
    Compact(CompactLists),
}

impl TypedLists {
    /// Reads the lists of a folder. `is_number` is true for the types whose last value is the
    /// number of a list.
    pub(crate) fn read(files: &Files, folder: &str, is_number: &[bool]) -> Result<Self> {
        // An unusual layout is handled or refused by the reader of stored lists.
        Ok(match CompactLists::read(files, folder, is_number)? {
            Some(short) => Self::Compact(short),
            None => Self::Stored(Arrays::read(files, folder)?),
        })
    }

    /// Returns a list, or `None` if there is no such list.
    pub(crate) fn get(&self, number: u64) -> Option<Array<'_>> {
        match self {
            Self::Stored(arrays) => arrays.get(number),
            Self::Compact(short) => short.get(number),
        }
    }

    /// Returns the form of a list, from 0, and its number. Lists of one form differ only in that
    /// number.
    pub(crate) fn form(&self, number: u64) -> Option<(usize, u64)> {
        match self {
            Self::Stored(_) => None,
            Self::Compact(short) => short.form(number),
        }
    }

    /// Returns the approximate number of lists, for fuzzing.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Stored(arrays) => arrays.count(),
            Self::Compact(short) => short.form_of.len(),
        }
    }
}

/// Lists that are stored as form and number.
#[derive(Default)]
pub(crate) struct CompactLists {
    /// Form of each list, by its index.
    form_of: Vec<u32>,
    /// Number of each list; 0 if it has none.
    own: Integers,
    forms: ListForms,
}

/// Entry of `form_of` for an index entry that points to no list.
const NOTHING: u32 = u32::MAX;

/// Maximum size of a block, in bytes. Real blocks have 1 MiB.
const MAX_BLOCK_SIZE: usize = 16 << 20;

impl CompactLists {
    /// Reads the lists. `None` if they do not have the usual layout: one after another, in the
    /// order of the index.
    fn read(files: &Files, folder: &str, is_number: &[bool]) -> Result<Option<Self>> {
        let index = files.read(&format!("{folder}/integeruniquer.index"), LISTS)?;
        let block_size = word(&index, 28).map_or(0, |size| size as usize);
        let entries = index.get(INDEX_HEADER..).unwrap_or(&[]);
        let expected = has_magic(&index)
            && (1..=MAX_BLOCK_SIZE).contains(&block_size)
            && entries.len().is_multiple_of(8);
        if !expected {
            return Ok(None);
        }

        let mut short = Self::default();
        let mut entries = entries.chunks_exact(8).map(place).peekable();
        let (mut block, mut orderly) = (0_u32, true);
        let path = format!("{folder}/integeruniquer.data");
        files.read_in_pieces(&path, used(&index), block_size, |bytes| {
            orderly = orderly && (block > 0 || has_magic(bytes));
            let mut end = 0;
            while let Some((_, offset)) = entries.next_if(|&(at, _)| orderly && at == block) {
                orderly = offset >= end;
                let list = list_at(bytes, offset, block_size);
                end = list.map_or(end, |list| offset + 4 + list.len());
                short.add(list, is_number);
            }
            block += 1;
        })?;

        // A missing block and a block that was already read have no further lists.
        let rest = entries.inspect(|&(at, _)| orderly = orderly && at >= block);
        let rest = rest.count();
        short.form_of.extend(std::iter::repeat_n(NOTHING, rest));
        Ok(orderly.then_some(short))
    }

    fn add(&mut self, list: Option<&[u8]>, is_number: &[bool]) {
        let Some(list) = list else {
            self.form_of.push(NOTHING);
            self.own.push(Some(0));
            return;
        };
        let own = position_of_number(list, is_number);
        self.form_of.push(self.forms.find_or_add(list, own));
        self.own.push(Some(own.map_or(0, |at| number(list, at))));
    }

    fn form(&self, number: u64) -> Option<(usize, u64)> {
        let at = usize::try_from(number).ok()?;
        let form = *self.form_of.get(at).filter(|&&form| form != NOTHING)?;
        Some((form as usize, self.own.get(at)?))
    }

    fn get(&self, number: u64) -> Option<Array<'_>> {
        let (form, own) = self.form(number)?;
        let form = self.forms.all.get(form)?;
        let bytes = self.forms.bytes.get(form.start..form.end)?;
        Some(Array::new(bytes, form.own.map(|at| (at, own))))
    }
}

/// Distinct lists, without regard to their numbers.
#[derive(Default)]
struct ListForms {
    /// Bytes of all forms, without separators.
    bytes: Vec<u8>,
    all: Vec<ListForm>,
    known: HashTable<u32>,
}

/// A form: the bytes that all its lists share.
#[derive(Clone, Copy)]
struct ListForm {
    start: usize,
    end: usize,
    /// Position of the value that is the number of the list.
    own: Option<usize>,
}

impl ListForms {
    /// Returns the number of a list's form, and adds a form that is new.
    fn find_or_add(&mut self, list: &[u8], own: Option<usize>) -> u32 {
        let (bytes, all) = (&self.bytes, &self.all);
        let form = |id: u32| all.get(id as usize);
        let list_of = |form: &ListForm| bytes.get(form.start..form.end).unwrap_or(&[]);
        let is_same_form = |&id: &u32| {
            form(id)
                .is_some_and(|form| form.own == own && are_equal_except(list_of(form), list, own))
        };
        let hash = hash_of(list, own);
        if let Some(&known) = self.known.find(hash, is_same_form) {
            return known;
        }
        // This overflows only with four billion forms; then the last one is no list.
        let id = u32::try_from(all.len()).unwrap_or(NOTHING);
        let rehash = |&id: &u32| form(id).map_or(0, |form| hash_of(list_of(form), form.own));
        self.known.insert_unique(hash, id, rehash);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(list);
        let end = self.bytes.len();
        self.all.push(ListForm { start, end, own });
        id
    }
}

/// Returns the position of the last value of such a type in a list.
fn position_of_number(list: &[u8], is_number: &[bool]) -> Option<usize> {
    let is_own = |&at: &usize| {
        let kind = usize::try_from(number(list, 2 * at)).ok();
        kind.and_then(|kind| is_number.get(kind)) == Some(&true)
    };
    let own = (0..list.len() / 16).rev().find(is_own);
    own.map(|at| 2 * at + 1)
}

/// Returns true if two lists are equal except for the value at a position.
fn are_equal_except(a: &[u8], b: &[u8], except: Option<usize>) -> bool {
    let Some(at) = except.map(|at| 8 * at) else {
        return a == b;
    };

    let is_equal = |from: usize, to: usize| a.get(from..to) == b.get(from..to);
    a.len() == b.len() && is_equal(0, at) && is_equal(at + 8, a.len())
}

/// Returns a hash of all values except the one at a position.
fn hash_of(list: &[u8], except: Option<usize>) -> u64 {
    // Two hashers, for types and values, run in parallel in the processor.
    let (mut kinds, mut values) = (FxHasher::default(), FxHasher::default());
    let pairs = list.chunks_exact(16).enumerate();
    for (at, pair) in pairs {
        kinds.write_u64(number(pair, 0));
        if except != Some(2 * at + 1) {
            values.write_u64(number(pair, 1));
        }
    }
    kinds.write_usize(list.len());
    kinds.write_u64(values.finish());
    kinds.finish()
}

/// Returns the list at an offset of a block, where its count and its numbers are stored.
fn list_at(block: &[u8], offset: usize, block_size: usize) -> Option<&[u8]> {
    let count = word(block, offset)? as usize;
    let first = offset.checked_add(4)?;
    let end = first.checked_add(count.checked_mul(8)?)?;
    block.get(first..end).filter(|_| end <= block_size)
}

/// Returns the block and the offset of an entry of the index.
fn place(entry: &[u8]) -> (u32, usize) {
    let [offset, block] = [0, 4].map(|at| word(entry, at).unwrap_or(0));
    (block, offset as usize)
}

fn number(list: &[u8], at: usize) -> u64 {
    long(list, 8 * at).unwrap_or(0)
}

fn has_magic(bytes: &[u8]) -> bool {
    (0..MAGIC.len()).all(|at| word(bytes, 4 * at) == MAGIC.get(at).copied())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The type of the number of a list.
    const NUMBER: u64 = 1;
    /// Size of a block, in bytes.
    const BLOCK: usize = 256;

    /// Returns the files of lists with their blocks and offsets. A list may end beyond its block,
    /// and empty blocks may be missing.
    fn files(lists: &[(u32, u32, &[u64])], blocks: usize) -> Files {
        let header = |size: usize| {
            let mut header: Vec<u8> = MAGIC.iter().flat_map(|word| word.to_le_bytes()).collect();
            header.extend([0; 4]);
            header.extend(u32::try_from(BLOCK).unwrap().to_le_bytes());
            header.resize(size, 0);
            header
        };

        let (mut index, mut data) = (header(INDEX_HEADER), header(BLOCK * blocks));
        for &(block, offset, list) in lists {
            index.extend(offset.to_le_bytes());
            index.extend(block.to_le_bytes());
            let mut bytes = u32::try_from(list.len()).unwrap().to_le_bytes().to_vec();
            bytes.extend(list.iter().flat_map(|number| number.to_le_bytes()));
            let start = block as usize * BLOCK + offset as usize;
            for (at, byte) in bytes.into_iter().enumerate() {
                if let Some(place) = data.get_mut(start + at) {
                    *place = byte;
                }
            }
        }

        let index = ("lists/integeruniquer.index".to_owned(), index);
        Files::memory(BTreeMap::from([
            index,
            ("lists/integeruniquer.data".to_owned(), data),
        ]))
    }

    /// Checks that the lists are those of the plain reader, in compact form if `forms` are
    /// expected.
    fn check(lists: &[(u32, u32, &[u64])], blocks: usize, forms: Option<usize>) {
        let files = files(lists, blocks);
        let stored = Arrays::read(&files, "lists").unwrap();
        let found = TypedLists::read(&files, "lists", &[false, true]).unwrap();
        let numbers =
            |array: Option<Array<'_>>| array.map(|array| array.iter().collect::<Vec<_>>());
        for number in (0..lists.len() as u64 + 2).chain([u64::MAX]) {
            let expected = numbers(stored.get(number));
            assert_eq!(
                numbers(found.get(number)),
                expected,
                "{number} of {lists:?}"
            );
        }
        let short = match &found {
            TypedLists::Compact(lists) => Some(lists.forms.all.len()),
            TypedLists::Stored(_) => None,
        };
        assert_eq!(short, forms, "{lists:?}");
    }

    #[test]
    fn all_lists_are_kept() {
        let (one, two) = ([0, 7, NUMBER, 100], [0, 7, NUMBER, 101]);
        check(&[(0, 40, &one), (0, 80, &two)], 1, Some(1));
        // The last of two numbers is the number of the list; a value of another type is not.
        let (both, other) = ([NUMBER, 5, NUMBER, 6], [NUMBER, 6, NUMBER, 6]);
        check(&[(0, 40, &both), (0, 80, &other)], 1, Some(2));
        check(&[(0, 40, &[2, 100]), (0, 80, &[3, 100])], 1, Some(2));
        check(
            &[(0, 40, &[NUMBER]), (0, 60, &[]), (0, 64, &[])],
            1,
            Some(2),
        );

        // Lists of equal length with the number at different positions.
        check(
            &[(0, 40, &[NUMBER, 0, 0, 0]), (0, 80, &[0, 0, NUMBER, 0])],
            1,
            Some(2),
        );

        // Several blocks, some of them empty or missing.
        let far: &[(u32, u32, &[u64])] =
            &[(0, 40, &one), (2, 0, &two), (2, 36, &one), (7, 0, &two)];
        check(far, 3, Some(1));
        check(far, 8, Some(1));
    }

    #[test]
    fn entries_that_point_nowhere_are_no_lists() {
        // One ends after its block, one begins after it.
        check(
            &[(0, 40, &[1; 8]), (0, 200, &[1; 8]), (1, 0, &[5])],
            2,
            Some(2),
        );
        check(&[(0, 40, &[2]), (0, 254, &[]), (0, 300, &[])], 2, Some(1));
        check(&[], 1, Some(0));
    }

    #[test]
    fn lists_in_another_order_are_kept_as_stored() {
        check(&[(0, 80, &[2, 3]), (0, 40, &[4, 5])], 1, None);
        check(&[(1, 0, &[2, 3]), (0, 40, &[4, 5])], 2, None);
        // The second begins inside the first.
        check(&[(0, 40, &[2, 3, 4]), (0, 52, &[])], 1, None);
        check(&[(0, 40, &[2]), (0, 40, &[2])], 1, None);
    }
}
