//! Defines the progress of reading.

/// The progress of reading, in stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of bytes read so far.
    pub done: u64,
    /// Total number of bytes; `None` for standard input.
    pub total: Option<u64>,
}
