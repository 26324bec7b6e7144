//! What people see on a terminal.

pub(crate) mod columns;
pub(crate) mod comparison;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod style;
