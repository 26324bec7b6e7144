//! The typed lists of a run, of which a recording has one for every label it
//! displays: a million, nearly all of them the same but for one number.
//!
//! ```text
//! stored   "Command Buffer 0:" "sin" … bench 0x1f     kept   form 0, 0x1f
//!          "Command Buffer 0:" "cos" … bench 0x20            form 1, 0x20
//!          "Command Buffer 0:" "sin" … bench 0x21            form 0, 0x21
//! ```
//!
//! They are read block by block, and of each only its form and its number are
//! kept: a tenth of what is stored. Nothing is lost, a list is given out whole.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::arrays::{Array, Arrays, INDEX_HEADER, MAGIC, used, word};
use super::files::{Files, LISTS};
use crate::error::Result;
use crate::integers::Integers;

/// Typed lists.
pub(crate) enum Lists {
    /// As they are stored.
    Stored(Arrays),
    /// Form and number of each.
    Short(Short),
}

impl Lists {
    /// Reads those of a folder. `is_number` says of which types a list's last
    /// value is its number.
    pub(crate) fn read(files: &Files, folder: &str, is_number: &[bool]) -> Result<Self> {
        // What is odd about a store is said, or borne, by who reads it whole.
        Ok(match Short::read(files, folder, is_number)? {
            Some(short) => Self::Short(short),
            None => Self::Stored(Arrays::read(files, folder)?),
        })
    }

    /// The list of a number; `None` if there is no such list.
    pub(crate) fn get(&self, number: u64) -> Option<Array<'_>> {
        match self {
            Self::Stored(arrays) => arrays.get(number),
            Self::Short(short) => short.get(number),
        }
    }

    /// The form of a list, from 0, and its own number. Lists of one form differ
    /// in nothing but that number.
    pub(crate) fn form(&self, number: u64) -> Option<(usize, u64)> {
        match self {
            Self::Stored(_) => None,
            Self::Short(short) => short.form(number),
        }
    }

    /// For fuzzing: about as many as there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Stored(arrays) => arrays.count(),
            Self::Short(short) => short.form_of.len(),
        }
    }
}

/// Form and number of each list.
#[derive(Default)]
pub(crate) struct Short {
    /// By the number of a list.
    form_of: Vec<u32>,
    /// Of a list that has one; else 0.
    own: Integers,
    forms: Forms,
}

/// No list: the index points to none.
const NOTHING: u32 = u32::MAX;

/// Blocks have 1 MiB. What has more is not of this kind.
const LARGEST_BLOCK: usize = 16 << 20;

impl Short {
    /// `None` if they are not as they always were, one behind the other in the
    /// order of the index.
    fn read(files: &Files, folder: &str, is_number: &[bool]) -> Result<Option<Self>> {
        let index = files.read(&format!("{folder}/integeruniquer.index"), LISTS)?;
        let block_size = word(&index, 28).map_or(0, |size| size as usize);
        let entries = index.get(INDEX_HEADER..).unwrap_or(&[]);
        let expected = has_magic(&index)
            && (1..=LARGEST_BLOCK).contains(&block_size)
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
        // Of a block that is not there, as of one that was passed, no list is left.
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
        let own = own_number(list, is_number);
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

/// Distinct lists, regardless of what number they have.
#[derive(Default)]
struct Forms {
    /// End to end.
    bytes: Vec<u8>,
    all: Vec<Form>,
    known: HashTable<u32>,
}

#[derive(Clone, Copy)]
struct Form {
    start: usize,
    end: usize,
    /// Which value is the list's own number.
    own: Option<usize>,
}

impl Forms {
    fn find_or_add(&mut self, list: &[u8], own: Option<usize>) -> u32 {
        let (bytes, all) = (&self.bytes, &self.all);
        let form = |id: u32| all.get(id as usize);
        let list_of = |form: &Form| bytes.get(form.start..form.end).unwrap_or(&[]);
        let is_it = |&id: &u32| {
            form(id).is_some_and(|form| form.own == own && alike(list_of(form), list, own))
        };
        let hash = hash_of(list, own);
        if let Some(&known) = self.known.find(hash, is_it) {
            return known;
        }
        // So many differ only where there are four billion: then the last is no list.
        let id = u32::try_from(all.len()).unwrap_or(NOTHING);
        let rehash = |&id: &u32| form(id).map_or(0, |form| hash_of(list_of(form), form.own));
        self.known.insert_unique(hash, id, rehash);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(list);
        let end = self.bytes.len();
        self.all.push(Form { start, end, own });
        id
    }
}

/// Where the last value of such a type stands in a list.
fn own_number(list: &[u8], is_number: &[bool]) -> Option<usize> {
    let is_own = |&at: &usize| {
        let kind = usize::try_from(number(list, 2 * at)).ok();
        kind.and_then(|kind| is_number.get(kind)) == Some(&true)
    };
    let own = (0..list.len() / 16).rev().find(is_own);
    own.map(|at| 2 * at + 1)
}

/// Whether two lists are the same but for the value at a place.
fn alike(one: &[u8], two: &[u8], but: Option<usize>) -> bool {
    let Some(at) = but.map(|at| 8 * at) else {
        return one == two;
    };
    let same = |range: (usize, usize)| one.get(range.0..range.1) == two.get(range.0..range.1);
    one.len() == two.len() && same((0, at)) && same((at + 8, one.len()))
}

/// Of all values but the one at a place.
fn hash_of(list: &[u8], but: Option<usize>) -> u64 {
    // Types and values apart: either takes its time, but not the other's.
    let (mut kinds, mut values) = (FxHasher::default(), FxHasher::default());
    let pairs = list.chunks_exact(16).enumerate();
    for (at, pair) in pairs {
        kinds.write_u64(number(pair, 0));
        if but != Some(2 * at + 1) {
            values.write_u64(number(pair, 1));
        }
    }
    kinds.write_usize(list.len());
    kinds.write_u64(values.finish());
    kinds.finish()
}

/// The list at a place of a block: its count, and its numbers.
fn list_at(block: &[u8], offset: usize, block_size: usize) -> Option<&[u8]> {
    let count = word(block, offset)? as usize;
    let first = offset.checked_add(4)?;
    let end = first.checked_add(count.checked_mul(8)?)?;
    block.get(first..end).filter(|_| end <= block_size)
}

/// Block and offset of an entry of the index.
fn place(entry: &[u8]) -> (u32, usize) {
    let [offset, block] = [0, 4].map(|at| word(entry, at).unwrap_or(0));
    (block, offset as usize)
}

fn number(list: &[u8], at: usize) -> u64 {
    let bytes = list.get(8 * at..8 * at + 8);
    let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_le_bytes)
}

fn has_magic(bytes: &[u8]) -> bool {
    (0..MAGIC.len()).all(|at| word(bytes, 4 * at) == MAGIC.get(at).copied())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Of this type is a list's own number.
    const NUMBER: u64 = 1;
    /// Numbers in a block.
    const BLOCK: usize = 256;

    /// Lists of numbers, each at a place: block, offset. A list may reach out of
    /// its block, and blocks that nothing is in may be missing.
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

    /// Read short, if `forms` are expected, or as they are stored: the lists are
    /// those that the plain reader finds.
    fn check(lists: &[(u32, u32, &[u64])], blocks: usize, forms: Option<usize>) {
        let files = files(lists, blocks);
        let stored = Arrays::read(&files, "lists").unwrap();
        let found = Lists::read(&files, "lists", &[false, true]).unwrap();
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
            Lists::Short(short) => Some(short.forms.all.len()),
            Lists::Stored(_) => None,
        };
        assert_eq!(short, forms, "{lists:?}");
    }

    #[test]
    fn no_list_is_lost() {
        let (one, two) = ([0, 7, NUMBER, 100], [0, 7, NUMBER, 101]);
        check(&[(0, 40, &one), (0, 80, &two)], 1, Some(1));
        // Of two numbers the last is the list's own; another type or place is no number.
        let (both, other) = ([NUMBER, 5, NUMBER, 6], [NUMBER, 6, NUMBER, 6]);
        check(&[(0, 40, &both), (0, 80, &other)], 1, Some(2));
        check(&[(0, 40, &[2, 100]), (0, 80, &[3, 100])], 1, Some(2));
        check(
            &[(0, 40, &[NUMBER]), (0, 60, &[]), (0, 64, &[])],
            1,
            Some(2),
        );
        // As long, the number elsewhere.
        check(
            &[(0, 40, &[NUMBER, 0, 0, 0]), (0, 80, &[0, 0, NUMBER, 0])],
            1,
            Some(2),
        );
        // In several blocks, of which some are empty or not there.
        let far: &[(u32, u32, &[u64])] =
            &[(0, 40, &one), (2, 0, &two), (2, 36, &one), (7, 0, &two)];
        check(far, 3, Some(1));
        check(far, 8, Some(1));
    }

    #[test]
    fn what_points_nowhere_is_no_list() {
        // It would end behind its block; it begins behind it.
        check(
            &[(0, 40, &[1; 8]), (0, 200, &[1; 8]), (1, 0, &[5])],
            2,
            Some(2),
        );
        check(&[(0, 40, &[2]), (0, 254, &[]), (0, 300, &[])], 2, Some(1));
        check(&[], 1, Some(0));
    }

    #[test]
    fn lists_in_another_order_are_read_as_they_are_stored() {
        check(&[(0, 80, &[2, 3]), (0, 40, &[4, 5])], 1, None);
        check(&[(1, 0, &[2, 3]), (0, 40, &[4, 5])], 2, None);
        // The second begins inside the first.
        check(&[(0, 40, &[2, 3, 4]), (0, 52, &[])], 1, None);
        check(&[(0, 40, &[2]), (0, 40, &[2])], 1, None);
    }
}
