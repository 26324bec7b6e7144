//! What the numbers in rows stand for: strings, lists of numbers, and lists of
//! typed numbers, each stored once per run.

use std::cell::Cell;

use super::files::{Files, LISTS, SMALL, STRINGS};
use super::keyed::{Keyed, Object};
use super::lists::Lists;
use super::types;
use super::xml_list::{self, Texts};
use crate::error::{Error, Problem, Result};

/// The uniqued values of one run.
pub(crate) struct Uniques {
    pub(crate) strings: Texts,
    /// Processes, threads, stacks.
    pub(crate) arrays: Arrays,
    /// Labels, narratives, messages: pairs of type and value.
    pub(crate) typed: Lists,
    /// What the types in typed lists are called; differs from version to version.
    pub(crate) types: Vec<String>,
    /// How much may still be made of them that is longer than usual.
    excess: Cell<usize>,
}

/// The type of the number at a label's end.
pub(crate) const SUBMISSION: &str = "metal-encoder-id";

/// A label, a name or a stack is seldom as long as this, in bytes or frames.
pub(crate) const USUAL: usize = 1_024;
/// What all that are longer may have together: a list of a thousand references
/// to one long text costs nothing in a file and a thousand texts here.
const EXCESS: usize = 64 << 20;

impl Uniques {
    /// Reads those of a run, `core` being `corespace/runN/core`.
    pub(crate) fn read(files: &Files, core: &str) -> Result<Self> {
        let folder = format!("{core}/uniquing");
        let strings_path = format!("{folder}/strings");
        let types_path = format!("{folder}/EngineeringTypes.etypes");
        let strings = files.stream_up_to(&strings_path, STRINGS, |list| {
            xml_list::strings(list, &files.shown(&strings_path))
        })?;
        let types = type_names(files.read(&types_path, SMALL)?)
            .ok_or_else(|| unsupported(files, &types_path, "it is no list of types"))?;
        let is_number = |type_id: &String| types::of(type_id).0 == SUBMISSION;
        let is_number: Vec<bool> = types.iter().map(is_number).collect();
        Ok(Self {
            strings,
            arrays: Arrays::read(files, &format!("{folder}/arrayUniquer"))?,
            typed: Lists::read(files, &format!("{folder}/typedArrayUniquer"), &is_number)?,
            types,
            excess: Cell::new(EXCESS),
        })
    }

    /// Whether something of a length that has grown to this can still grow by
    /// that much.
    pub(crate) fn affords(&self, length: usize, more: usize) -> bool {
        if length.saturating_add(more) <= USUAL {
            return true;
        }
        let left = self.excess.get().checked_sub(more);
        self.excess.set(left.unwrap_or(0));
        left.is_some()
    }

    /// The same of the frames of a stack, each of which is looked up.
    pub(crate) fn affords_frames(&self, length: usize, more: usize) -> bool {
        const COST: usize = 64;
        let usual = length.saturating_add(more) <= USUAL;
        usual || self.affords(USUAL, more.saturating_mul(COST))
    }

    /// A string that names a process or a thread, over and over again.
    pub(crate) fn name(&self, index: u64) -> Option<&str> {
        self.string(index).filter(|name| name.len() <= USUAL)
    }

    pub(crate) fn string(&self, index: u64) -> Option<&str> {
        self.strings.get(usize::try_from(index).ok()?)
    }
}

/// For fuzzing: every number of every kind, and some beyond the last.
pub(crate) fn look_up_all(files: &Files, core: &str) {
    let Ok(uniques) = Uniques::read(files, core) else {
        return;
    };
    look_up(|number| uniques.arrays.get(number), uniques.arrays.count());
    look_up(|number| uniques.typed.get(number), uniques.typed.count());
    for index in [uniques.strings.len() as u64, u64::MAX] {
        let _ = (uniques.string(index), uniques.name(index));
    }
}

fn look_up<'a>(get: impl Fn(u64) -> Option<Array<'a>>, count: usize) {
    let count = count as u64 + 2;
    for number in (0..count).chain([u64::from(u32::MAX), u64::MAX / 8, u64::MAX]) {
        let Some(array) = get(number) else {
            continue;
        };
        let _ = (array.iter().count(), array.get(array.len()));
        let _ = array.get(usize::MAX);
    }
}

fn unsupported(files: &Files, path: &str, detail: &str) -> Error {
    let detail = detail.to_owned();
    files.error(path, Problem::UnsupportedBundle { detail })
}

fn type_names(bytes: Vec<u8>) -> Option<Vec<String>> {
    let archive = Keyed::parse(bytes)?;
    let names = archive.root()?.items().map(Object::text);
    let names = names.map(|name| name.map(str::to_owned)).collect();
    if archive.exhausted() { None } else { names }
}

/// Lists of numbers behind an index. A list never crosses a block, and what a
/// block has left is padding, so lists are found by the index alone.
pub(crate) struct Arrays {
    index: Vec<u8>,
    data: Vec<u8>,
    block_size: usize,
}

pub(crate) const MAGIC: [u32; 6] = [0x0123_4567, 0x000a_337e, 1, 0, 1, 0];
pub(crate) const INDEX_HEADER: usize = 40;

impl Arrays {
    pub(crate) fn read(files: &Files, folder: &str) -> Result<Self> {
        let index_path = format!("{folder}/integeruniquer.index");
        let data_path = format!("{folder}/integeruniquer.data");
        let index = files.read(&index_path, LISTS)?;
        let data = files.read_up_to(&data_path, used(&index), LISTS)?;
        for (path, bytes) in [(&index_path, &index), (&data_path, &data)] {
            let header: Vec<Option<u32>> = (0..6).map(|at| word(bytes, 4 * at)).collect();
            if !header.iter().eq(MAGIC.map(Some).iter()) {
                return Err(unsupported(files, path, "its header was never seen"));
            }
        }
        let block_size = word(&index, 28).map(|size| size as usize).unwrap_or(0);
        if block_size == 0 || !(index.len() - INDEX_HEADER.min(index.len())).is_multiple_of(8) {
            return Err(unsupported(files, &index_path, "its sizes do not add up"));
        }
        Ok(Self {
            index,
            data,
            block_size,
        })
    }

    /// The list of a number; `None` if there is no such list.
    pub(crate) fn get(&self, number: u64) -> Option<Array<'_>> {
        let entry = INDEX_HEADER.checked_add(usize::try_from(number).ok()?.checked_mul(8)?)?;
        let offset = word(&self.index, entry)? as usize;
        let block = word(&self.index, entry + 4)? as usize;
        let start = block.checked_mul(self.block_size)?.checked_add(offset)?;
        let count = word(&self.data, start)? as usize;
        let first = start.checked_add(4)?;
        let bytes = first..first.checked_add(count.checked_mul(8)?)?;
        let inside = offset.checked_add(count.checked_mul(8)?.checked_add(4)?)? <= self.block_size;
        let bytes = self.data.get(bytes).filter(|_| inside)?;
        Some(Array::new(bytes, None))
    }

    /// For fuzzing: about as many as there are.
    pub(crate) fn count(&self) -> usize {
        self.index.len() / 8
    }
}

/// A list of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a> {
    bytes: &'a [u8],
    /// The number at this place is not the stored one but this.
    own: Option<(usize, u64)>,
}

impl<'a> Array<'a> {
    pub(crate) fn new(bytes: &'a [u8], own: Option<(usize, u64)>) -> Self {
        Self { bytes, own }
    }

    pub(crate) fn len(self) -> usize {
        self.bytes.len() / 8
    }

    pub(crate) fn get(self, at: usize) -> Option<u64> {
        if let Some((_, own)) = self.own.filter(|&(place, _)| place == at) {
            return Some(own);
        }
        let start = at.checked_mul(8)?;
        let bytes = self.bytes.get(start..start.checked_add(8)?)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u64> + 'a {
        (0..self.len()).filter_map(move |at| self.get(at))
    }
}

/// How much of the data an index refers to: whole blocks are preallocated, and
/// a recording that was not cleaned up has a hundred of them.
pub(crate) fn used(index: &[u8]) -> u64 {
    let entries = index.get(INDEX_HEADER..).unwrap_or(&[]).chunks_exact(8);
    let last = entries.filter_map(|entry| word(entry, 4)).max();
    let block_size = word(index, 28).unwrap_or(0);
    let blocks = last.map_or(0, u64::from).saturating_add(1);
    blocks.saturating_mul(u64::from(block_size))
}

pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
impl Uniques {
    /// Nothing but lists of numbers.
    pub(crate) fn of_arrays(lists: &[&[u64]]) -> Self {
        let arrays = |lists: &[&[u64]]| {
            let (mut index, mut data) = (vec![0; INDEX_HEADER], Vec::new());
            for list in lists {
                index.extend((data.len() as u64).to_le_bytes());
                data.extend(u32::try_from(list.len()).unwrap().to_le_bytes());
                data.extend(list.iter().flat_map(|number| number.to_le_bytes()));
            }
            let block_size = 1 << 20;
            Arrays {
                index,
                data,
                block_size,
            }
        };
        Self {
            strings: Texts::default(),
            arrays: arrays(lists),
            typed: Lists::Stored(arrays(&[])),
            types: Vec::new(),
            excess: Cell::new(EXCESS),
        }
    }
}
