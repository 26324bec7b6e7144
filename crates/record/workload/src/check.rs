//! Compares the GPU's results with the expected ones.

use serde::Serialize;

use crate::error::{Error, Result};
use crate::expected::Expected;
use crate::work::Array;

/// An array whose result was compared with the CPU's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CheckedArray {
    /// Name of the array.
    pub array: &'static str,
    /// Number of elements in the array.
    pub elements: u64,
    /// Number of elements that were compared.
    pub compared: u64,
    /// Largest absolute difference that was found.
    pub worst_difference: f64,
}

/// Largest number of elements to compare. They are spread over a larger array.
const MAX_COMPARED: u64 = 1 << 16;
/// The same limit for a matrix product, lower because each element is a sum over a row.
const MAX_COMPARED_PRODUCTS: u64 = 1 << 12;

/// Compares the content of an array after the run with the expected one. Returns `None` for an
/// array without an expectation.
pub(crate) fn check(array: &Array, values: &[f32]) -> Result<Option<CheckedArray>> {
    let Some(expected) = array.result else {
        return Ok(None);
    };

    let indices = compared_indices(expected, values.len() as u64);
    let mut worst: f64 = 0.0;
    let mut compared = 0;
    for index in indices {
        let Some(&value) = usize::try_from(index)
            .ok()
            .and_then(|index| values.get(index))
        else {
            continue;
        };

        let (wanted, tolerance) = expected.at(index);
        let difference = (f64::from(value) - wanted).abs();
        if difference > tolerance || difference.is_nan() {
            return Err(Error::WrongResult {
                array: array.name,
                index,
                found: value,
                wanted,
                tolerance,
            });
        }
        worst = worst.max(difference);
        compared += 1;
    }

    Ok(Some(CheckedArray {
        array: array.name,
        elements: array.elements,
        compared,
        worst_difference: worst,
    }))
}

/// Returns the indices to compare: all of a small array, else spread ones with both ends.
fn compared_indices(expected: Expected, elements: u64) -> impl Iterator<Item = u64> {
    let max = match expected {
        Expected::Matmul { .. } => MAX_COMPARED_PRODUCTS,
        _ => MAX_COMPARED,
    };
    // An odd stride visits all columns of a matrix, not the same few.
    let stride = match elements.div_ceil(max) {
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
    use crate::data::Fill;
    use crate::kernel::Kernel;
    use crate::plan::WorkloadPlan;
    use crate::workloads::workloads;

    /// Returns the arrays that a GPU without errors other than rounding would leave: each
    /// kernel of the plan computed in `f32`, step by step.
    fn computed(plan: &WorkloadPlan) -> Vec<Vec<f32>> {
        let filled = |array: &Array| (0..array.elements).map(|at| array.fill.at(at)).collect();
        let mut arrays: Vec<Vec<f32>> = plan.arrays.iter().map(filled).collect();
        for dispatch in &plan.step {
            let read = |which: usize| arrays[dispatch.reads[which]].clone();
            let each = |change: fn(f32) -> f32| read(0).into_iter().map(change).collect();
            let written: Vec<f32> = match dispatch.kernel {
                Kernel::Sin => each(f32::sin),
                Kernel::Cos => each(f32::cos),
                Kernel::Exp => each(f32::exp),
                Kernel::Log => each(f32::ln),
                Kernel::Chain => each(|x| x.sin().cos().exp().ln()),
                Kernel::Triad => read(0)
                    .iter()
                    .zip(read(1))
                    .map(|(a, b)| a + 3.0 * b)
                    .collect(),
                Kernel::Matmul => {
                    let rows = usize::try_from(dispatch.size).unwrap();
                    let (left, right) = (read(0), read(1));
                    let product = |at: usize| {
                        let terms = (0..rows)
                            .map(|k| left[at / rows * rows + k] * right[k * rows + at % rows]);
                        terms.fold(0.0_f32, |sum, term| sum + term)
                    };
                    (0..rows * rows).map(product).collect()
                }
            };

            assert_eq!(written.len(), arrays[dispatch.writes].len());
            arrays[dispatch.writes] = written;
        }
        arrays
    }

    #[test]
    fn right_results_pass_and_wrong_ones_do_not() {
        for workload in workloads() {
            for size in [1, 2, 17, 40] {
                let plan = WorkloadPlan::of_size(workload, size, None).unwrap();
                let mut arrays = computed(&plan);
                let mut checked = 0;
                for (array, found) in plan.arrays.iter().zip(&mut arrays) {
                    let Some(result) = check(array, found).unwrap() else {
                        continue;
                    };
                    assert_eq!(result.compared, array.elements, "{workload:?}");
                    checked += 1;
                    for wrong in [found[0] + 0.01, 0.0, f32::NAN, f32::INFINITY] {
                        let right = std::mem::replace(&mut found[0], wrong);
                        let error = check(array, found).unwrap_err();
                        assert!(matches!(error, Error::WrongResult { index: 0, .. }));
                        found[0] = right;
                    }
                }
                assert!(checked > 0, "{workload:?} checks nothing");
            }
        }
    }

    /// A fast sine and a fast cosine may be off by what the specification allows.
    #[test]
    fn fast_mathematics_is_within_the_tolerance() {
        for index in 0..10_000 {
            let (wanted, tolerance) = Expected::Chain.at(index);
            for off in [-1.0 / 8192.0, 1.0 / 8192.0] {
                let sine = f64::from(Fill::Angles.at(index)).sin() + off;
                let found = (sine.cos() + off).exp().ln();
                assert!((found - wanted).abs() < tolerance / 1.5);
            }
        }
    }

    #[test]
    fn compared_indices_are_spread_and_have_both_ends() {
        for elements in [1, 2, 65_535, 65_536, 65_537, 1 << 20, 1 << 24] {
            let indices: Vec<u64> = compared_indices(Expected::Triad, elements).collect();
            assert!(indices.is_sorted_by(|a, b| a < b));
            assert_eq!((indices[0], *indices.last().unwrap()), (0, elements - 1));
            assert!(indices.len() as u64 >= elements.min(MAX_COMPARED / 3));
            assert!(indices.len() as u64 <= MAX_COMPARED + 1);
        }
    }
}
