//! Defines what the columns of a table are. Beside the rows of each table, `tables` has its columns as
//! Instruments 26.0 exports them, misspellings included.

/// The columns of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schema {
    pub(super) name: &'static str,
    /// Description of the table in our words, written since Xcode 27.
    pub(super) documentation: &'static str,
    /// Mnemonic, display name and engineering type of each column.
    pub(super) columns: &'static [(&'static str, &'static str, &'static str)],
}
