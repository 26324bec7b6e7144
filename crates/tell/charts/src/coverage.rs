//! Computes how much of each pixel column something covers: exactly, in one sweep.

use crate::canvas::{Area, ratio};
use crate::pixels::px;

/// A stretch of time, divided into columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    columns: usize,
}

impl Grid {
    /// Makes a grid. No column is shorter than a nanosecond, so a short stretch has fewer columns.
    pub(crate) fn new(start_ns: u64, end_ns: u64, columns: usize) -> Self {
        let end_ns = end_ns.max(start_ns.saturating_add(1));
        let most = usize::try_from(end_ns - start_ns).unwrap_or(usize::MAX);
        Self {
            start_ns,
            end_ns,
            columns: columns.clamp(1, most),
        }
    }

    pub(crate) const fn span_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    /// Returns the x position of a time in an area that the stretch fills.
    pub(crate) fn x(&self, time_ns: u64, place: Area) -> f32 {
        let into = time_ns.clamp(self.start_ns, self.end_ns) - self.start_ns;
        place.left + place.width * px(ratio(into, self.span_ns()))
    }

    /// Returns whether a length covers at least this many columns.
    pub(crate) fn spans(&self, length_ns: u64, columns: u64) -> bool {
        u128::from(length_ns) * self.columns as u128
            >= u128::from(self.span_ns()) * u128::from(columns)
    }

    /// Returns whether a length has room for a word: at least a fortieth of the stretch.
    pub(crate) const fn has_room(&self, length_ns: u64) -> bool {
        length_ns.saturating_mul(40) >= self.span_ns()
    }

    /// Returns the start of a column.
    pub(crate) fn edge(&self, column: usize) -> u64 {
        let part = u128::from(self.span_ns()) * column as u128 / self.columns as u128;
        let part = u64::try_from(part).unwrap_or(u64::MAX);
        self.start_ns.saturating_add(part).min(self.end_ns)
    }

    /// Returns the column that contains a time of the stretch.
    fn column(&self, time_ns: u64) -> usize {
        let into = u128::from(time_ns - self.start_ns) * self.columns as u128;
        let guess = usize::try_from(into / u128::from(self.span_ns())).unwrap_or(0);
        // Edges are rounded down, so the guess may be one too low.
        if self.edge(guess + 1) <= time_ns {
            guess + 1
        } else {
            guess
        }
    }

    /// Returns the length of each column.
    pub(crate) fn widths_ns(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.columns).map(|column| self.width_ns(column))
    }

    /// Returns the length of a column.
    fn width_ns(&self, column: usize) -> u64 {
        self.edge(column + 1) - self.edge(column)
    }
}

/// The union of stretches that come sorted by start, column by column.
#[derive(Debug, Clone)]
pub(crate) struct Sweep {
    grid: Grid,
    /// Time up to which the union is known.
    done_ns: u64,
    column: usize,
    column_end_ns: u64,
    busy_ns: Vec<u64>,
}

impl Sweep {
    pub(crate) fn new(grid: Grid) -> Self {
        Self {
            grid,
            done_ns: grid.start_ns,
            column: 0,
            column_end_ns: grid.edge(1),
            busy_ns: vec![0; grid.columns],
        }
    }

    /// Adds a stretch that does not begin before those already added.
    pub(crate) fn add(&mut self, start_ns: u64, end_ns: u64) {
        let mut at = start_ns.max(self.done_ns);
        let end_ns = end_ns.min(self.grid.end_ns);
        if at >= end_ns {
            return;
        }

        self.done_ns = end_ns;

        if at >= self.column_end_ns {
            self.column = self.grid.column(at);
            self.column_end_ns = self.grid.edge(self.column + 1);
        }

        loop {
            let until = end_ns.min(self.column_end_ns);
            if let Some(busy) = self.busy_ns.get_mut(self.column) {
                *busy += until - at;
            }
            if until == end_ns {
                return;
            }
            at = until;
            self.column += 1;
            self.column_end_ns = self.grid.edge(self.column + 1);
        }
    }

    /// Returns the length of the union.
    pub(crate) fn total_ns(&self) -> u64 {
        self.busy_ns.iter().sum()
    }

    /// Returns the covered length of each column.
    pub(crate) fn columns(&self) -> &[u64] {
        &self.busy_ns
    }

    /// Returns the covered share of each column.
    pub(crate) fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        let columns = self.busy_ns.iter().enumerate();
        columns.map(|(at, &busy)| ratio(busy, self.grid.width_ns(at)))
    }
}

/// Returns the painted height of a share. Any share above 0 is visible, and any share below 1
/// leaves a gap.
pub(crate) fn height(share: f64, full: f32, pixel: f32) -> f32 {
    match share {
        _ if share <= 0.0 => 0.0,
        _ if share >= 1.0 => full,
        _ => (px(share) * full).clamp(pixel, full - pixel),
    }
}

#[cfg(test)]
mod tests {
    use metalens_text::number::Float;
    use proptest::prelude::*;

    use super::*;

    /// Counts nanosecond by nanosecond.
    fn counted(grid: Grid, stretches: &[(u64, u64)]) -> Vec<u64> {
        let mut busy = vec![0; grid.columns];
        for (column, busy) in busy.iter_mut().enumerate() {
            for time in grid.edge(column)..grid.edge(column + 1) {
                let covered = stretches
                    .iter()
                    .any(|&(from, to)| from <= time && time < to);
                *busy += u64::from(covered);
            }
        }
        busy
    }

    proptest! {
        #[test]
        fn columns_hold_exactly_the_union(
            start in 0_u64..50,
            span in 1_u64..400,
            columns in 1_usize..60,
            mut stretches in prop::collection::vec((0_u64..500, 0_u64..40), 0..60),
        ) {
            let grid = Grid::new(start, start + span, columns);
            stretches.sort_unstable();
            let stretches: Vec<_> = stretches.iter().map(|&(at, length)| (at, at + length)).collect();
            let mut sweep = Sweep::new(grid);
            for &(from, to) in &stretches {
                sweep.add(from, to);
            }
            prop_assert_eq!(sweep.columns().to_vec(), counted(grid, &stretches));
        }

        /// The painted share times the column width, summed, is the busy time to within one column.
        /// Columns with the least or the greatest height may be off by one pixel each.
        #[test]
        fn painted_time_is_busy_time(
            lengths in prop::collection::vec((1_u64..3_000, 1_u64..3_000), 1..200),
            columns in 1_usize..300,
        ) {
            let (mut at, mut stretches) = (0, Vec::new());
            for (gap, busy) in lengths {
                stretches.push((at + gap, at + gap + busy));
                at += gap + busy;
            }

            let grid = Grid::new(0, at, columns);
            let mut sweep = Sweep::new(grid);
            for &(from, to) in &stretches {
                sweep.add(from, to);
            }

            let (full, pixel) = (36.0_f32, 0.5_f32);
            let (mut painted, mut busy, mut slack) = (0.0, 0.0, 0.0);
            for (column, share) in sweep.shares().enumerate() {
                let width = grid.width_ns(column).float();
                let height = height(share, full, pixel);
                prop_assert_eq!(height == 0.0, share == 0.0);
                prop_assert_eq!(height == full, share == 1.0);
                if height == pixel || height == full - pixel {
                    slack += f64::from(pixel / full) * width;
                }
                painted += f64::from(height / full) * width;
                busy += share * width;
            }

            prop_assert!((busy - sweep.total_ns().float()).abs() < 1.0);
            prop_assert!((painted - busy).abs() <= slack + ratio(grid.span_ns(), columns as u64));
        }
    }

    #[test]
    fn a_nanosecond_is_one_column() {
        let grid = Grid::new(7, 8, 800);
        let mut sweep = Sweep::new(grid);
        sweep.add(0, 100);
        assert_eq!(sweep.columns(), [1]);
        assert_eq!(Grid::new(7, 7, 800).span_ns(), 1);
    }
}
