//! What is in the arrays: the same on every run, and of every size.

/// What an array holds at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Scattered over −3 to 3: where Metal's fast sine says how exact it is.
    Angles,
    /// Scattered over 0 to 1.
    Fractions,
    /// Nothing yet.
    Zeros,
}

impl Fill {
    /// The element at this place.
    #[must_use]
    pub(crate) fn at(self, place: u64) -> f32 {
        match self {
            Self::Angles => fraction(place) * 6.0 - 3.0,
            Self::Fractions => fraction(place ^ 0x5555_5555),
            Self::Zeros => 0.0,
        }
    }
}

/// 24 scattered bits of the place, as an exact fraction.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "the low half is wanted, and 24 bits fit an f32"
)]
fn fraction(place: u64) -> f32 {
    // Knuth's multiplicative hash.
    let scattered = (place as u32).wrapping_mul(2_654_435_761) >> 8;
    scattered as f32 / 16_777_216.0
}
