//! Runs `metalens tables`: lists the tables of a recording, or prints the rows of one.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

use metalens_render::json;
use metalens_render::terminal::style::FAINT;
use metalens_render::terminal::{Align, Columns, display_width, wrap};
use metalens_text::shown;
use metalens_text::units::{count, counted};
use metalens_trace::{Input, ListedDocument, LoadOptions, Problem, Selection, Table, Trace};
use serde::Serialize;

use crate::args::{RowFormat, TablesArguments};
use crate::progress;
use crate::{exit, out};

mod cells;
mod rows;

pub(crate) fn run(arguments: &TablesArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let input = Input::open(&arguments.input)?;
    match &arguments.schema {
        Some(schema) => print_rows(input, schema, arguments, quiet),
        None => list(&input, arguments, quiet),
    }
}

/// Prints the rows of a table as CSV or JSON lines.
fn print_rows(
    input: Input,
    schema: &str,
    arguments: &TablesArguments,
    quiet: bool,
) -> anyhow::Result<ExitCode> {
    let selection = Selection::table(schema).with_rendered_labels();
    let load = |options: LoadOptions<'_>| input.load(&selection, options);
    let trace = progress::reading(arguments.reading, quiet, load)?;
    let table = match arguments.number {
        Some(number) => trace.numbered_table(schema, number)?,
        None => trace.table(schema)?,
    };

    let own = trace.notes.iter().map(ToString::to_string);
    for note in own.chain(others(&trace, table)).filter(|_| !quiet) {
        writeln!(out::notes(), "note: {}", shown(&note))?;
    }

    let standard_output = match arguments.format {
        RowFormat::Csv => out::data(),
        RowFormat::Jsonl => out::json(),
    };
    let mut out = io::BufWriter::new(standard_output);
    match arguments.format {
        RowFormat::Csv => rows::as_csv(table, &trace.names, &mut out)?,
        RowFormat::Jsonl => rows::as_json_lines(table, &trace.names, &mut out)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the note that names the other tables with the name of a table, if there are any.
fn others(trace: &Trace, table: &Table) -> Option<String> {
    let schema = &table.schema.name;
    let same = || {
        trace
            .tables()
            .iter()
            .filter(|other| other.schema.name == *schema)
    };
    let number = same().position(|other| std::ptr::eq(other, table))? + 1;
    let listed = same().zip(1..).map(|(other, number)| {
        format!(
            "number {number} has {}",
            counted(other.rows() as u64, "row")
        )
    });
    let listed: Vec<String> = listed.collect();
    (listed.len() > 1).then(|| {
        format!(
            "the run has {} tables named {schema}; this is number {number} (--number N prints \
             another): {}",
            listed.len(),
            listed.join(", ")
        )
    })
}

/// A line of the list of tables.
#[derive(Serialize)]
struct TableLine {
    /// Name of the table; by the file name if the file cannot be read.
    schema: String,
    run: Option<u64>,
    /// Number of rows. Null if the file cannot be read.
    rows: Option<usize>,
    columns: Option<Vec<String>>,
    /// Engineering type of each column. A column that is not decoded has Apple's internal name of its
    /// type.
    types: Option<Vec<String>>,
    file: String,
    problem: Option<String>,
}

impl TableLine {
    fn new(document: &ListedDocument, inside: &str) -> Self {
        // A file inside of the input is named from there.
        let file = document
            .file
            .strip_prefix(inside)
            .and_then(|rest| {
                rest.strip_prefix('/')
                    .or(inside.ends_with('/').then_some(rest))
            })
            .map_or(document.file.as_str(), |file| file.trim_start_matches('/'))
            .to_owned();

        match &document.table {
            Ok(table) => {
                let columns = table.schema.columns.iter();
                let types = columns.map(|column| column.engineering_type.clone());
                Self {
                    schema: table.schema.name.clone(),
                    run: table.origin.run,
                    rows: Some(table.rows),
                    columns: Some(table.schema.mnemonics()),
                    types: Some(types.collect()),
                    file,
                    problem: table
                        .truncated
                        .then(|| "TRUNCATED: only the complete rows".to_owned()),
                }
            }
            Err(error) => Self {
                schema: document.named_schema.clone(),
                run: None,
                rows: None,
                columns: None,
                types: None,
                file,
                problem: Some(error.problem().to_string()),
            },
        }
    }
}

/// Lists the tables of a recording.
fn list(input: &Input, arguments: &TablesArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let list = |options: LoadOptions<'_>| input.list(options);
    let documents = progress::reading(arguments.reading, quiet, list);
    let mut listed: Vec<TableLine> = documents
        .iter()
        .map(|document| TableLine::new(document, input.path()))
        .collect();
    // A table is looked for by its name; files of a bundle are in no order that a person knows.
    listed.sort_by(|a, b| (&a.schema, a.run).cmp(&(&b.schema, b.run)));

    if arguments.json {
        out::json().write_all(json::document(&listed)?.as_bytes())?;
    } else {
        let screen = screen(&listed, &not_exported(input, &listed), out::width());
        out::page().write_all(screen.as_bytes())?;
    }

    let failed: Vec<_> = documents
        .into_iter()
        .filter_map(|document| document.table.err())
        .filter(is_failure)
        .collect();
    let code = if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        exit::some_failed()
    };

    failed
        .into_iter()
        .for_each(|error| exit::print_error(&error.into()));
    Ok(code)
}

/// Returns whether an error makes the command fail. A file that Git LFS did not fetch, or an export
/// that matched nothing, is only listed as a table without rows.
fn is_failure(error: &metalens_trace::Error) -> bool {
    !matches!(
        error.problem(),
        Problem::LfsPointer | Problem::NothingSelected
    )
}

/// Returns the list for people. Files are left out where a line would not fit into the width.
fn screen(listed: &[TableLine], not_exported: &[String], width: Option<usize>) -> String {
    let mut lines = lines(listed, true);
    let widest = lines.iter().map(|line| display_width(line)).max();
    let has_files = width.is_none_or(|width| widest.is_none_or(|widest| widest <= width));
    if !has_files {
        lines = self::lines(listed, false);
    }

    let mut text = String::new();
    let rows = listed.iter().map(|table| table.rows);
    // The headings, and tables without rows, are faint.
    for (line, rows) in lines.iter().zip([Some(0)].into_iter().chain(rows)) {
        if rows == Some(0) {
            text.push_str(&format!("{FAINT}{line}{FAINT:#}\n"));
        } else {
            text.push_str(&format!("{line}\n"));
        }
    }
    if !has_files {
        text.push_str("\nFiles are left out: the lines would be too long; --json has them.\n");
    }

    if !not_exported.is_empty() {
        let tables = counted(not_exported.len() as u64, "table");
        text.push_str(&format!("\n{tables} of the recording not exported:\n"));
        for line in wrap(&shown(&not_exported.join(" ")), 96) {
            text.push_str(&format!("{FAINT}  {line}{FAINT:#}\n"));
        }
    }
    text
}

/// Returns a line for the headings and for each table.
fn lines(listed: &[TableLine], with_files: bool) -> Vec<String> {
    let runs: BTreeSet<u64> = listed.iter().filter_map(|table| table.run).collect();
    let several_runs = runs.len() > 1;

    let mut headings = vec![
        ("table", Align::Left),
        ("rows", Align::Right),
        ("columns", Align::Right),
    ];
    headings.extend(several_runs.then_some(("run", Align::Right)));
    headings.extend(with_files.then_some(("file", Align::Left)));
    headings.push(("", Align::Left));

    let mut columns = Columns::new(&headings);
    let number = |number: Option<u64>| number.map_or("-".to_owned(), count);
    for table in listed {
        let width = table.columns.as_ref().map(|columns| columns.len() as u64);
        let mut row = vec![
            shown(&table.schema).into_owned(),
            number(table.rows.map(|n| n as u64)),
            number(width),
        ];
        row.extend(several_runs.then(|| number(table.run)));
        row.extend(with_files.then(|| shown(&table.file).into_owned()));
        row.push(shown(table.problem.as_deref().unwrap_or("")).into_owned());
        columns.row(row);
    }
    columns.lines()
}

/// Returns the schemas of the table of contents that no file has.
fn not_exported(input: &Input, listed: &[TableLine]) -> Vec<String> {
    let runs = input.toc().into_iter().flat_map(|toc| &toc.runs);
    let named = runs
        .flat_map(|run| &run.tables)
        .map(|table| table.schema.as_str());

    let exported: BTreeSet<&str> = listed.iter().map(|table| table.schema.as_str()).collect();
    let missing: BTreeSet<&str> = named.filter(|schema| !exported.contains(schema)).collect();
    missing.into_iter().map(str::to_owned).collect()
}
