//! What the numbers in rows stand for: strings, lists of numbers, and lists of
//! typed numbers, each stored once per run.

use plist::Value;

use super::files::Files;
use super::keyed::{Keyed, Object};
use crate::error::{Error, Problem, Result};

/// The uniqued values of one run.
pub(crate) struct Uniques {
    pub(crate) strings: Vec<String>,
    /// Processes, threads, stacks.
    pub(crate) arrays: Arrays,
    /// Labels, narratives, messages: pairs of type and value.
    pub(crate) typed: Arrays,
    /// What the types in typed lists are called; differs from version to version.
    pub(crate) types: Vec<String>,
}

impl Uniques {
    /// Reads those of a run, `core` being `corespace/runN/core`.
    pub(crate) fn read(files: &Files, core: &str) -> Result<Self> {
        let folder = format!("{core}/uniquing");
        let strings_path = format!("{folder}/strings");
        let types_path = format!("{folder}/EngineeringTypes.etypes");
        let strings = strings(&files.read(&strings_path)?)
            .ok_or_else(|| unsupported(files, &strings_path, "it is no list of strings"))?;
        let types = types(&files.read(&types_path)?)
            .ok_or_else(|| unsupported(files, &types_path, "it is no list of types"))?;
        Ok(Self {
            strings,
            arrays: Arrays::read(files, &format!("{folder}/arrayUniquer"))?,
            typed: Arrays::read(files, &format!("{folder}/typedArrayUniquer"))?,
            types,
        })
    }

    pub(crate) fn string(&self, index: u64) -> Option<&str> {
        self.strings
            .get(usize::try_from(index).ok()?)
            .map(String::as_str)
    }
}

fn unsupported(files: &Files, path: &str, detail: &str) -> Error {
    let detail = detail.to_owned();
    files.error(path, Problem::UnsupportedBundle { detail })
}

fn strings(bytes: &[u8]) -> Option<Vec<String>> {
    let list = Value::from_reader(std::io::Cursor::new(bytes))
        .ok()?
        .into_array()?;
    list.into_iter().map(Value::into_string).collect()
}

fn types(bytes: &[u8]) -> Option<Vec<String>> {
    let archive = Keyed::parse(bytes)?;
    let names = archive.root()?.items().map(Object::text);
    names.map(|name| name.map(str::to_owned)).collect()
}

/// Lists of numbers behind an index. A list never crosses a block, and what a
/// block has left is padding, so lists are found by the index alone.
pub(crate) struct Arrays {
    index: Vec<u8>,
    data: Vec<u8>,
    block_size: usize,
}

const MAGIC: [u32; 6] = [0x0123_4567, 0x000a_337e, 1, 0, 1, 0];
const INDEX_HEADER: usize = 40;

impl Arrays {
    fn read(files: &Files, folder: &str) -> Result<Self> {
        let index_path = format!("{folder}/integeruniquer.index");
        let data_path = format!("{folder}/integeruniquer.data");
        let index = files.read(&index_path)?;
        let data = files.read(&data_path)?;
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
        let bytes = start + 4..start.checked_add(4)?.checked_add(count.checked_mul(8)?)?;
        let inside = offset.checked_add(4 + 8 * count)? <= self.block_size;
        let bytes = self.data.get(bytes).filter(|_| inside)?;
        Some(Array { bytes })
    }
}

/// A list of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a> {
    bytes: &'a [u8],
}

impl<'a> Array<'a> {
    pub(crate) fn len(self) -> usize {
        self.bytes.len() / 8
    }

    pub(crate) fn get(self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(8 * at..8 * at + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u64> + 'a {
        let chunks = self.bytes.chunks_exact(8);
        chunks.filter_map(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}
