//! Compares a bundle with its export, cell by cell, for `metalens verify --compare`.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use metalens_text::shown;
use metalens_trace::{
    Input, InputKind, LoadOptions, Selection, TableComparison, Trace, compare, selection_to_compare,
};

use crate::analyzing::with_input;
use crate::{exit, out};

/// Prints which cells differ.
pub(super) fn run(bundle: &Path, export: &Path) -> anyhow::Result<ExitCode> {
    if with_input(Input::open(bundle).map_err(Into::into), bundle)?.kind() != InputKind::Bundle {
        anyhow::bail!("{} is not a .trace bundle", bundle.display());
    }
    let exported = load(export, &Selection::everything().with_rendered_labels())?;
    let native = load(bundle, &selection_to_compare(&exported))?;
    let tables = compare(&native, &exported);
    let agree = !tables.is_empty() && tables.iter().all(|table| table.different == 0);
    out::page().write_all(screen(&tables).as_bytes())?;
    Ok(if agree {
        ExitCode::SUCCESS
    } else {
        exit::missed()
    })
}

fn load(path: &Path, selection: &Selection) -> anyhow::Result<Trace> {
    let trace = Input::open(path).and_then(|input| input.load(selection, LoadOptions::default()));
    with_input(trace.map_err(Into::into), path)
}

/// Formats a line for each table, and its first differences.
fn screen(tables: &[TableComparison]) -> String {
    let mut text = String::new();
    for table in tables {
        text.push_str(&format!(
            "{}: {} of {} cells differ, {} only in a name that metalens did not find or demangle; {} \
             more are not compared\n",
            shown(&table.schema), table.different, table.cells, table.unnamed, table.undecoded,
        ));
        for difference in &table.first {
            let (column, row) = (shown(&difference.column), difference.row);
            let (native, export) = (shown(&difference.native), shown(&difference.export));
            text.push_str(&format!(
                "  row {row} {column}: {native}; in the export: {export}\n"
            ));
        }
    }
    text
}
