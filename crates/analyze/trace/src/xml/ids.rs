//! Stores the value of each `id` of a node, so that a `ref` can be resolved.
//!
//! xctrace numbers every element that it writes, at any depth, from 1 and without holes, and refers
//! back to most of them: a million rows have ten million ids. This is the largest memory of the
//! reader, so it is compact: five bytes for each id, in blocks that are never copied. Ids that do
//! not follow this pattern are stored in a map, so that a hostile `id="999999999999"` costs an
//! entry and not a terabyte. So are ids of more than 255 tags, which no table has.

use rustc_hash::FxHashMap;

/// The number of the tag of an id. Never 0.
pub(crate) type TagId = u16;

/// The value of an id: a number, or the bits of a name's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defined {
    pub(crate) tag: TagId,
    /// `None` for an element without a value, such as a name of two sentinels.
    pub(crate) value: Option<u64>,
}

/// The values of all ids of a node.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    blocks: Vec<Box<IdBlock>>,
    sparse: FxHashMap<u64, Defined>,
    /// Values with more than 31 bits, in blocks of [`BLOCK_SIZE`].
    wide: Vec<Vec<u64>>,
    /// Ids that were defined in the current row.
    fresh: Vec<u64>,
}

const BLOCK_SIZE: usize = 1 << 14;

/// A block of ids. An undefined id has tag 0.
#[derive(Debug)]
struct IdBlock {
    tags: [u8; BLOCK_SIZE],
    values: [u32; BLOCK_SIZE],
}

/// Entry of `values` that means null.
const NULL: u32 = u32::MAX;
/// Bit of an entry of `values` that means that the other bits are a position in `wide`.
const WIDE: u32 = 1 << 31;

impl Ids {
    /// Removes all ids, since they belong to one node.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Defines an id. Returns false if it was defined before; then its value stays.
    pub(crate) fn define(&mut self, id: u64, defined: Defined) -> bool {
        let is_new = match (self.dense_place(id), u8::try_from(defined.tag)) {
            (Some((block, slot)), Ok(tag)) => self.define_dense(block, slot, tag, defined.value),
            _ => self.define_sparse(id, defined),
        };
        if is_new {
            self.fresh.push(id);
        }
        is_new
    }

    /// Begins a row. All ids defined before it stay.
    pub(crate) fn start_row(&mut self) {
        self.fresh.clear();
    }

    /// Removes the ids that were defined in the current row.
    pub(crate) fn undo_row(&mut self) {
        for id in std::mem::take(&mut self.fresh) {
            if self.sparse.remove(&id).is_none()
                && let Some((block, slot)) = split(id)
                && let Some(block) = self.blocks.get_mut(block)
            {
                block.tags[slot] = 0;
            }
        }
    }

    /// Returns the value of an id.
    pub(crate) fn get(&self, id: u64) -> Option<Defined> {
        let (block, slot) = split(id)?;
        let Some(block) = self.blocks.get(block) else {
            return self.sparse.get(&id).copied();
        };
        match block.tags[slot] {
            0 => self.sparse.get(&id).copied(),
            tag => Some(Defined {
                tag: tag.into(),
                value: self.unpack(block.values[slot]),
            }),
        }
    }

    /// Returns the position of an id in the blocks, if it lies in them or directly after them.
    fn dense_place(&mut self, id: u64) -> Option<(usize, usize)> {
        let (block, slot) = split(id)?;
        if block == self.blocks.len() {
            self.blocks.push(Box::new(IdBlock {
                tags: [0; BLOCK_SIZE],
                values: [0; BLOCK_SIZE],
            }));
        }
        (block < self.blocks.len() && !self.sparse.contains_key(&id)).then_some((block, slot))
    }

    fn define_dense(&mut self, block: usize, slot: usize, tag: u8, value: Option<u64>) -> bool {
        let packed = self.pack(value);
        let Some(block) = self.blocks.get_mut(block) else {
            return false;
        };
        if block.tags[slot] != 0 {
            return false;
        }
        block.tags[slot] = tag;
        block.values[slot] = packed;
        true
    }

    fn define_sparse(&mut self, id: u64, defined: Defined) -> bool {
        let is_new = self.get(id).is_none();
        if is_new {
            self.sparse.insert(id, defined);
        }
        is_new
    }

    fn pack(&mut self, value: Option<u64>) -> u32 {
        let Some(value) = value else { return NULL };
        if let Ok(small) = u32::try_from(value)
            && small < WIDE
        {
            return small;
        }
        // A doubled list of millions would be the peak of a document.
        let full = self
            .wide
            .last()
            .is_none_or(|block| block.len() == BLOCK_SIZE);
        if full {
            self.wide.push(Vec::with_capacity(BLOCK_SIZE));
        }
        let before = (self.wide.len() - 1) * BLOCK_SIZE;
        let place = self.wide.last_mut().map_or(0, |block| {
            block.push(value);
            before + block.len() - 1
        });
        // 2^31 - 1 wide values would take 16 GB, so memory runs out before this overflows.
        WIDE | u32::try_from(place).unwrap_or(0)
    }

    fn unpack(&self, packed: u32) -> Option<u64> {
        match packed {
            NULL => None,
            _ if packed >= WIDE => {
                let place = (packed - WIDE) as usize;
                let block = self.wide.get(place / BLOCK_SIZE)?;
                block.get(place % BLOCK_SIZE).copied()
            }
            _ => Some(u64::from(packed)),
        }
    }
}

fn split(id: u64) -> Option<(usize, usize)> {
    let id = usize::try_from(id).ok()?;
    Some((id / BLOCK_SIZE, id % BLOCK_SIZE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ids: &[u64], value: impl Fn(u64) -> Option<u64>) {
        let mut table = Ids::default();
        let definition = |id| Defined {
            tag: 1 + TagId::try_from(id % 7).unwrap(),
            value: value(id),
        };
        for &id in ids {
            assert_eq!(table.get(id), None, "{id}");
            assert!(table.define(id, definition(id)), "{id}");
        }
        for &id in ids {
            assert_eq!(table.get(id), Some(definition(id)), "{id}");
            assert!(!table.define(id, definition(id)), "{id} twice");
        }
        table.undo_row();
        for &id in ids {
            assert_eq!(table.get(id), None, "{id} was undone");
            assert!(table.define(id, definition(id)), "{id} again");
        }
    }

    #[test]
    fn ids_may_be_dense_sparse_and_out_of_order() {
        let dense: Vec<u64> = (1..50_000).collect();
        check(&dense, Some);
        check(&[5, 3, u64::MAX, 0, 1 << 40, 20_000, 4], Some);
    }

    #[test]
    fn ids_of_any_tag_are_defined_once() {
        let mut table = Ids::default();
        let tags = [1, 255, 256, TagId::MAX];
        for (id, tag) in (1..).zip(tags) {
            let defined = Defined {
                tag,
                value: Some(id),
            };
            assert!(table.define(id, defined));
            for tag in tags {
                assert!(!table.define(id, Defined { tag, value: None }), "{id}");
            }
            assert_eq!(table.get(id), Some(defined));
        }
        table.undo_row();
        assert_eq!(table.get(3), None);
    }

    #[test]
    fn values_of_every_width_and_null_are_kept() {
        let edge = [0, 1, (1 << 31) - 1, 1 << 31, u64::from(u32::MAX), u64::MAX];
        let ids: Vec<u64> = (0..6).collect();
        check(&ids, |id| Some(edge[usize::try_from(id).unwrap()]));
        check(&ids, |id| (id % 2 == 0).then_some(id));
    }
}
