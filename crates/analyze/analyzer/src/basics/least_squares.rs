//! Solves least squares whose unknowns are not negative, and tells which unknowns the equations determine.

/// Part of a column's squared length that must lie outside of the other columns. What is less is rounding.
const INDEPENDENT: f64 = 1e-9;
/// Smallest factor by which one column takes part in another.
const TAKES_PART: f64 = 1e-6;
/// Rounding of a solution, as a part of the largest moment.
const ROUNDING: f64 = 1e-10;
/// Rounds in which all unknowns of the wrong sign change sides at once.
const AT_ONCE: usize = 3;

/// Equations without their right sides.
#[derive(Debug, Clone)]
pub(crate) struct LeastSquares {
    /// Coefficients of each equation.
    rows: Vec<Vec<f64>>,
    /// Products of the columns, scaled to the length 1.
    products: Square,
    lengths: Vec<f64>,
}

impl LeastSquares {
    /// Makes the equations of rows of coefficients, which are already weighted.
    pub(crate) fn new(columns: usize, rows: Vec<Vec<f64>>) -> Self {
        let mut products = Square::zero(columns);
        for row in &rows {
            for (i, a) in row.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                for (j, b) in row.iter().enumerate() {
                    products.set(i, j, products.get(i, j) + a * b);
                }
            }
        }

        let length = |i| products.get(i, i).sqrt().max(f64::MIN_POSITIVE);
        let lengths: Vec<f64> = (0..columns).map(length).collect();
        for (i, a) in lengths.iter().enumerate() {
            for (j, b) in lengths.iter().enumerate() {
                products.set(i, j, products.get(i, j) / a / b);
            }
        }
        Self {
            rows,
            products,
            lengths,
        }
    }

    /// Returns which unknowns have one value, whatever the others are, and how many equations say something of
    /// their own.
    pub(crate) fn determined(&self) -> (Vec<bool>, usize) {
        let mut swept = self.products.clone();
        let mut open: Vec<usize> = (0..self.lengths.len()).collect();
        let largest = |swept: &Square, open: &[usize]| {
            let rests = open.iter().map(|&i| (swept.get(i, i), i));
            rests.max_by(|a, b| a.0.total_cmp(&b.0))
        };
        while let Some((_, pivot)) = largest(&swept, &open).filter(|(rest, _)| *rest > INDEPENDENT)
        {
            swept.sweep(pivot);
            open.retain(|&i| i != pivot);
        }
        // An open column is a sum of swept ones, of which none that takes part has one value.
        let is_apart = |i: usize| {
            open.iter()
                .all(|&other| swept.get(i, other).abs() < TAKES_PART)
        };
        let all = 0..self.lengths.len();
        let determined = all.map(|i| !open.contains(&i) && is_apart(i));
        (determined.collect(), self.lengths.len() - open.len())
    }

    /// Returns the solution without negative values for right sides with the weights of the rows. It is found
    /// sooner if `free` has the unknowns that are not zero in a similar one; afterwards it has those of this
    /// one. `None` if rounding hides it.
    pub(crate) fn solve(&self, rights: &[f64], free: &mut [bool]) -> Option<Vec<f64>> {
        let moments = self.moments(rights);
        let largest = |most: f64, moment: &f64| moment.abs().max(most);
        let rounding = ROUNDING * moments.iter().fold(0.0, largest);
        let (mut fewest, mut at_once) = (usize::MAX, AT_ONCE);
        // Changing one at a time ends where the columns are independent; the bound is for all others.
        for _ in 0..(4 * (free.len() + 1)) {
            let (solution, slopes) = self.solve_free(&moments, free);
            let states = free.iter().zip(solution.iter().zip(&slopes)).enumerate();
            let wrong = states.filter(|(_, (is_free, (value, slope)))| {
                if **is_free {
                    **value < -rounding
                } else {
                    **slope > rounding
                }
            });
            let wrong: Vec<usize> = wrong.map(|(i, _)| i).collect();
            let Some(last) = wrong.last().copied() else {
                let values = solution.iter().zip(&self.lengths);
                return Some(
                    values
                        .map(|(value, length)| value.max(0.0) / length)
                        .collect(),
                );
            };
            at_once = if wrong.len() < fewest {
                AT_ONCE
            } else {
                at_once.saturating_sub(1)
            };
            fewest = fewest.min(wrong.len());
            let changed = if at_once > 0 { wrong } else { vec![last] };
            for (i, is_free) in free.iter_mut().enumerate() {
                *is_free ^= changed.contains(&i);
            }
        }
        None
    }

    /// Returns the product of each scaled column with the right sides.
    fn moments(&self, rights: &[f64]) -> Vec<f64> {
        let mut moments = vec![0.0; self.lengths.len()];
        for (row, right) in self.rows.iter().zip(rights) {
            for (moment, a) in moments.iter_mut().zip(row) {
                *moment += a * right;
            }
        }
        let scaled = moments.iter().zip(&self.lengths);
        scaled.map(|(moment, length)| moment / length).collect()
    }

    /// Solves for the free unknowns, with all others zero. Returns also how fast the error falls along each.
    fn solve_free(&self, moments: &[f64], free: &[bool]) -> (Vec<f64>, Vec<f64>) {
        let mut swept = self.products.clone();
        let mut used = vec![false; free.len()];
        for (i, is_used) in used.iter_mut().enumerate() {
            // One that the others determine stays zero.
            *is_used = free.get(i) == Some(&true) && swept.get(i, i) > INDEPENDENT;
            if *is_used {
                swept.sweep(i);
            }
        }
        let moments = || moments.iter().enumerate();
        let of_used = |i: usize| {
            let terms = moments().zip(&used).filter(|(_, is_used)| **is_used);
            terms.map(|((j, moment), _)| swept.get(i, j) * moment).sum()
        };
        let pairs = used.iter().enumerate();
        let solution: Vec<f64> = pairs
            .map(|(i, is_used)| if *is_used { of_used(i) } else { 0.0 })
            .collect();
        let fitted = |i| {
            let terms = solution.iter().enumerate();
            terms
                .map(|(j, value)| self.products.get(i, j) * value)
                .sum::<f64>()
        };
        let slopes = moments().map(|(i, moment)| moment - fitted(i)).collect();
        (solution, slopes)
    }
}

/// A square matrix.
#[derive(Debug, Clone)]
struct Square {
    size: usize,
    cells: Vec<f64>,
}

impl Square {
    fn zero(size: usize) -> Self {
        Self {
            size,
            cells: vec![0.0; size * size],
        }
    }

    fn get(&self, row: usize, column: usize) -> f64 {
        let cell = self.cells.get(row * self.size + column);
        cell.copied().unwrap_or(0.0)
    }

    fn set(&mut self, row: usize, column: usize, value: f64) {
        if let Some(cell) = self.cells.get_mut(row * self.size + column) {
            *cell = value;
        }
    }

    /// Sweeps a column: solves for it. Among swept columns the matrix is then the inverse, and their rows say
    /// by how much they take part in the others.
    fn sweep(&mut self, pivot: usize) {
        let by = self.get(pivot, pivot);
        let row: Vec<f64> = (0..self.size).map(|j| self.get(pivot, j) / by).collect();
        for i in (0..self.size).filter(|&i| i != pivot) {
            let factor = self.get(i, pivot);
            for (j, value) in row.iter().enumerate() {
                self.set(i, j, self.get(i, j) - factor * value);
            }
            self.set(i, pivot, -factor / by);
        }
        for (j, value) in row.iter().enumerate() {
            self.set(pivot, j, *value);
        }
        self.set(pivot, pivot, 1.0 / by);
    }
}

#[cfg(test)]
mod tests {
    use metalens_text::number::rounded;

    use super::*;

    fn check(rows: &[(&[f64], f64)], solution: &[f64], determined: &[bool]) {
        let rows = rows.iter().map(|(row, right)| (row.to_vec(), *right));
        let (rows, rights): (Vec<_>, Vec<_>) = rows.unzip();
        let equations = LeastSquares::new(solution.len(), rows);
        assert_eq!(equations.determined().0, determined);
        let mut free = vec![true; solution.len()];
        for ((value, wanted), is_known) in equations
            .solve(&rights, &mut free)
            .unwrap()
            .iter()
            .zip(solution)
            .zip(determined)
        {
            assert!(
                !is_known || (value - wanted).abs() < 1e-6,
                "{value} {wanted}"
            );
        }
    }

    #[test]
    fn equations_by_hand_are_solved() {
        check(
            &[(&[1.0, 0.0], 3.0), (&[1.0, 1.0], 5.0), (&[0.0, 2.0], 4.0)],
            &[3.0, 2.0],
            &[true, true],
        );
        // The second always comes with the third; the first is apart.
        check(
            &[
                (&[1.0, 0.0, 0.0], 3.0),
                (&[1.0, 1.0, 2.0], 8.0),
                (&[0.0, 2.0, 4.0], 10.0),
            ],
            &[3.0, 0.0, 0.0],
            &[true, false, false],
        );
        // Without the law, the second would be negative.
        check(
            &[(&[1.0, 0.0], 2.0), (&[1.0, 1.0], 1.0)],
            &[1.5, 0.0],
            &[true, true],
        );
    }

    /// Of random equations, no small change of the solution makes the error smaller.
    #[test]
    fn the_solution_is_the_best() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(state >> 40).unwrap()) / f64::from(1 << 24)
        };
        for _ in 0..200 {
            let columns = 2 + usize::try_from(rounded((random() * 6.0).floor())).unwrap();
            let rows: Vec<(Vec<f64>, f64)> = (0..columns + 4)
                .map(|_| {
                    (
                        (0..columns).map(|_| (random() * 4.0).floor()).collect(),
                        random() * 2.0,
                    )
                })
                .collect();
            let error = |solution: &[f64]| -> f64 {
                let of_row = |(row, right): &(Vec<f64>, f64)| {
                    let fitted: f64 = row.iter().zip(solution).map(|(a, x)| a * x).sum();
                    (fitted - right).powi(2)
                };
                rows.iter().map(of_row).sum()
            };
            let (left, rights): (Vec<_>, Vec<_>) = rows.iter().cloned().unzip();
            let equations = LeastSquares::new(columns, left);
            let solution = equations.solve(&rights, &mut vec![true; columns]);
            let solution = solution.unwrap();
            let best = error(&solution);
            for i in 0..columns {
                for by in [-1e-4, 1e-4] {
                    let mut other = solution.clone();
                    other[i] = (other[i] + by).max(0.0);
                    assert!(error(&other) > best - 1e-9, "{rows:?} {solution:?}");
                }
            }
        }
    }
}
