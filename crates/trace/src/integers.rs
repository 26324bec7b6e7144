//! A column of whole numbers, in little memory.

/// Whole numbers, any of which may be null.
///
/// Times, lengths and ids that stand near each other are near each other: each is
/// kept as what it is above its neighbours' base, in half the memory. A column in
/// which that once does not hold keeps all its numbers as they are.
#[derive(Debug, Clone, Default)]
pub struct Integers {
    /// How far each number is above its base, unless the column is wide.
    above: Vec<u32>,
    /// One per [`NEIGHBOURS`] numbers.
    bases: Vec<u64>,
    /// The numbers of a wide column.
    wide: Vec<u64>,
    /// One bit per row; empty up to the first null, since most columns have none.
    nulls: Vec<u64>,
}

/// So many numbers in a row have one base.
const NEIGHBOURS: usize = 256;

/// The base of neighbours whose first is this: they may be as much less as more.
fn base_of(first: u64) -> u64 {
    first.saturating_sub(1 << 31)
}

impl Integers {
    /// The value of a row, `None` for null.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<u64> {
        let value = match self.above.get(row) {
            Some(&above) => self.bases.get(row / NEIGHBOURS)? + u64::from(above),
            None => *self.wide.get(row)?,
        };
        (self.nulls.is_empty() || !self.is_null(row)).then_some(value)
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.above.len().max(self.wide.len())
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns what none of the numbers is above: the largest, or up to 2³² more. It
    /// takes no look at each row where the numbers are kept as what they are above others.
    #[must_use]
    pub fn at_most(&self) -> u64 {
        let bases = self.bases.iter();
        let near = bases.map(|base| base.saturating_add(u32::MAX.into()));
        near.chain(self.wide.iter().copied()).max().unwrap_or(0)
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    pub(crate) fn from_rows(rows: impl Iterator<Item = Option<u64>>) -> Self {
        let mut integers = Self::with_capacity(rows.size_hint().0);
        rows.for_each(|value| integers.push(value));
        integers
    }

    /// None yet, with room for so many.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self {
            above: Vec::with_capacity(rows),
            bases: Vec::with_capacity(rows.div_ceil(NEIGHBOURS)),
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.push_number(value),
            None => self.push_null(),
        }
    }

    /// Whether any row is null.
    pub(crate) fn has_nulls(&self) -> bool {
        !self.nulls.is_empty()
    }

    fn push_number(&mut self, value: u64) {
        if !self.wide.is_empty() {
            self.wide.push(value);
            return;
        }
        if self.above.len().is_multiple_of(NEIGHBOURS) {
            self.bases.push(base_of(value));
        }
        let base = self.bases.last().copied().unwrap_or(0);
        match value.checked_sub(base).map(u32::try_from) {
            Some(Ok(above)) => self.above.push(above),
            _ => self.push_far(value),
        }
    }

    /// A null stands as any number that fits.
    #[cold]
    fn push_null(&mut self) {
        let row = self.len();
        self.nulls.resize(row / 64 + 1, 0);
        if let Some(word) = self.nulls.last_mut() {
            *word |= 1 << (row % 64);
        }
        let near = match row.is_multiple_of(NEIGHBOURS) {
            true => row.checked_sub(1).map_or(0, |last| self.number(last)),
            false => self.bases.last().copied().unwrap_or(0),
        };
        self.push_number(near);
    }

    /// What stands in a row, null or not.
    fn number(&self, row: usize) -> u64 {
        let base = self.bases.get(row / NEIGHBOURS).copied().unwrap_or(0);
        let wide = || self.wide.get(row).copied().unwrap_or(0);
        let above = self.above.get(row);
        above.map_or_else(wide, |&above| base + u64::from(above))
    }

    /// Nulls have no base: where there are only those, this number gives it. Else
    /// all numbers are kept as they are from now on, this one too.
    #[cold]
    fn push_far(&mut self, value: u64) {
        let first = self.above.len() / NEIGHBOURS * NEIGHBOURS;
        if (first..self.above.len()).all(|row| self.is_null(row))
            && let Some(base) = self.bases.last_mut()
        {
            *base = base_of(value);
            self.above.push(u32::try_from(value - *base).unwrap_or(0));
            return;
        }
        let mut wide = Vec::with_capacity(self.above.capacity().max(self.above.len() + 1));
        wide.extend((0..self.above.len()).map(|row| self.number(row)));
        wide.push(value);
        (self.above, self.bases, self.wide) = (Vec::new(), Vec::new(), wide);
    }

    pub(crate) fn truncate(&mut self, rows: usize) {
        if rows >= self.len() {
            return;
        }
        self.above.truncate(rows);
        self.bases.truncate(rows.div_ceil(NEIGHBOURS));
        self.wide.truncate(rows);
        self.nulls.truncate(rows.div_ceil(64));
        if let Some(word) = self.nulls.get_mut(rows / 64) {
            *word &= (1 << (rows % 64)) - 1;
        }
    }

    fn is_null(&self, row: usize) -> bool {
        let word = self.nulls.get(row / 64).copied().unwrap_or(0);
        word >> (row % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_not_zero() {
        let mut column = Integers::default();
        let rows = [Some(0), None, Some(7), None];
        rows.iter().for_each(|&value| column.push(value));
        assert_eq!(column.iter().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn what_was_cut_off_leaves_no_null_behind() {
        let mut column = Integers::default();
        for row in 0..200 {
            column.push((row % 3 != 0).then_some(row));
        }
        column.truncate(99);
        for row in 99..200 {
            column.push(Some(row - 99));
        }
        for row in 0..200_u64 {
            let expected = match row {
                0..99 => (row % 3 != 0).then_some(row),
                _ => Some(row - 99),
            };
            assert_eq!(column.get(usize::try_from(row).unwrap()), expected);
        }
    }

    /// Numbers that fit their neighbours' base, barely do, and do not: each comes
    /// back as it was, before and after some are cut off.
    #[test]
    fn numbers_near_and_far() {
        let near: Vec<Option<u64>> = (0..700).map(|at| Some(5_000_000_000 + at * at)).collect();
        let check = |rows: &[Option<u64>], wide: bool| {
            let mut column = Integers::from_rows(rows.iter().copied());
            assert_eq!(column.iter().collect::<Vec<_>>(), rows);
            assert_eq!((column.len(), !column.wide.is_empty()), (rows.len(), wide));
            let largest = rows.iter().flatten().max().copied().unwrap_or(0);
            assert!((largest..=largest.saturating_add(1 << 32)).contains(&column.at_most()));
            column.truncate(300);
            let more = rows.iter().skip(300).rev();
            more.clone().for_each(|&value| column.push(value));
            let expected: Vec<_> = rows.iter().take(300).chain(more).copied().collect();
            assert_eq!(column.iter().collect::<Vec<_>>(), expected);
        };
        check(&near, false);
        let with = |at: usize, value: Option<u64>| {
            let mut rows = near.clone();
            rows[at] = value;
            rows
        };
        let base = 5_000_000_000 - (1 << 31);
        check(&with(9, Some(base)), false);
        check(&with(9, Some(base - 1)), true);
        check(&with(255, Some(base + u64::from(u32::MAX))), false);
        check(&with(255, Some(base + (1 << 32))), true);
        for at in [0, 255, 256, 699] {
            check(&with(at, None), false);
        }
        let mut late = near.clone();
        late[..300].fill(None);
        check(&late, false);
        // The first of their neighbours: the rest is far from it.
        check(&with(256, Some(0)), true);
        check(&with(256, Some(u64::MAX)), true);
        check(&with(699, Some(u64::MAX)), true);
        check(&vec![None; 600], false);
        check(&vec![Some(u64::MAX); 600], false);
    }
}
