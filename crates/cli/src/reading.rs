//! Options of reading a trace.

/// Options of reading a trace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reading {
    /// The number of the run. None for the last.
    pub(crate) run: Option<u64>,
    /// Whether the whole rows of a file that breaks off are used.
    pub(crate) allow_truncated: bool,
    /// Whether Apple's xctrace reads a bundle, and not metalens itself.
    pub(crate) is_by_xctrace: bool,
}
