//! Defines quantities: numbers whose type is their unit. A bare whole number is a number of things.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use metalens_text::number::Float;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// A number with a unit.
pub trait Quantity: Copy {
    /// Unit of the number.
    const UNIT: Unit;

    /// Returns the number. Whole ones are exact up to 2^53, which are 104 days of nanoseconds.
    fn number(self) -> f64;
}

macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident($number:ty) [$($derived:ident),*], $unit:ident, $key:literal;)*) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, Default, PartialEq, PartialOrd, $($derived,)* Serialize, Deserialize,
            JsonSchema,
        )]
        #[serde(transparent)]
        #[schemars(inline, extend("unit" = $key))]
        pub struct $name(pub $number);

        impl Quantity for $name {
            const UNIT: Unit = Unit::$unit;

            fn number(self) -> f64 {
                self.0.float()
            }
        }
    )*};
}

quantities! {
    /// A length of time, or a point in time since the recording began, in nanoseconds.
    Ns(u64) [Eq, Ord, Hash], Ns, "ns";
    /// A length of time that may be negative, in nanoseconds.
    SignedNs(i64) [Eq, Ord, Hash], Ns, "ns";
    /// An amount of memory in bytes.
    Bytes(u64) [Eq, Ord, Hash], Bytes, "bytes";
    /// A share of a whole: 0.5 is 50 %.
    Share(f64) [], Ratio, "share";
    /// A ratio of two values, such as a speedup: 2 is twice as much.
    Factor(f64) [], Ratio, "factor";
}

/// A bare whole number is a number of things.
impl Quantity for u64 {
    const UNIT: Unit = Unit::Count;

    fn number(self) -> f64 {
        self.float()
    }
}

macro_rules! whole_quantities {
    ($($name:ident),*) => {$(
        impl Add for $name {
            type Output = Self;

            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl Sub for $name {
            type Output = Self;

            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<u64> for $name {
            type Output = Self;

            fn mul(self, times: u64) -> Self {
                Self(self.0 * times)
            }
        }

        impl Mul<$name> for u64 {
            type Output = $name;

            fn mul(self, quantity: $name) -> $name {
                quantity * self
            }
        }

        impl Div<u64> for $name {
            type Output = Self;

            fn div(self, parts: u64) -> Self {
                Self(self.0 / parts)
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                Self(values.map(|value| value.0).sum())
            }
        }

        impl $name {
            /// Returns the difference, or none if the other one is larger.
            #[must_use]
            pub fn checked_sub(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).map(Self)
            }

            /// Returns the difference, or zero if the other one is larger.
            #[must_use]
            pub fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// Returns the sum, or the largest quantity if it would be larger.
            #[must_use]
            pub fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// Returns the product, or the largest quantity if it would be larger.
            #[must_use]
            pub fn saturating_mul(self, times: u64) -> Self {
                Self(self.0.saturating_mul(times))
            }

            /// Returns the number with room for products.
            pub fn wide(self) -> u128 {
                self.0.into()
            }

            /// Returns the difference without its sign.
            #[must_use]
            pub fn abs_diff(self, other: Self) -> Self {
                Self(self.0.abs_diff(other.0))
            }
        }
    )*};
}

whole_quantities!(Ns, Bytes);

impl SignedNs {
    /// Returns the time without its sign.
    pub fn unsigned(self) -> Ns {
        Ns(self.0.unsigned_abs())
    }
}

/// Returns the share that a part is of a whole; `None` if the whole is zero.
pub fn share<Q: Quantity>(part: Q, whole: Q) -> Option<Share> {
    ratio(part, whole).map(Share)
}

/// Returns one quantity divided by another; `None` if that is zero.
pub fn ratio<Q: Quantity>(quantity: Q, by: Q) -> Option<f64> {
    let by = by.number();
    (by > 0.0).then(|| quantity.number() / by)
}
