//! Names the units of figures.

pub use metalens_analyzer::Unit;
