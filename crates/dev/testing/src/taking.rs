//! Takes parts of documents away, at random with a seed that a test fixes.

/// Returns a number below a limit, and changes the seed (splitmix64).
pub fn drawn(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((z ^ (z >> 31)) >> 32).unwrap() % below
}

/// A table's document without the rows after one of them.
pub struct CutTable {
    /// The document.
    pub document: String,
    /// Number of rows that are left.
    pub kept: usize,
    /// Number of rows before.
    pub all: usize,
}

/// Cuts a table's document at the end of a row; none if it has no rows.
pub fn without_tail(document: &str, seed: &mut u64) -> Option<CutTable> {
    let ends: Vec<usize> = document
        .match_indices("</row>")
        .map(|(start, end)| start + end.len())
        .collect();
    let last = *ends.last()?;
    let row = drawn(seed, ends.len());
    Some(CutTable {
        document: [&document[..ends[row]], &document[last..]].concat(),
        kept: row + 1,
        all: ends.len(),
    })
}
