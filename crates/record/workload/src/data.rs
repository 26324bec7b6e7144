//! Fills arrays with values that are the same on every run and for every size.

/// The initial content of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Values scattered over −3 to 3, where Metal specifies the error of its fast sine.
    Angles,
    /// Values scattered over 0 to 1.
    Fractions,
    /// Zeros, for arrays that a kernel writes.
    Zeros,
}

impl Fill {
    /// Returns the element at an index.
    pub(crate) fn at(self, index: u64) -> f32 {
        match self {
            Self::Angles => fraction(index) * 6.0 - 3.0,
            Self::Fractions => fraction(index ^ 0x5555_5555),
            Self::Zeros => 0.0,
        }
    }
}

/// Returns 24 scattered bits of the index as an exact fraction.
fn fraction(index: u64) -> f32 {
    // Knuth's multiplicative hash.
    let [_, low, middle, high, ..] = index.wrapping_mul(2_654_435_761).to_le_bytes();
    f32::from(u16::from_le_bytes([middle, high])) / 65_536.0 + f32::from(low) / 16_777_216.0
}
