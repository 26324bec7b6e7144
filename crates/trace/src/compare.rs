//! Two readings of one trace, cell by cell: a bundle read natively, and what
//! `xctrace` itself exported of it.
//!
//! Every cell must say the same: numbers, texts, pids, tids, submission ids,
//! addresses, displayed labels. Only what a bundle may not have is compared as
//! far as it goes: names of processes (which live in `form.template`) and of
//! functions (which live in symbol archives); those are counted apart.

use crate::bundle::is_mangled;
use crate::names::{Names, ProcessId, StackId, ThreadId};
use crate::table::{Column, ColumnSpec, Table};
use crate::trace::Trace;

/// What came of comparing one table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableComparison {
    /// The table's schema.
    pub schema: String,
    /// Rows in the first reading and in the second.
    pub rows: (usize, usize),
    /// Cells that were compared.
    pub cells: u64,
    /// Cells that say different things.
    pub different: u64,
    /// Cells that agree as far as the bundle has names.
    pub unnamed: u64,
    /// Cells that the native reader leaves as raw numbers, and that were not compared.
    pub undecoded: u64,
    /// The first differences.
    pub first: Vec<Difference>,
}

/// A cell that says different things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The 1-based row; 0 of the table as a whole.
    pub row: usize,
    /// The column's mnemonic.
    pub column: String,
    /// What the native reading says.
    pub native: String,
    /// What the export says.
    pub export: String,
}

/// Differences that are shown of one table.
const SHOWN: usize = 5;

/// Compares each table of the export with its like in the native reading.
#[must_use]
pub fn compare(native: &Trace, export: &Trace) -> Vec<TableComparison> {
    let tables = export.tables().iter();
    tables
        .map(|table| match native.find_table(&table.schema.name) {
            Some(like) => compare_tables(like, &native.names, table, &export.names),
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
            let left = Cell::of(left, row, a_names);
            let right = Cell::of(right, row, b_names);
            match agreement(&left, &right) {
                Agreement::Same => {}
                Agreement::Unnamed => comparison.unnamed += 1,
                Agreement::Different => {
                    comparison.differ(row + 1, &spec.mnemonic, &left.shown(), &right.shown());
                }
            }
        }
    }
    comparison
}

/// A type that keeps Apple's internal name has no known one.
fn is_undecoded(spec: &ColumnSpec) -> bool {
    spec.engineering_type.starts_with("XR") && spec.engineering_type.ends_with("TypeID")
}

impl TableComparison {
    fn differ(&mut self, row: usize, column: &str, native: &str, export: &str) {
        self.different += 1;
        if self.first.len() < SHOWN {
            self.first.push(Difference {
                row,
                column: column.to_owned(),
                native: native.to_owned(),
                export: export.to_owned(),
            });
        }
    }
}

/// A cell, free of the numbers that are one reading's own.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cell {
    Null,
    Text(String),
    Process(Person),
    Thread {
        tid: Option<u64>,
        display: String,
        process: Option<Person>,
    },
    Label {
        text: String,
        display: String,
        process: Option<Person>,
        submission: Option<u64>,
    },
    Stack {
        addresses: Vec<String>,
        names: Vec<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Person {
    name: String,
    pid: Option<u32>,
}

impl Cell {
    fn of(column: &Column, row: usize, names: &Names) -> Self {
        Self::found(column, row, names).unwrap_or(Self::Null)
    }

    fn found(column: &Column, row: usize, names: &Names) -> Option<Self> {
        let text = |symbol| names.text(symbol).to_owned();
        Some(match column {
            Column::Integers(values) => Self::Text(values.get(row)?.to_string()),
            Column::Texts(values) => Self::Text(text((*values.get(row)?)?)),
            Column::Processes(values) => Self::Process(person((*values.get(row)?)?, names)?),
            Column::Threads(values) => thread((*values.get(row)?)?, names)?,
            Column::Labels(values) => {
                let label = names.label((*values.get(row)?)?)?;
                Self::Label {
                    text: text(label.text),
                    display: label.rendered.map(text).unwrap_or_default(),
                    process: label.process.and_then(|id| person(id, names)),
                    submission: label.submission_id(),
                }
            }
            Column::Stacks(values) => stack((*values.get(row)?)?, names),
            Column::Dropped => return None,
        })
    }

    fn shown(&self) -> String {
        let person = |process: &Option<Person>| match process {
            Some(Person { name, pid }) => format!("{name} {pid:?}"),
            None => "nobody".to_owned(),
        };
        match self {
            Self::Null => "null".to_owned(),
            Self::Text(text) => format!("{text:?}"),
            Self::Process(process) => person(&Some(process.clone())),
            Self::Thread { display, .. } => format!("{display:?}"),
            Self::Label { display, .. } => format!("{display:?}"),
            Self::Stack { addresses, names } => {
                let frames = addresses.iter().zip(names);
                let frames = frames.map(|(address, name)| match address == name {
                    true => address.clone(),
                    false => format!("{address} {name}"),
                });
                frames.collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn person(id: ProcessId, names: &Names) -> Option<Person> {
    let process = names.process(id)?;
    Some(Person {
        name: names.text(process.name).to_owned(),
        pid: process.pid,
    })
}

fn thread(id: ThreadId, names: &Names) -> Option<Cell> {
    let thread = names.thread(id)?;
    Some(Cell::Thread {
        tid: thread.tid,
        display: names.text(thread.display).to_owned(),
        process: thread.process.and_then(|id| person(id, names)),
    })
}

fn stack(id: StackId, names: &Names) -> Cell {
    let frames: Vec<_> = names.stack(id).collect();
    let texts = |of: fn(&crate::names::Frame) -> crate::names::Symbol| {
        frames
            .iter()
            .map(|frame| names.text(of(frame)).to_owned())
            .collect()
    };
    Cell::Stack {
        addresses: texts(|frame| frame.address),
        names: texts(|frame| frame.name),
    }
}

enum Agreement {
    Same,
    /// Same, but for names that the bundle does not have.
    Unnamed,
    Different,
}

fn agreement(native: &Cell, export: &Cell) -> Agreement {
    if native == export {
        return Agreement::Same;
    }
    let same_but_names = match (native, export) {
        (Cell::Process(a), Cell::Process(b)) => a.pid == b.pid,
        (
            Cell::Thread {
                tid,
                display,
                process,
            },
            Cell::Thread {
                tid: tid_b,
                display: display_b,
                process: process_b,
            },
        ) => {
            let known = renamed(display, process.as_ref(), process_b.as_ref());
            tid == tid_b && known == *display_b
        }
        (
            Cell::Label {
                text,
                display,
                process,
                submission,
            },
            Cell::Label {
                text: text_b,
                display: display_b,
                process: process_b,
                submission: submission_b,
            },
        ) => {
            let known = renamed(display, process.as_ref(), process_b.as_ref());
            let same_pid = process.as_ref().map(|p| p.pid) == process_b.as_ref().map(|p| p.pid);
            text == text_b && submission == submission_b && same_pid && known == *display_b
        }
        (
            Cell::Stack { addresses, names },
            Cell::Stack {
                addresses: addresses_b,
                names: names_b,
            },
        ) => {
            let mut frames = addresses.iter().zip(names).zip(names_b);
            addresses == addresses_b
                && names.len() == names_b.len()
                && frames
                    .all(|((address, name), name_b)| name == name_b || is_unnamed(address, name))
        }
        _ => false,
    };
    match same_but_names {
        true => Agreement::Unnamed,
        false => Agreement::Different,
    }
}

/// Whether the bundle gave a frame no name: its address stands there, or what
/// a compiler made of a name that could not be made readable.
fn is_unnamed(address: &str, name: &str) -> bool {
    address == name || is_mangled(name)
}

/// A display with the process called as the export calls it.
fn renamed(display: &str, from: Option<&Person>, to: Option<&Person>) -> String {
    match (from, to) {
        (Some(from), Some(to)) if from.pid == to.pid => display.replace(&from.name, &to.name),
        _ => display.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(frames: &[(&str, &str)]) -> Cell {
        Cell::Stack {
            addresses: frames.iter().map(|frame| frame.0.to_owned()).collect(),
            names: frames.iter().map(|frame| frame.1.to_owned()).collect(),
        }
    }

    #[test]
    fn stacks() {
        let export = stack(&[("0x5", "app::step(int)"), ("0x8", "0x7")]);
        let of = |native: &[(&str, &str)]| match agreement(&stack(native), &export) {
            Agreement::Same => "same",
            Agreement::Unnamed => "unnamed",
            Agreement::Different => "different",
        };
        assert_eq!(of(&[("0x5", "app::step(int)"), ("0x8", "0x7")]), "same");
        assert_eq!(of(&[("0x5", "app::step(int)"), ("0x8", "0x8")]), "unnamed");
        assert_eq!(of(&[("0x5", "0x5"), ("0x8", "0x8")]), "unnamed");
        assert_eq!(of(&[("0x5", "_ZN3app4stepEi"), ("0x8", "0x8")]), "unnamed");
        assert_eq!(of(&[("0x5", "main"), ("0x8", "0x8")]), "different");
        assert_eq!(
            of(&[("0x5", "app::step(int)"), ("0x8", "main")]),
            "different"
        );
        assert_eq!(of(&[("0x6", "0x6"), ("0x8", "0x8")]), "different");
        assert_eq!(of(&[("0x5", "app::step(int)")]), "different");
    }
}
