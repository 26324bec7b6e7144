//! Options of reading a recording.

/// Options of reading a recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Number of the run to read. None for the last run.
    pub(crate) run: Option<u64>,
    /// True to use the complete rows of a table that is cut off.
    pub(crate) allow_truncated: bool,
}
