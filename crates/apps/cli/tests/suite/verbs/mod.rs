//! Tests each command. A test's home is the command that it runs.

pub(crate) mod analyze;
pub(crate) mod batch;
#[cfg(unix)]
mod bench;
mod chart;
mod compare;
mod compare_truth;
mod doctor;
#[cfg(unix)]
pub(crate) mod export;
mod fake_xctrace;
#[cfg(unix)]
mod gating;
mod help;
#[cfg(unix)]
mod judgement;
#[cfg(unix)]
mod opening;
#[cfg(unix)]
mod pr;
#[cfg(unix)]
pub(crate) mod record;
#[cfg(unix)]
mod record_and_analyze;
pub(crate) mod stacks;
mod synth;
mod tables;
#[cfg(unix)]
mod team;
#[cfg(unix)]
mod verify;
mod what_if;
