//! One file per command: read, ask, show.

pub(crate) mod analyze;
pub(crate) mod schema;
pub(crate) mod selfcheck;
pub(crate) mod synth;
pub(crate) mod tables;
