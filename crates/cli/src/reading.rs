//! Options of reading a recording.

/// Options of reading a recording.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading {
    /// Number of the run to read. None for the last run.
    pub(crate) run: Option<u64>,
    /// True to use the complete rows of a table that is cut off.
    pub(crate) allow_truncated: bool,
    /// True if Apple's xctrace, and not metalens itself, reads a bundle.
    pub(crate) is_by_xctrace: bool,
}
