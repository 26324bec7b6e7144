//! What the numbers in rows stand for: strings, lists of numbers, and lists of
//! typed numbers, each stored once per run.

use std::cell::Cell;

use super::arrays::{Array, Arrays, unsupported};
use super::files::{Files, SMALL, STRINGS};
use super::keyed::{Keyed, Object};
use super::lists::Lists;
use super::types;
use super::xml_list::{self, Texts};
use crate::error::Result;

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

fn type_names(bytes: Vec<u8>) -> Option<Vec<String>> {
    let archive = Keyed::parse(bytes)?;
    let names = archive.root()?.items().map(Object::text);
    let names = names.map(|name| name.map(str::to_owned)).collect();
    if archive.exhausted() { None } else { names }
}

#[cfg(test)]
impl Uniques {
    /// Nothing but lists of numbers.
    pub(crate) fn of_arrays(lists: &[&[u64]]) -> Self {
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
            typed: Lists::Stored(arrays(&[])),
            types: Vec::new(),
            excess: Cell::new(EXCESS),
        }
    }
}
