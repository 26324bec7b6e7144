//! Runs `metalens tables`: lists the tables of a recording, or prints the rows of one.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::ExitCode;

use metalens_message::Message;
use metalens_render::document::{
    Block, Cell, Column, Document, Section, Table as ShownTable, Tone,
};
use metalens_text::shown;
use metalens_text::units::counted;
use metalens_trace::{Input, ListedDocument, LoadOptions, Problem, Selection, Table, Trace};
use serde::Serialize;

use crate::args::{RowFormat, TablesArguments};
use crate::exit::Misuse;
use crate::progress::LongWork;
use crate::view::{self, View};
use crate::{exit, out};

mod cells;
mod rows;

pub(crate) fn run(arguments: &TablesArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    match &arguments.schema {
        Some(schema) => print_rows(schema, arguments, quiet),
        None => list(&Input::open(&arguments.input)?, arguments, quiet),
    }
}

/// Prints the rows of a table as CSV or JSON lines.
fn print_rows(schema: &str, arguments: &TablesArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let selection = Selection::table(schema).with_rendered_labels();
    let trace = LongWork::begin(quiet).load(&arguments.input, &selection, arguments.reading)?;
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
                    rows: Some(table.rows()),
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
    let documents = LongWork::begin(quiet).reading(arguments.reading, list);
    let mut listed: Vec<TableLine> = documents
        .iter()
        .map(|document| TableLine::new(document, input.path()))
        .collect();
    if let Some(run) = arguments.reading.run {
        let is_other = |line: &TableLine| line.run.is_some_and(|own| own != run);
        if listed.iter().all(is_other) {
            return Err(Misuse(format!("the recording has no run {run}")).into());
        }
        listed.retain(|line| !is_other(line));
    }
    // A table is looked for by its name; files of a bundle are in no order that a person knows.
    listed.sort_by(|a, b| (&a.schema, a.run).cmp(&(&b.schema, b.run)));

    if arguments.json {
        view::print_json(&listed)?;
    } else {
        let mut document = document(&listed, &not_exported(input, &listed));
        let view = View {
            sort: arguments.sort.clone(),
            ..View::default()
        };
        view.choose(&mut document, "list")?;
        view::print(&document, arguments.markdown)?;
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

/// Returns the list for people.
fn document(listed: &[TableLine], not_exported: &[String]) -> Document {
    let runs: BTreeSet<u64> = listed.iter().filter_map(|table| table.run).collect();
    let has_runs = runs.len() > 1;
    let has_problems = listed.iter().any(|table| table.problem.is_some());
    let mut columns = vec![
        Column::words("table"),
        Column::number("rows"),
        Column::number("columns"),
    ];
    columns.extend(has_runs.then(|| Column::number("run")));
    columns.push(Column::label("file").spare(1));
    columns.extend(has_problems.then(|| Column::sentence("problem")));

    let mut table = ShownTable::new("tables", "Tables of the recording", columns).sortable();
    for line in listed {
        let width = line.columns.as_ref().map(|columns| columns.len() as u64);
        let mut cells = vec![
            metalens_message::name(&line.schema),
            number(line.rows.map(|rows| rows as u64)),
            number(width),
        ];
        cells.extend(has_runs.then(|| number(line.run)));
        cells.push(metalens_message::path(&line.file));
        let problem = line.problem.as_deref().unwrap_or_default();
        cells.extend(has_problems.then(|| Message::words(problem)));
        // A table without rows is faint, and one that cannot be read says why.
        let tone = match line.rows {
            Some(0) => Some(Tone::Faint),
            Some(_) => None,
            None => Some(Tone::Bad),
        };
        table.row(cells.into_iter().map(|text| match tone {
            Some(tone) => Cell::verdict(text, tone),
            None => Cell::from(text),
        }));
    }

    let names = not_exported
        .iter()
        .map(|schema| metalens_message::name(schema));
    let missing = Section::new("missing", "Not exported", 0);
    let missing = missing.with(Block::Remark(Message::joined(names, ", ")));
    let listed = Section::new("tables", "", 0).with(Block::Table(table));
    let missing = (!not_exported.is_empty()).then_some(missing);
    Document {
        title: "Tables of a recording".into(),
        sections: [listed].into_iter().chain(missing).collect(),
        footer: concat!("metalens ", env!("CARGO_PKG_VERSION")).into(),
    }
}

/// Returns a number; a dash if it is unknown.
fn number(number: Option<u64>) -> Message {
    number.map_or_else(|| "-".into(), metalens_message::count)
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
