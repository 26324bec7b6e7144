//! Describes a position in an input, for errors.

use std::fmt;

/// A position in an input. Unknown parts are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Path of the file, or of the archive and its entry, or `standard input`.
    pub file: String,
    /// Schema of the table.
    pub table: Option<String>,
    /// Line number, from 1.
    pub line: Option<u64>,
    /// Byte offset in the decompressed document, from 0.
    pub byte: Option<u64>,
    /// Number of the row in the table, from 1.
    pub row: Option<u64>,
    /// Mnemonic of the column.
    pub column: Option<String>,
}

impl Place {
    /// Returns the position of a complete file.
    #[must_use]
    pub fn file(file: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            ..Self::default()
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (!self.file.is_empty()).then(|| self.file.clone()),
            self.line.map(|line| format!("line {line}")),
            self.byte.map(|byte| format!("byte {byte}")),
            self.table.as_ref().map(|table| format!("table {table}")),
            self.row.map(|row| format!("row {row}")),
            self.column
                .as_ref()
                .map(|column| format!("column {column}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}
