//! Names the units of figures.

pub use metalens_message::Unit;
