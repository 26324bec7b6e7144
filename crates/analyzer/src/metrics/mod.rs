//! The figures: what follows from a subject, and from the tables beside it.

pub(crate) mod against;
mod counters;
pub(crate) mod cpu;
pub(crate) mod efficiency;
pub(crate) mod figures;
mod histogram;
mod idle;
pub(crate) mod kernels;
pub(crate) mod known_work;
mod latency;
pub(crate) mod ledger;
mod machine;
pub(crate) mod phases;
pub(crate) mod sanity;
mod shaders;
mod shape;
pub(crate) mod surroundings;
