//! Parts that every stage uses: stretches of time, statistics, sentences. None knows
//! about GPUs.

pub(crate) mod by_id;
pub(crate) mod distinct;
pub(crate) mod follows;
pub(crate) mod least_squares;
pub(crate) mod moment;
pub(crate) mod parallel;
pub(crate) mod spans;
pub(crate) mod state_interval;
pub(crate) mod statistics;
