//! Runs `metalens selfcheck`: compares the native reading of a bundle with an export of `xctrace`,
//! cell by cell.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use metalens_analyzer::units::{count, counted};
use metalens_analyzer::{RawComparison, compare_raw, selection_with_raw_events};
use metalens_exporter::{ExportRequest, TableSelection, TimeRange};
use metalens_render::terminal::style::VERDICT;
use metalens_render::terminal::{Align, Columns};
use metalens_text::shown;
use metalens_trace::{
    Input, InputKind, LoadOptions, Selection, TableComparison, Trace, compare, selection_to_compare,
};

use crate::analyzing::open;
use crate::args::SelfcheckArguments;
use crate::progress;
use crate::{exit, exporting, out};

pub(crate) fn run(arguments: &SelfcheckArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let bundle = open(&arguments.bundle, arguments.reading.reading(), quiet)?;
    if bundle.kind() != InputKind::Bundle {
        bail!("{} is not a .trace bundle", arguments.bundle.display());
    }

    let temporary = match &arguments.export {
        Some(_) => None,
        None => Some(TemporaryExport::new(arguments, quiet)?),
    };
    let folder = temporary.as_ref().map(|export| &export.folder);
    let Some(export) = arguments.export.as_ref().or(folder) else {
        bail!("there is no export to compare with");
    };
    let exported = load(
        export,
        &Selection::everything().with_rendered_labels(),
        arguments,
        quiet,
    )?;

    let selection = selection_to_compare(&exported);
    let native = load(&arguments.bundle, &selection, arguments, quiet)?;

    let tables = compare(&native, &exported);
    out::page().write_all(screen(&tables).as_bytes())?;

    let compare_raw = |path: &Path, form: &str| -> anyhow::Result<bool> {
        let trace = load(path, &selection_with_raw_events(), arguments, quiet)?;
        let raw = compare_raw(trace)?;
        if let Some(raw) = &raw {
            out::page().write_all(raw_events(raw, form).as_bytes())?;
        }
        Ok(raw.is_none_or(|raw| raw.agrees()))
    };
    let raw_agrees = compare_raw(&arguments.bundle, "bundle")?;
    let exported_raw_agrees = compare_raw(export, "export")?;

    let is_complete = temporary.is_none_or(|export| export.is_complete);
    let agree = !tables.is_empty()
        && tables.iter().all(|table| table.different == 0)
        && is_complete
        && raw_agrees
        && exported_raw_agrees;
    Ok(if agree {
        ExitCode::SUCCESS
    } else {
        exit::some_failed()
    })
}

/// An export for this comparison only.
struct TemporaryExport {
    folder: PathBuf,
    /// True if it has every table that was asked for.
    is_complete: bool,
    /// The folder around the export, deleted when this value is dropped.
    _parent: tempfile::TempDir,
}

impl TemporaryExport {
    fn new(arguments: &SelfcheckArguments, quiet: bool) -> anyhow::Result<Self> {
        let parent =
            tempfile::tempdir().context("cannot make a temporary folder for the export")?;
        let folder = parent.path().join("export");

        let request = ExportRequest {
            bundle: arguments.bundle.clone(),
            folder: folder.clone(),
            run: arguments.reading.run,
            wanted: TableSelection::Known,
            known: exporting::known_tables(),
            range: TimeRange::default(),
            gzip: false,
            force: false,
        };
        let exported = exporting::export(&request, quiet)?;

        let problems = exporting::problems(&exported);
        if let Some(problems) = &problems {
            exit::print_error(&anyhow::anyhow!("{problems}"));
        }
        Ok(Self {
            folder,
            is_complete: problems.is_none(),
            _parent: parent,
        })
    }
}

/// Loads tables of a bundle or of an export.
fn load(
    path: &Path,
    selection: &Selection,
    arguments: &SelfcheckArguments,
    quiet: bool,
) -> anyhow::Result<Trace> {
    let input = Input::open(path)?;
    let load = |options: LoadOptions<'_>| input.load(selection, options);
    let trace = progress::reading(arguments.reading.reading(), quiet, load);
    trace.with_context(|| format!("cannot read {}", path.display()))
}

/// Formats the verdict, a line for each table, and the first differences.
fn screen(tables: &[TableComparison]) -> String {
    let total = |number: fn(&TableComparison) -> u64| tables.iter().map(number).sum::<u64>();
    let (cells, different) = (total(|table| table.cells), total(|table| table.different));
    let verdict = match different {
        0 => format!("{} agree", counted(cells, "cell")),
        _ => format!("{} of {} differ", count(different), counted(cells, "cell")),
    };
    let mut text = format!("{VERDICT}{verdict}{VERDICT:#}\n\n");

    let mut columns = Columns::new(&[
        ("table", Align::Left),
        ("rows", Align::Right),
        ("cells", Align::Right),
        ("unnamed", Align::Right),
        ("undecoded", Align::Right),
        ("different", Align::Right),
    ]);
    for table in tables {
        columns.row([
            shown(&table.schema).into_owned(),
            count(table.rows.1 as u64),
            count(table.cells),
            count(table.unnamed),
            count(table.undecoded),
            count(table.different),
        ]);
    }
    text.push_str(&columns.text());

    text.push_str(&legend(
        total(|table| table.unnamed),
        total(|table| table.undecoded),
    ));
    text.push_str(&differences(tables));
    text
}

/// Says whether raw events of a bundle or an export agree with the table that Instruments derived
/// from them.
fn raw_events(raw: &RawComparison, form: &str) -> String {
    let all = counted(raw.derived, "GPU interval");
    let mut text = if raw.agrees() {
        format!("\nraw kdebug events of the {form} agree with metal-gpu-intervals: all {all}\n")
    } else {
        format!(
            "\nraw kdebug events of the {form} differ from metal-gpu-intervals: {} of {all} are the \
             same, {} of {} name the same command buffer, encoder and process; raw events have {}\n",
            count(raw.same),
            count(raw.same_names),
            count(raw.named),
            counted(raw.raw, "interval"),
        )
    };
    if let Some(first_ns) = raw.first_difference_ns {
        text.push_str(&format!("  the first difference starts at {first_ns} ns\n"));
    }
    if raw.other_channels > 0 {
        let others = counted(raw.other_channels, "interval");
        text.push_str(&format!(
            "  {others} on other channels than Vertex, Fragment and Compute are left out: their raw \
             codes are unknown\n"
        ));
    }
    text
}

/// Explains the columns that need it and are not all zero.
fn legend(unnamed: u64, undecoded: u64) -> String {
    let lines = [
        (
            unnamed,
            "unnamed: equal, but the bundle lacks the name of a process or a function",
        ),
        (
            undecoded,
            "undecoded: numbers whose meaning is unknown; not compared, and not counted as cells",
        ),
    ];
    let lines: Vec<&str> = lines
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, line)| *line)
        .collect();

    if lines.is_empty() {
        String::new()
    } else {
        format!("\n{}\n", lines.join("\n"))
    }
}

/// Lists the first cells that differ, with both values.
fn differences(tables: &[TableComparison]) -> String {
    let mut text = String::new();
    for table in tables.iter().filter(|table| table.different > 0) {
        text.push_str(&format!("\n{}\n", shown(&table.schema)));
        for difference in &table.first {
            let place = match difference.row {
                0 => "table".to_owned(),
                row => format!("row {row}, {}", difference.column),
            };
            text.push_str(&format!("  {}\n", shown(&place)));
            text.push_str(&format!("    native  {}\n", shown(&difference.native)));
            text.push_str(&format!("    export  {}\n", shown(&difference.export)));
        }
    }
    text
}
