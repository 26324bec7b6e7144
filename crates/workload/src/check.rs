//! What the GPU's results must be, computed by the CPU in `f64`.
//!
//! Kernels are compiled with Metal's fast mathematics, as everybody's are, so
//! each result has a tolerance that follows from what Apple's Metal Shading
//! Language Specification promises of it ("Numerical Compliance").

use crate::data::Fill;
use crate::error::{Error, Result};
use crate::kernel::ELEMENT_BYTES;
use crate::plan::Array;
use crate::run::Checked;

/// What an array must hold at last, from what the others were filled with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// log exp cos sin of the angles.
    Chain,
    /// 1.5 of the angles.
    Scale,
    /// The angles and three of the fractions.
    Triad,
    /// The angles.
    Copy,
    /// Fractions × angles.
    Matmul {
        /// Rows of the matrices.
        rows: u64,
    },
}

/// Elements that are compared: all of a small array, else so many spread over it.
const COMPARED: u64 = 1 << 16;
/// Of a matrix product each is a sum over a row, so fewer.
const COMPARED_PRODUCTS: u64 = 1 << 12;

/// Fast sine and cosine are within 2⁻¹³ between −π and π. The cosine moves by no
/// more than its argument, so 2⁻¹² together; the exponential and the logarithm
/// undo each other and add some 2⁻²¹. Twice that.
const CHAIN_TOLERANCE: f64 = 1.0 / 2048.0;
/// Half an ulp of an `f32`, relatively.
const ROUNDING: f64 = 1.0 / 16_777_216.0;

impl Expected {
    /// The value at this place, and how far off one may be.
    #[must_use]
    pub(crate) fn at(self, place: u64) -> (f64, f64) {
        let angle = f64::from(Fill::Angles.at(place));
        let fraction = f64::from(Fill::Fractions.at(place));
        match self {
            Self::Chain => (angle.sin().cos().exp().ln(), CHAIN_TOLERANCE),
            Self::Scale => (1.5 * angle, 2.0 * ROUNDING * (1.5 * angle).abs()),
            // Rounded once or twice, as the compiler likes.
            Self::Triad => (
                angle + 3.0 * fraction,
                2.0 * ROUNDING * (angle.abs() + 2.0 * 3.0 * fraction),
            ),
            Self::Copy => (angle, 0.0),
            Self::Matmul { rows } => product(rows, place),
        }
    }
}

/// One element of the product. The error of a sum of n products is at most n
/// roundings of the sum of their magnitudes (Higham, *Accuracy and Stability*,
/// §3.1), whatever their order; twice that.
#[expect(
    clippy::cast_precision_loss,
    reason = "rows are few enough to be exact"
)]
fn product(rows: u64, place: u64) -> (f64, f64) {
    let (row, column) = (place / rows, place % rows);
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for k in 0..rows {
        let left = f64::from(Fill::Fractions.at(row * rows + k));
        let right = f64::from(Fill::Angles.at(k * rows + column));
        sum += left * right;
        magnitude += (left * right).abs();
    }
    (sum, 2.0 * rows as f64 * ROUNDING * magnitude)
}

/// Compares what the GPU left in an array.
pub(crate) fn check(array: &Array, found: &[f32]) -> Result<Option<Checked>> {
    let Some(expected) = array.result else {
        return Ok(None);
    };
    let places = places(expected, found.len() as u64);
    let mut worst: f64 = 0.0;
    let mut compared = 0;
    for place in places {
        let Some(&value) = usize::try_from(place).ok().and_then(|at| found.get(at)) else {
            continue;
        };
        let (wanted, tolerance) = expected.at(place);
        let off = (f64::from(value) - wanted).abs();
        if off > tolerance || off.is_nan() {
            return Err(Error::WrongResult {
                array: array.name,
                place,
                found: value,
                wanted,
                tolerance,
            });
        }
        worst = worst.max(off);
        compared += 1;
    }
    Ok(Some(Checked {
        array: array.name,
        elements: array.elements,
        bytes: array.elements * ELEMENT_BYTES,
        compared,
        worst_difference: worst,
    }))
}

/// All places of a few, or spread places with the first and the last.
fn places(expected: Expected, elements: u64) -> impl Iterator<Item = u64> {
    let most = match expected {
        Expected::Matmul { .. } => COMPARED_PRODUCTS,
        _ => COMPARED,
    };
    // Odd, so that columns of a matrix take turns.
    let stride = match elements.div_ceil(most) {
        0 | 1 => 1,
        stride => stride | 1,
    };
    let last = elements.saturating_sub(1);
    let spread = (0..elements).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
    spread.chain((!last.is_multiple_of(stride)).then_some(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Plan, Settings};
    use crate::recipes::workloads;

    fn settings(size: u64) -> Settings {
        Settings {
            size: Some(size),
            ..Settings::default()
        }
    }

    /// What a GPU that makes no mistake but rounding would leave: each kernel
    /// done in `f32`, step by step, as the plan says.
    fn computed(plan: &Plan) -> Vec<Vec<f32>> {
        use crate::kernel::Kernel;
        use crate::plan::Task;
        let filled = |array: &Array| (0..array.elements).map(|at| array.fill.at(at)).collect();
        let mut arrays: Vec<Vec<f32>> = plan.arrays.iter().map(filled).collect();
        for encoder in plan.step.iter().flat_map(|buffer| &buffer.encoders) {
            let read = |which: usize| arrays[encoder.reads[which]].clone();
            let each = |change: fn(f32) -> f32| read(0).into_iter().map(change).collect();
            let written: Vec<f32> = match encoder.task {
                Task::Copy => {
                    assert_eq!(read(0).len() as u64, encoder.size * encoder.dispatches);
                    read(0)
                }
                Task::Kernel(Kernel::Sin) => each(f32::sin),
                Task::Kernel(Kernel::Cos) => each(f32::cos),
                Task::Kernel(Kernel::Exp) => each(f32::exp),
                Task::Kernel(Kernel::Log) => each(f32::ln),
                Task::Kernel(Kernel::Chain) => each(|x| x.sin().cos().exp().ln()),
                Task::Kernel(Kernel::Scale) => each(|x| 1.5 * x),
                Task::Kernel(Kernel::Triad) => read(0)
                    .iter()
                    .zip(read(1))
                    .map(|(a, b)| a + 3.0 * b)
                    .collect(),
                Task::Kernel(Kernel::Matmul) => {
                    let rows = usize::try_from(encoder.size).unwrap();
                    let (left, right) = (read(0), read(1));
                    let product = |at: usize| {
                        let terms = (0..rows)
                            .map(|k| left[at / rows * rows + k] * right[k * rows + at % rows]);
                        terms.fold(0.0_f32, |sum, term| sum + term)
                    };
                    (0..rows * rows).map(product).collect()
                }
            };
            assert_eq!(written.len(), arrays[encoder.writes].len());
            arrays[encoder.writes] = written;
        }
        arrays
    }

    #[test]
    fn right_results_pass_and_wrong_ones_do_not() {
        for workload in workloads() {
            for size in [1, 2, 17, 40] {
                let plan = Plan::of(workload, &settings(size)).unwrap();
                let mut arrays = computed(&plan);
                let mut checked = 0;
                for (array, found) in plan.arrays.iter().zip(&mut arrays) {
                    let Some(one) = check(array, found).unwrap() else {
                        continue;
                    };
                    assert_eq!(one.compared, array.elements, "{workload:?}");
                    checked += 1;
                    for wrong in [found[0] + 0.01, 0.0, f32::NAN, f32::INFINITY] {
                        let right = std::mem::replace(&mut found[0], wrong);
                        let error = check(array, found).unwrap_err();
                        assert!(matches!(error, Error::WrongResult { place: 0, .. }));
                        found[0] = right;
                    }
                }
                assert!(checked > 0, "{workload:?} checks nothing");
            }
        }
    }

    /// A fast sine that is off by what the specification allows, and a cosine.
    #[test]
    fn fast_mathematics_is_within_the_tolerance() {
        for place in 0..10_000 {
            let (wanted, tolerance) = Expected::Chain.at(place);
            for off in [-1.0 / 8192.0, 1.0 / 8192.0] {
                let sine = f64::from(Fill::Angles.at(place)).sin() + off;
                let found = (sine.cos() + off).exp().ln();
                assert!((found - wanted).abs() < tolerance / 1.5);
            }
        }
    }

    #[test]
    fn places_are_spread_and_have_both_ends() {
        for elements in [1, 2, 65_535, 65_536, 65_537, 1 << 20, 1 << 24] {
            let places: Vec<u64> = places(Expected::Scale, elements).collect();
            assert!(places.is_sorted_by(|a, b| a < b));
            assert_eq!((places[0], *places.last().unwrap()), (0, elements - 1));
            assert!(places.len() as u64 >= elements.min(COMPARED / 3));
            assert!(places.len() as u64 <= COMPARED + 1);
        }
    }
}
