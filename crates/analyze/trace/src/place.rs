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
        let mut parts = Vec::new();
        if !self.file.is_empty() {
            parts.push(self.file.clone());
        }
        if let Some(line) = self.line {
            parts.push(format!("line {line}"));
        }
        if let Some(byte) = self.byte {
            parts.push(format!("byte {byte}"));
        }

        if let Some(table) = &self.table {
            parts.push(format!("table {table}"));
        }
        if let Some(row) = self.row {
            parts.push(format!("row {row}"));
        }
        if let Some(column) = &self.column {
            parts.push(format!("column {column}"));
        }
        f.write_str(&parts.join(", "))
    }
}
