//! Quantities, and the sentences that state them.
//!
//! A number's type is its unit: [`Ns`], [`Bytes`], [`Share`]; a bare whole number is a number of things.
//!
//! [`message!`] puts values into a sentence. The text is complete, so that
//! showing it needs nothing else. The values are kept beside it, with their type and their
//! position in the text. Programs read numbers there, pages hide names there by type, and a
//! number stays on one line with its unit.
//!
//! ```text
//! message!("{} of {} in {}", Share(0.384), Ns(193_500_000), kernel("sin"))
//!
//! 38.4 % of 193.5 ms in sin
//! └──┬─┘    └───┬──┘    └┬┘
//!  share      time     kernel
//! ```

mod number;
mod parts;
mod quantity;
mod sentence;
mod unit;
mod value;
pub mod written;

pub use number::Number;
pub use parts::*;
pub use quantity::{Bytes, Factor, Ns, Quantity, Share, SignedNs, ratio, share};
pub use sentence::{Message, Segment, has_places};
pub use unit::Unit;
pub use value::{PlacedValue, Value};
