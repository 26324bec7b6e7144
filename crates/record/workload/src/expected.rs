//! Computes the expected results on the CPU in `f64`, with a tolerance for each.
//!
//! Kernels are compiled with Metal's fast math, the default, so each result has a tolerance.
//! It follows from the error bounds in Apple's Metal Shading Language Specification
//! ("Numerical Compliance").

use metalens_text::number::Float;

use crate::data::Fill;

/// Expected content of an array, as a function of the initial content of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// `log exp cos sin` of the angles.
    Chain,
    /// The angles plus three times the fractions.
    Triad,
    /// Matrix product of the fractions and the angles.
    Matmul {
        /// Rows of the square matrices.
        rows: u64,
    },
}

/// Allowed error of the chain. Fast sine and cosine are within 2⁻¹³ between −π and π. The
/// cosine moves by no more than its argument, so 2⁻¹² together; the exponential and the
/// logarithm cancel out and add about 2⁻²¹. The tolerance is twice that.
const CHAIN_TOLERANCE: f64 = 1.0 / 2048.0;
/// Relative rounding error of an `f32`: half a unit in the last place.
const ROUNDING: f64 = 1.0 / 16_777_216.0;

impl Expected {
    /// Returns the value at an index, and the allowed difference.
    pub(crate) fn at(self, index: u64) -> (f64, f64) {
        let angle = f64::from(Fill::Angles.at(index));
        let fraction = f64::from(Fill::Fractions.at(index));

        match self {
            Self::Chain => (angle.sin().cos().exp().ln(), CHAIN_TOLERANCE),
            // The compiler may fuse the two operations, so they round once or twice.
            Self::Triad => (
                angle + 3.0 * fraction,
                2.0 * ROUNDING * (angle.abs() + 2.0 * 3.0 * fraction),
            ),
            Self::Matmul { rows } => product(rows, index),
        }
    }
}

/// Returns one element of the product, and the allowed difference. The error of a sum of n
/// products is at most n roundings of the sum of their magnitudes, in any order (Higham,
/// *Accuracy and Stability*, §3.1). The tolerance is twice that.
fn product(rows: u64, index: u64) -> (f64, f64) {
    let (row, column) = (index / rows, index % rows);
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for k in 0..rows {
        let left = f64::from(Fill::Fractions.at(row * rows + k));
        let right = f64::from(Fill::Angles.at(k * rows + column));
        sum += left * right;
        magnitude += (left * right).abs();
    }

    (sum, 2.0 * rows.float() * ROUNDING * magnitude)
}
