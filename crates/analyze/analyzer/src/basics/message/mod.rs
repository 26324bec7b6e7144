//! Sentences whose values keep their types.
//!
//! [`message!`](crate::message!) puts values into a sentence. The text is complete, so that
//! showing it needs nothing else. The values are kept beside it, with their type and their
//! position in the text. Programs read numbers there, pages hide names there by type, and a
//! number stays on one line with its unit.
//!
//! ```text
//! message!("{} of {} in {}", share(0.384), time(193_500_000), kernel("sin"))
//!
//! 38.4 % of 193.5 ms in sin
//! └──┬─┘    └───┬──┘    └┬┘
//!  share      time     kernel
//! ```

mod parts;
mod sentence;
mod value;

pub use parts::*;
pub use sentence::{Message, Segment, has_places};
pub use value::{PlacedValue, Value};
