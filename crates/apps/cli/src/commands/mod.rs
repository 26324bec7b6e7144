//! Runs the commands of metalens; each has its own file, which reads, analyzes and prints.

pub(crate) mod analyze;
pub(crate) mod baseline;
pub(crate) mod batch;
pub(crate) mod bench;
pub(crate) mod beside;
pub(crate) mod chart;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod pr;
pub(crate) mod record;
pub(crate) mod record_and_analyze;
pub(crate) mod schema;
pub(crate) mod stacks;
pub(crate) mod tables;
pub(crate) mod verify;
pub(crate) mod what_if;
