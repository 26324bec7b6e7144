//! Reads the values that the numbers in rows refer to: strings, lists of numbers, and lists of
//! typed numbers, each stored once for a run.

use std::cell::Cell;

use super::arrays::{Array, Arrays};
use super::files::{Files, SMALL, STRINGS};
use super::keyed::{Keyed, Object};
use super::typed_lists::TypedLists;
use super::types;
use super::xml_list::{self, Texts};
use crate::error::Result;

/// The unique values of one run.
pub(crate) struct Uniques {
    pub(crate) strings: Texts,
    /// Lists of numbers: processes, threads and stacks.
    pub(crate) arrays: Arrays,
    /// Lists of pairs of type and value: labels, narratives and messages.
    pub(crate) typed: TypedLists,
    /// Names of the types in typed lists, which depend on the version.
    pub(crate) types: Vec<String>,
    /// Remaining length of texts and stacks beyond the usual length.
    excess: Cell<usize>,
}

/// The type of the number at the end of a label.
pub(crate) const SUBMISSION: &str = "metal-encoder-id";

/// Length of a label, a name or a stack that is always allowed, in bytes or frames.
pub(crate) const USUAL_LENGTH: usize = 1_024;
/// Maximum total length beyond that. A list of a thousand references to one long text is small in
/// the file but takes a thousand texts in memory.
const MAX_EXCESS: usize = 64 << 20;

impl Uniques {
    /// Reads the values of a run, with `core` as `corespace/runN/core`.
    pub(crate) fn read(files: &Files, core: &str) -> Result<Self> {
        let folder = format!("{core}/uniquing");
        let strings_path = format!("{folder}/strings");
        let types_path = format!("{folder}/EngineeringTypes.etypes");
        let strings = files.stream_up_to(&strings_path, STRINGS, |list| {
            xml_list::strings(list, &files.shown(&strings_path))
        })?;
        let types = type_names(files.read(&types_path, SMALL)?)
            .ok_or_else(|| files.unsupported(&types_path, "it is not a list of types"))?;
        let is_number = |type_id: &String| types::lookup(type_id).0 == SUBMISSION;
        let is_number: Vec<bool> = types.iter().map(is_number).collect();
        Ok(Self {
            strings,
            arrays: Arrays::read(files, &format!("{folder}/arrayUniquer"))?,
            typed: TypedLists::read(files, &format!("{folder}/typedArrayUniquer"), &is_number)?,
            types,
            excess: Cell::new(MAX_EXCESS),
        })
    }

    /// Returns both numbers of a list of two.
    pub(crate) fn pair(&self, number: u64) -> Option<[u64; 2]> {
        let list = self.arrays.get(number).filter(|list| list.len() == 2)?;
        Some([list.get(0)?, list.get(1)?])
    }

    /// Returns true if a text of this length may grow by `more`.
    pub(crate) fn affords(&self, length: usize, more: usize) -> bool {
        if length.saturating_add(more) <= USUAL_LENGTH {
            return true;
        }
        let left = self.excess.get().checked_sub(more);
        self.excess.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns true if a stack of this length may grow by `more` frames, each of which is looked
    /// up.
    pub(crate) fn affords_frames(&self, length: usize, more: usize) -> bool {
        const COST: usize = 64;
        let is_usual = length.saturating_add(more) <= USUAL_LENGTH;
        is_usual || self.affords(USUAL_LENGTH, more.saturating_mul(COST))
    }

    /// Returns a string that names a process or a thread. It is used many times, so its length is
    /// limited.
    pub(crate) fn name(&self, index: u64) -> Option<&str> {
        self.string(index).filter(|name| name.len() <= USUAL_LENGTH)
    }

    pub(crate) fn string(&self, index: u64) -> Option<&str> {
        self.strings.get(usize::try_from(index).ok()?)
    }
}

/// Looks up every number of every kind, and some beyond the last, for fuzzing.
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

fn type_names(bytes: Vec<u8>) -> Option<Vec<String>> {
    let archive = Keyed::parse(bytes)?;
    let names = archive.root()?.items().map(Object::text);
    let names = names.map(|name| name.map(str::to_owned)).collect();
    if archive.exhausted() { None } else { names }
}

#[cfg(test)]
impl Uniques {
    /// Returns values with only lists of numbers.
    pub(crate) fn from_arrays(lists: &[&[u64]]) -> Self {
        let arrays = |lists: &[&[u64]]| {
            let (mut index, mut data) = (vec![0; super::arrays::INDEX_HEADER], Vec::new());
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
            typed: TypedLists::Stored(arrays(&[])),
            types: Vec::new(),
            excess: Cell::new(MAX_EXCESS),
        }
    }
}
