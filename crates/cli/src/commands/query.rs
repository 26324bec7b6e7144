//! `metalens query`: SQL over traces and datasets.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use metalens_analyzer::Request;
use metalens_analyzer::units::{count, counted};
use metalens_dataset::{AboutTable, Answer, Cell, Choices, Library, describe, is_dataset};

use crate::args::query::{QueryArguments, QueryFormat};
use crate::exit::Misuse;
use crate::screen::columns::{Align, Columns, shorten};
use crate::screen::safe::safe;
use crate::screen::style::{FAINT, TITLE};
use crate::whole;

/// Longer texts are shortened in a table: a column of them would push all others away.
const WIDEST: usize = 60;

pub(crate) fn run(arguments: &QueryArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let Some(sql) = arguments.sql.as_deref().filter(|_| !arguments.schema) else {
        anstream::stdout().write_all(schema(&describe()).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let format = format(arguments)?;
    if let Some(file) = &arguments.output {
        whole::refuse_existing(file, arguments.force)?;
    }
    // What is wrong with a query shows before anything is read.
    Library::check(sql)?;
    let mut library = Library::new();
    for path in &arguments.paths {
        add(&mut library, path, arguments, quiet).map_err(|error| named(error, path))?;
    }
    if !library.twice().is_empty() && !quiet {
        let runs = counted(library.twice().len() as u64, "run");
        writeln!(
            anstream::stderr(),
            "note: {runs} named more than once, and counted once"
        )?;
    }
    let answer = library.ask(sql)?;
    show(&answer, format, arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// Of several inputs, which it was, if the failure itself does not say.
fn named(error: anyhow::Error, path: &Path) -> anyhow::Error {
    let path = path.display().to_string();
    match format!("{error:#}").contains(&path) {
        true => error,
        false => error.context(safe(&path)),
    }
}

/// What was asked for, else what the file is called.
fn format(arguments: &QueryArguments) -> anyhow::Result<QueryFormat> {
    let ending = arguments
        .output
        .as_ref()
        .and_then(|file| file.extension()?.to_str());
    let format = arguments.format.unwrap_or(match ending {
        Some("csv") => QueryFormat::Csv,
        Some("json") => QueryFormat::Json,
        Some("parquet") => QueryFormat::Parquet,
        _ => QueryFormat::Table,
    });
    match (format, &arguments.output) {
        (QueryFormat::Parquet, None) => {
            let why = "--format parquet needs a file: -o FILE.parquet";
            Err(Misuse(why.to_owned()).into())
        }
        _ => Ok(format),
    }
}

fn add(
    library: &mut Library,
    path: &Path,
    arguments: &QueryArguments,
    quiet: bool,
) -> anyhow::Result<()> {
    if is_dataset(path) {
        return Ok(library.add_dataset(path)?);
    }
    let request = Request {
        keep_everyone: true,
        ..Request::default()
    };
    let analysis = super::analysis(path, arguments.reading, &request, quiet)?;
    let choices = Choices {
        show_names: arguments.show_names,
    };
    Ok(library.add_analysis(&analysis, choices)?)
}

fn show(answer: &Answer, format: QueryFormat, arguments: &QueryArguments) -> anyhow::Result<()> {
    let Some(file) = &arguments.output else {
        if format == QueryFormat::Table {
            return Ok(anstream::stdout().write_all(table(answer, arguments.rows).as_bytes())?);
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        write(answer, format, arguments, &mut out)?;
        return Ok(out.flush()?);
    };
    if format == QueryFormat::Parquet {
        // Its writer must be one that other threads could have.
        let mut bytes = Vec::new();
        answer.write_parquet(&mut bytes, file)?;
        return whole::write(file, arguments.force, |out| Ok(out.write_all(&bytes)?));
    }
    whole::write(file, arguments.force, |out| {
        write(answer, format, arguments, out)
    })
}

fn write(
    answer: &Answer,
    format: QueryFormat,
    arguments: &QueryArguments,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    match format {
        QueryFormat::Csv => answer.write_csv(out)?,
        QueryFormat::Json => answer.write_json(out)?,
        QueryFormat::Table | QueryFormat::Parquet => {
            let text = table(answer, arguments.rows);
            out.write_all(anstream::adapter::strip_str(&text).to_string().as_bytes())?;
        }
    }
    Ok(())
}

/// Aligned columns, and how many rows are not shown.
fn table(answer: &Answer, rows: usize) -> String {
    let found = answer.columns();
    let names: Vec<String> = found.iter().map(|column| safe(&column.name)).collect();
    let headings = names
        .iter()
        .zip(&found)
        .map(|(name, column)| match column.is_number {
            true => (name.as_str(), Align::Right),
            false => (name.as_str(), Align::Left),
        });
    let mut columns = Columns::new(&headings.collect::<Vec<_>>());
    for row in 0..rows.min(answer.rows()) {
        columns.row(answer.row(row).map(|cell| shown(&cell)));
    }
    let mut text = lines(columns);
    let more = answer.rows().saturating_sub(rows);
    if more > 0 {
        let more = count(more as u64);
        text.push_str(&format!(
            "{FAINT}  … {more} more rows: --rows shows more, --format csv or json all{FAINT:#}\n"
        ));
    }
    if answer.rows() == 0 {
        text.push_str(&format!("{FAINT}  no rows{FAINT:#}\n"));
    }
    text
}

fn lines(columns: Columns) -> String {
    let mut text = String::new();
    for (at, line) in columns.lines().into_iter().enumerate() {
        match at {
            0 => text.push_str(&format!("{FAINT}{line}{FAINT:#}\n")),
            _ => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

fn shown(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Absent => "null".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Number(number) => fraction(*number),
        Cell::Flag(flag) => flag.to_string(),
        Cell::Text(text) => shorten(&safe(text), WIDEST),
    }
}

/// Six digits are enough for people.
fn fraction(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        return format!("{number:.5e}");
    }
    let text = format!("{number:.6}");
    let text = text.trim_end_matches('0');
    text.strip_suffix('.').unwrap_or(text).to_owned()
}

/// The tables and their columns.
fn schema(tables: &[AboutTable]) -> String {
    let mut text = String::new();
    for (at, table) in tables.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        let (name, meaning) = (table.name, table.meaning);
        text.push_str(&format!("{TITLE}{name}{TITLE:#}  {meaning}\n"));
        let headings = ["column", "type", "unit", "meaning"].map(|name| (name, Align::Left));
        let mut columns = Columns::new(&headings);
        for column in &table.columns {
            let cells = [column.name, column.kind.name(), column.unit, column.meaning];
            columns.row(cells.map(str::to_owned));
        }
        text.push_str(&lines(columns));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_short() {
        let cases = [
            (0.0, "0"),
            (0.5, "0.5"),
            (2.0, "2"),
            (100.0, "100"),
            (1.0 / 3.0, "0.333333"),
            (-1234.5678, "-1234.5678"),
            (1e-9, "1.00000e-9"),
            (3e20, "3.00000e20"),
        ];
        for (number, expected) in cases {
            assert_eq!(fraction(number), expected);
        }
    }
}
