//! Computes the figures of a report from its subject and from the tables beside it.

pub(crate) mod busy_window;
pub(crate) mod counters;
pub(crate) mod cpu;
pub(crate) mod efficiency;
pub(crate) mod engines;
pub(crate) mod figures;
pub(crate) mod gap_causes;
pub(crate) mod heap;
mod histogram;
pub(crate) mod idle;
mod judged;
pub(crate) mod kernels;
pub(crate) mod known_work;
pub(crate) mod lanes;
pub(crate) mod latency;
pub(crate) mod machine;
pub(crate) mod memory;
pub(crate) mod mixes;
pub(crate) mod phases;
pub(crate) mod sanity;
pub(crate) mod shaders;
mod shape;
pub(crate) mod slowdown;
pub(crate) mod spills;
pub(crate) mod steps;
pub(crate) mod surroundings;
