//! Converts between whole numbers and floats. Each other crate asks here, so that the rounding is
//! written once.

/// A number as a float.
pub trait Float: Copy {
    /// Returns the number: exact up to 2^53, which is 104 days in nanoseconds; above, the nearest float.
    fn float(self) -> f64;
}

macro_rules! floats {
    ($($whole:ty),*) => {$(
        #[expect(clippy::cast_precision_loss, reason = "documented")]
        impl Float for $whole {
            fn float(self) -> f64 {
                self as f64
            }
        }
    )*};
}

floats!(u64, i64, usize, u128, i128);

impl Float for f64 {
    fn float(self) -> f64 {
        self
    }
}

/// Returns the nearest whole number; 0 for a negative one, and the largest for one that is too large.
pub fn rounded(number: f64) -> u64 {
    whole(number.round())
}

/// Returns the nearest whole number, which may be negative; the outermost one for a number beyond it.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
pub fn rounded_signed(number: f64) -> i64 {
    number.round() as i64
}

/// Returns the whole part of a float; 0 of one below 0, and the largest whole number of one above it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates"
)]
pub const fn whole(value: f64) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_and_floats() {
        let exact = 1_u64 << 53;
        assert_eq!(whole(exact.float()), exact);
        assert_eq!((exact + 1).float(), exact.float());
        let cases = [
            (1.999, 1),
            (-1.0, 0),
            (f64::NAN, 0),
            (f64::INFINITY, u64::MAX),
        ];
        for (value, expected) in cases {
            assert_eq!(whole(value), expected, "{value}");
        }
        assert_eq!((rounded(1.5), rounded(-0.6)), (2, 0));
        assert_eq!(
            (rounded_signed(-1.5), rounded_signed(-1e300)),
            (-2, i64::MIN)
        );
    }
}
