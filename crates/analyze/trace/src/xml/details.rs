//! Reads the details of tracks, such as the list of allocations: rows without a schema, with a value
//! in each attribute. They become tables with a schema of metalens's own.
//!
//! ```xml
//! <node xpath='//trace-toc[1]/run[1]/tracks[1]/track[1]/details[1]/detail[2]'>
//! <row category="Malloc 80 Bytes" live="true" size="80" …><backtrace>…</backtrace></row>
//! ```

use super::values::CellValue;
use crate::error::{Problem, malformed};
use crate::kind::Kind;
use crate::table::{ColumnSpec, Schema};

/// Schema and columns of a detail, which are attributes of its rows. An attribute with `size` in its
/// name, or `count`, is a number.
type Form = (&'static str, &'static [&'static str]);

/// Details with known forms, each with the attribute that no other has first.
const FORMS: [Form; 3] = [
    (
        "allocations-list",
        &["live", "category", "size", "responsible-library"],
    ),
    ("leaks-list", &["leaked-object", "size", "count"]),
    (
        "vm-regions-map",
        &[
            "dirty-size",
            "type",
            "virtual-size",
            "resident-size",
            "swapped-size",
        ],
    ),
];

type Attributes = [(String, String)];

/// Returns the schema of a detail by its node and its first row. `None` for any other row.
pub(super) fn schema(node: &Attributes, row: &Attributes) -> Option<Schema> {
    let path = value(node, "xpath")?;
    let of_row = |form: &&Form| {
        form.1
            .first()
            .is_some_and(|name| value(row, name).is_some())
    };
    let (name, columns) = FORMS.iter().find(of_row)?;
    let column = |&name: &&str| ColumnSpec {
        mnemonic: name.to_owned(),
        name: name.to_owned(),
        engineering_type: if name.contains("size") || name == "count" {
            "uint64".to_owned()
        } else {
            "string".to_owned()
        },
    };
    path.contains("/details[").then(|| Schema {
        name: (*name).to_owned(),
        columns: columns.iter().map(column).collect(),
    })
}

/// Returns the value of each column in a row. Each must be there; an empty text is null.
pub(super) fn cells(
    schema: &Schema,
    row: &Attributes,
    mut symbol: impl FnMut(&str) -> CellValue,
) -> Result<Vec<CellValue>, Problem> {
    let cell = |column: &ColumnSpec| {
        let name = &column.mnemonic;
        let missing = || malformed(format!("a row has no attribute {name}"));
        let text = value(row, name).ok_or_else(missing)?;
        if Kind::from_type(&column.engineering_type) != Kind::Integer {
            return Ok(if text.is_empty() { None } else { symbol(text) });
        }
        let number = text.parse();
        let wrong = |_| malformed(format!("{name}=\"{text}\" is not a whole number"));
        number.map(Some).map_err(wrong)
    };
    schema.columns.iter().map(cell).collect()
}

fn value<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    let found = attributes.iter().find(|(key, _)| key == name);
    found.map(|(_, value)| value.as_str())
}
