//! Defines what the columns of a table are. Beside the rows of each table, `tables` has its columns as
//! Instruments 26.0 exports them, misspellings included.

use crate::scenario::kinds::Generation;

/// The columns of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema {
    pub(crate) name: &'static str,
    /// Description of the table in our words, written since Xcode 27.
    pub(crate) documentation: &'static str,
    /// Mnemonic, display name and engineering type of each column.
    pub(crate) columns: &'static [(&'static str, &'static str, &'static str)],
}

impl Schema {
    /// Writes the `<schema>` element with its columns.
    pub(super) fn write(&self, generation: Generation, out: &mut Vec<u8>) {
        let mut put = |text: &str| out.extend_from_slice(text.as_bytes());
        put("<schema name=\"");
        put(self.name);
        if generation == Generation::Xcode27 {
            put("\" documentation=\"");
            put(self.documentation);
        }
        put("\">");
        for (mnemonic, name, engineering_type) in self.columns {
            put("<col><mnemonic>");
            put(mnemonic);
            put("</mnemonic><name>");
            put(name);
            put("</name><engineering-type>");
            put(widened(mnemonic, engineering_type, generation));
            put("</engineering-type></col>");
        }
        put("</schema>");
    }
}

/// Returns the engineering type of a column. Commit ids have 64 bits since Xcode 27.
pub(super) fn widened(
    mnemonic: &str,
    engineering_type: &'static str,
    generation: Generation,
) -> &'static str {
    match (mnemonic, generation) {
        ("commit-id", Generation::Xcode27) => "uint64",
        _ => engineering_type,
    }
}
