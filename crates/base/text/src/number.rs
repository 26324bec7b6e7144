//! Converts between whole numbers and floats. Each other crate asks here, so that the rounding is
//! written once.

/// Returns a whole number as a float: exact up to 2^53, which is 104 days in nanoseconds; above, the
/// nearest one.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "documented")]
pub const fn float(number: u64) -> f64 {
    number as f64
}

/// Returns the whole part of a float; 0 of one below 0, and the largest whole number of one above it.
#[must_use]
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
        let exact = 1 << 53;
        assert_eq!(whole(float(exact)), exact);
        assert_eq!(float(exact + 1), float(exact));
        let cases = [
            (1.999, 1),
            (-1.0, 0),
            (f64::NAN, 0),
            (f64::INFINITY, u64::MAX),
        ];
        for (value, expected) in cases {
            assert_eq!(whole(value), expected, "{value}");
        }
    }
}
