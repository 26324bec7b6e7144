//! Compares a bundle with its export by `xctrace`, cell by cell.
//!
//! Every cell must be equal: numbers, texts, pids, tids, submission ids, addresses and displayed
//! labels. Only names that a bundle may not have, or mangled, are compared as far as possible, and
//! counted separately: names of processes (in `form.template`) and of functions (in symbol
//! archives).

use crate::names::{Names, ProcessId};
use crate::select::Selection;
use crate::table::{Column, ColumnSpec, Table};
use crate::trace::Trace;

/// The result of comparing one table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableComparison {
    /// Schema of the table.
    pub schema: String,
    /// Number of rows in the bundle and in the export.
    pub rows: (usize, usize),
    /// Number of compared cells.
    pub cells: u64,
    /// Number of cells that differ.
    pub different: u64,
    /// Number of cells that are equal except for names that the reader of bundles did not find, or
    /// left mangled.
    pub unnamed: u64,
    /// Number of cells that were not compared, since the bundle reader returns raw numbers.
    pub undecoded: u64,
    /// The first differences.
    pub first: Vec<Difference>,
}

/// A cell that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of the row, from 1; 0 for the complete table.
    pub row: usize,
    /// Mnemonic of the column.
    pub column: String,
    /// Value in the bundle.
    pub native: String,
    /// Value in the export.
    pub export: String,
}

/// Maximum number of differences that are returned for a table.
const MAX_RETURNED: usize = 5;

/// Selects the tables of an export in its bundle, so that they can be compared.
pub fn selection_to_compare(export: &Trace) -> Selection {
    let tables = export.tables().iter();
    let mut schemas: Vec<String> = tables.map(|table| table.schema.name.clone()).collect();
    schemas.dedup();
    Selection::tables(&schemas)
        .where_readable()
        .with_rendered_labels()
}

/// Compares each table of the export with the same table of the bundle.
pub fn compare(native: &Trace, export: &Trace) -> Vec<TableComparison> {
    let tables = export.tables().iter();
    tables
        .map(|table| match counterpart(native, export, table) {
            Some(same) => compare_tables(same, &native.names, table, &export.names),
            None => {
                let mut comparison = TableComparison {
                    schema: table.schema.name.clone(),
                    rows: (0, table.rows()),
                    ..TableComparison::default()
                };
                comparison.differ(0, "", "no such table", "a table");
                comparison
            }
        })
        .collect()
}

/// Returns the bundle's table for one of the export. Several tables may have one schema: if both
/// inputs have as many, it is the one at the same place among them, else the largest.
fn counterpart<'a>(native: &'a Trace, export: &Trace, table: &Table) -> Option<&'a Table> {
    let schema = &table.schema.name;
    let mut origins: Vec<_> = export.tables_of(schema).map(|same| same.origin).collect();
    origins.sort_unstable();
    let place = origins.iter().position(|origin| *origin == table.origin);
    let mut stored = native.tables_of(schema);
    if native.tables_of(schema).count() == origins.len() {
        return stored.nth(place?);
    }
    native.find_table(schema)
}

/// Compares a table of the bundle with the same table of the export, cell by cell.
fn compare_tables(a: &Table, a_names: &Names, b: &Table, b_names: &Names) -> TableComparison {
    let mut comparison = TableComparison {
        schema: b.schema.name.clone(),
        rows: (a.rows(), b.rows()),
        ..TableComparison::default()
    };
    if a.rows() != b.rows() {
        let rows = |table: &Table| format!("{} rows", table.rows());
        comparison.differ(0, "", &rows(a), &rows(b));
    }

    let mnemonics = |table: &Table| table.schema.mnemonics().join(" ");
    if mnemonics(a) != mnemonics(b) {
        comparison.differ(0, "", &mnemonics(a), &mnemonics(b));
        return comparison;
    }

    for row in 0..a.rows().min(b.rows()) {
        for ((spec, left), (_, right)) in a.columns().zip(b.columns()) {
            if is_undecoded(spec) {
                comparison.undecoded += 1;
                continue;
            }
            comparison.cells += 1;
            let left = ComparedCell::new(left, row, a_names);
            let right = ComparedCell::new(right, row, b_names);
            match agreement(&left, &right) {
                CellAgreement::Same => {}
                CellAgreement::Unnamed => comparison.unnamed += 1,
                CellAgreement::Different => {
                    comparison.differ(row + 1, &spec.mnemonic, &left.shown(), &right.shown());
                }
            }
        }
    }

    comparison
}

/// Returns true for a column of raw numbers, whose type keeps Apple's internal name.
fn is_undecoded(spec: &ColumnSpec) -> bool {
    spec.engineering_type.starts_with("XR") && spec.engineering_type.ends_with("TypeID")
}

impl TableComparison {
    fn differ(&mut self, row: usize, column: &str, native: &str, export: &str) {
        self.different += 1;
        if self.first.len() < MAX_RETURNED {
            self.first.push(Difference {
                row,
                column: column.to_owned(),
                native: native.to_owned(),
                export: export.to_owned(),
            });
        }
    }
}

/// A cell with its values in place of the ids that differ between the two readings.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ComparedCell {
    Null,
    Text(String),
    Process(ComparedProcess),
    /// Thread or formatted label.
    Displayed(DisplayedCell),
    Stack(Vec<ComparedFrame>),
}

/// A frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ComparedFrame {
    address: String,
    name: String,
    /// True if it has no name, or one that `xctrace` may spell differently.
    is_unnamed: bool,
}

/// A thread or a formatted label, whose display form contains the name of its process.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DisplayedCell {
    /// Facts that do not depend on that name: the id of a thread; or the text, the submission and the process id
    /// of a label.
    facts: (String, Option<u64>, Option<Option<u32>>),
    display: String,
    process: Option<ComparedProcess>,
}

/// A process as it is compared, without its id in either reader.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ComparedProcess {
    name: String,
    pid: Option<u32>,
}

impl ComparedCell {
    fn new(column: &Column, row: usize, names: &Names) -> Self {
        Self::value(column, row, names).unwrap_or(Self::Null)
    }

    /// Returns the content of a cell, or `None` for null.
    fn value(column: &Column, row: usize, names: &Names) -> Option<Self> {
        let text = |symbol| names.text(symbol).to_owned();
        Some(match column {
            Column::Integers(values) => Self::Text(values.get(row)?.to_string()),
            Column::Texts(values) => Self::Text(text((*values.get(row)?)?)),
            Column::Processes(values) => Self::Process(compared_process(*values.get(row)?, names)?),
            Column::Threads(values) => {
                let thread = names.thread((*values.get(row)?)?)?;
                Self::Displayed(DisplayedCell {
                    facts: (String::new(), thread.tid, None),
                    display: text(thread.display),
                    process: compared_process(thread.process, names),
                })
            }
            Column::Labels(values) => {
                let label = names.label((*values.get(row)?)?)?;
                let process = compared_process(label.process, names);
                let pid = process.as_ref().map(|process| process.pid);
                Self::Displayed(DisplayedCell {
                    facts: (text(label.text), label.submission_id(), pid),
                    display: label.rendered.map(text).unwrap_or_default(),
                    process,
                })
            }
            Column::Stacks(values) => {
                let frames = names.stack((*values.get(row)?)?);
                let frames = frames.map(|frame| ComparedFrame {
                    address: text(frame.address),
                    name: text(frame.name),
                    is_unnamed: frame.name == frame.address || names.is_unsure(frame.name),
                });
                Self::Stack(frames.collect())
            }
            Column::Dropped => return None,
        })
    }

    /// Formats the cell for a list of differences.
    fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Text(text) => format!("{text:?}"),
            Self::Process(ComparedProcess { name, pid: None }) => name.clone(),
            Self::Process(ComparedProcess {
                name,
                pid: Some(pid),
            }) => format!("{name} ({pid})"),
            Self::Displayed(DisplayedCell { display, .. }) => format!("{display:?}"),
            Self::Stack(frames) => {
                let frames = frames.iter().map(|ComparedFrame { address, name, .. }| {
                    if address == name {
                        address.clone()
                    } else {
                        format!("{address} {name}")
                    }
                });
                frames.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn compared_process(id: Option<ProcessId>, names: &Names) -> Option<ComparedProcess> {
    let process = names.process(id?)?;
    Some(ComparedProcess {
        name: names.text(process.name).to_owned(),
        pid: process.pid,
    })
}

/// The result of comparing two cells.
enum CellAgreement {
    Same,
    /// The same, except for names that the reader of bundles did not find, or left mangled.
    Unnamed,
    Different,
}

/// Compares two cells. Names that only the export has do not make them different.
fn agreement(native: &ComparedCell, export: &ComparedCell) -> CellAgreement {
    if native == export {
        return CellAgreement::Same;
    }
    let same_but_names = match (native, export) {
        (ComparedCell::Process(a), ComparedCell::Process(b)) => a.pid == b.pid,
        (ComparedCell::Displayed(a), ComparedCell::Displayed(b)) => {
            let known = renamed(&a.display, a.process.as_ref(), b.process.as_ref());
            a.facts == b.facts && known == b.display
        }
        (ComparedCell::Stack(a), ComparedCell::Stack(b)) => {
            let frames = || a.iter().zip(b);
            let is_same = |(a, b): (&ComparedFrame, &ComparedFrame)| a.name == b.name;
            let is_known = |(a, b)| is_same((a, b)) || a.is_unnamed;
            if a.len() != b.len() || !frames().all(|(a, b)| a.address == b.address) {
                return CellAgreement::Different;
            }
            if frames().all(is_same) {
                return CellAgreement::Same;
            }
            frames().all(is_known)
        }
        _ => false,
    };

    if same_but_names {
        CellAgreement::Unnamed
    } else {
        CellAgreement::Different
    }
}

/// Returns a display form with the process name of the export.
fn renamed(display: &str, from: Option<&ComparedProcess>, to: Option<&ComparedProcess>) -> String {
    match (from, to) {
        (Some(from), Some(to)) if from.pid == to.pid => display.replace(&from.name, &to.name),
        _ => display.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a stack of addresses and names. A name that is unsure ends with "?".
    fn stack(frames: &[(&str, &str)]) -> ComparedCell {
        let frames = frames.iter().map(|&(address, name)| ComparedFrame {
            address: address.to_owned(),
            name: name.trim_end_matches('?').to_owned(),
            is_unnamed: address == name || name.ends_with('?'),
        });
        ComparedCell::Stack(frames.collect())
    }

    #[test]
    fn stacks_agree_except_for_missing_names() {
        let export = stack(&[("0x5", "app::step(int)"), ("0x8", "0x7")]);
        let compare = |native: &[(&str, &str)]| match agreement(&stack(native), &export) {
            CellAgreement::Same => "same",
            CellAgreement::Unnamed => "unnamed",
            CellAgreement::Different => "different",
        };

        assert_eq!(
            compare(&[("0x5", "app::step(int)"), ("0x8", "0x7")]),
            "same"
        );
        assert_eq!(
            compare(&[("0x5", "app::step(int)"), ("0x8", "0x8")]),
            "unnamed"
        );
        assert_eq!(compare(&[("0x5", "0x5"), ("0x8", "0x8")]), "unnamed");
        assert_eq!(
            compare(&[("0x5", "app::step(signed)?"), ("0x8", "0x8")]),
            "unnamed"
        );
        assert_eq!(
            compare(&[("0x5", "app::step(int)?"), ("0x8", "0x7?")]),
            "same"
        );
        assert_eq!(compare(&[("0x5", "main"), ("0x8", "0x8")]), "different");
        assert_eq!(
            compare(&[("0x5", "app::step(int)"), ("0x8", "main")]),
            "different"
        );
        assert_eq!(compare(&[("0x6", "0x6"), ("0x8", "0x8")]), "different");
        assert_eq!(compare(&[("0x5", "app::step(int)")]), "different");
    }
}
