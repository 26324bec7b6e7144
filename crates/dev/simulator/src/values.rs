//! Defines what scenarios are made of: times, lengths, labels, kinds, streams of work, and the checks of
//! single values.

pub(crate) mod checks;
pub(crate) mod kinds;
pub(crate) mod labels;
pub(crate) mod lengths;
pub(crate) mod nanos;
pub(crate) mod stream;
