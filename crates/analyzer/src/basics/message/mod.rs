//! Sentences whose values keep their types.
//!
//! [`message!`](crate::message!) sets values into a sentence. The text is complete, so that
//! whoever only shows it needs nothing else. Beside it stand the values: what each is, and
//! where in the text. Programs read numbers there, pages hide names there by what they are,
//! and numbers stay beside their units.
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
pub use sentence::{Message, MessageMut, begins_with_name, has_places};
pub use value::{PlacedValue, Value};
