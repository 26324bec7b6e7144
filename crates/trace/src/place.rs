//! Where in an input something was found.

use std::fmt;

/// Where in an input something was found. Unknown parts are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, or the archive and the entry in it, or `standard input`.
    pub file: String,
    /// The schema of the table that was being read.
    pub table: Option<String>,
    /// The 1-based line.
    pub line: Option<u64>,
    /// The byte, counted from 0 in the document after decompression.
    pub byte: Option<u64>,
    /// The 1-based row of the table.
    pub row: Option<u64>,
    /// The column's mnemonic.
    pub column: Option<String>,
}

impl Place {
    /// A file as a whole.
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
