//! Stores a column of whole numbers in little memory.

/// A column of whole numbers, any of which may be null.
///
/// Times, lengths and ids of neighboring rows are close to each other. Each is stored as an offset
/// from the base of its group, in half the memory. If an offset of a column does not fit, the
/// column stores all its numbers unchanged.
#[derive(Debug, Clone, Default)]
pub struct Integers {
    /// Offset of each number from the base of its group, unless the column is wide.
    offsets: Vec<u32>,
    /// Base of each group of [`GROUP_SIZE`] numbers.
    bases: Vec<u64>,
    /// Numbers of a wide column.
    wide: Vec<u64>,
    /// One bit for each row. Empty before the first null, since most columns have none.
    nulls: Vec<u64>,
}

/// Number of consecutive rows with the same base.
const GROUP_SIZE: usize = 256;

/// Returns the base of a group with this first number. The others may be equally far below or
/// above it.
fn base_of(first: u64) -> u64 {
    first.saturating_sub(1 << 31)
}

impl Integers {
    /// Returns the value of a row, `None` for null.
    pub fn get(&self, row: usize) -> Option<u64> {
        let value = match self.offsets.get(row) {
            Some(&offset) => self.bases.get(row / GROUP_SIZE)? + u64::from(offset),
            None => *self.wide.get(row)?,
        };
        (self.nulls.is_empty() || !self.is_null(row)).then_some(value)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().max(self.wide.len())
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an upper bound of all numbers: the largest, or up to 2³² more. Reads only the bases
    /// unless the column is wide, so it is fast.
    pub fn upper_bound(&self) -> u64 {
        let bases = self.bases.iter();
        let near = bases.map(|base| base.saturating_add(u32::MAX.into()));
        near.chain(self.wide.iter().copied()).max().unwrap_or(0)
    }

    /// Returns the values of all rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    pub(crate) fn from_rows(rows: impl Iterator<Item = Option<u64>>) -> Self {
        let mut integers = Self::with_capacity(rows.size_hint().0);
        rows.for_each(|value| integers.push(value));
        integers
    }

    /// Returns an empty column with room for a number of rows.
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self {
            offsets: Vec::with_capacity(rows),
            bases: Vec::with_capacity(rows.div_ceil(GROUP_SIZE)),
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.push_number(value),
            None => self.push_null(),
        }
    }

    /// Returns true if any row is null.
    pub(crate) fn has_nulls(&self) -> bool {
        !self.nulls.is_empty()
    }

    fn push_number(&mut self, value: u64) {
        if !self.wide.is_empty() {
            self.wide.push(value);
            return;
        }
        if self.offsets.len().is_multiple_of(GROUP_SIZE) {
            self.bases.push(base_of(value));
        }
        let base = self.bases.last().copied().unwrap_or(0);
        match value.checked_sub(base).map(u32::try_from) {
            Some(Ok(offset)) => self.offsets.push(offset),
            _ => self.push_out_of_range(value),
        }
    }

    /// Adds a null, stored as any number that fits.
    #[cold]
    fn push_null(&mut self) {
        let row = self.len();
        self.nulls.resize(row / 64 + 1, 0);
        if let Some(word) = self.nulls.last_mut() {
            *word |= 1 << (row % 64);
        }
        let fitting = if row.is_multiple_of(GROUP_SIZE) {
            row.checked_sub(1).map_or(0, |last| self.number(last))
        } else {
            self.bases.last().copied().unwrap_or(0)
        };
        self.push_number(fitting);
    }

    /// Returns the stored number of a row, whether it is null or not.
    fn number(&self, row: usize) -> u64 {
        let base = self.bases.get(row / GROUP_SIZE).copied().unwrap_or(0);
        match self.offsets.get(row) {
            Some(&offset) => base + u64::from(offset),
            None => self.wide.get(row).copied().unwrap_or(0),
        }
    }

    /// Adds a number that is too far from the base. If the group has only nulls, the number sets
    /// the base. Otherwise the column becomes wide.
    #[cold]
    fn push_out_of_range(&mut self, value: u64) {
        let first = self.offsets.len() / GROUP_SIZE * GROUP_SIZE;
        if (first..self.offsets.len()).all(|row| self.is_null(row))
            && let Some(base) = self.bases.last_mut()
        {
            *base = base_of(value);
            self.offsets.push(u32::try_from(value - *base).unwrap_or(0));
            return;
        }
        let mut wide = Vec::with_capacity(self.offsets.capacity().max(self.offsets.len() + 1));
        wide.extend((0..self.offsets.len()).map(|row| self.number(row)));
        wide.push(value);
        (self.offsets, self.bases, self.wide) = (Vec::new(), Vec::new(), wide);
    }

    /// Removes the rows from index `rows` on.
    pub(crate) fn truncate(&mut self, rows: usize) {
        if rows >= self.len() {
            return;
        }
        self.offsets.truncate(rows);
        self.bases.truncate(rows.div_ceil(GROUP_SIZE));
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
    fn truncated_rows_leave_no_nulls() {
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

    /// Numbers inside, at the border and outside of the range of their group must not change,
    /// before and after some rows are truncated.
    #[test]
    fn numbers_inside_and_outside_the_range_are_kept() {
        let near: Vec<Option<u64>> = (0..700).map(|at| Some(5_000_000_000 + at * at)).collect();
        let check = |rows: &[Option<u64>], wide: bool| {
            let mut column = Integers::from_rows(rows.iter().copied());
            assert_eq!(column.iter().collect::<Vec<_>>(), rows);
            assert_eq!((column.len(), !column.wide.is_empty()), (rows.len(), wide));
            let largest = rows.iter().flatten().max().copied().unwrap_or(0);
            assert!((largest..=largest.saturating_add(1 << 32)).contains(&column.upper_bound()));
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
        // The first number of a group, far from all others.
        check(&with(256, Some(0)), true);
        check(&with(256, Some(u64::MAX)), true);
        check(&with(699, Some(u64::MAX)), true);
        check(&vec![None; 600], false);
        check(&vec![Some(u64::MAX); 600], false);
    }
}
