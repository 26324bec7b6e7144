//! Runs `metalens-query`, the program behind `metalens query`.
//!
//! `metalens analyze --parquet` makes a dataset of each recording first. So there is one way to query,
//! and one place that reads recordings.

mod arguments;
mod failure;
mod memory;
mod recordings;
mod screen;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, Parser};
use metalens_dataset::describe;
use metalens_failure::{in_plain_words, what_to_do};
use metalens_query::{Error, Library, QueryAnswer, check, is_reading};
use metalens_text::streams;

use crate::arguments::{Arguments, Format};
use crate::failure::{Misuse, Unavailable};
use crate::recordings::AddOutcome;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // If this cannot be written, no other output can report it.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_reading() {
            print(panic);
        }
    }));
    // A deep statement is walked by recursion, more deeply than the main thread's stack allows.
    let thread = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || run(&arguments));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(Ok(code))) => code,
        Ok(Ok(Err(error))) => fail(&error),
        Ok(Err(_)) => fail(&anyhow::anyhow!("the query ended in a panic of polars")),
        Err(error) => fail(&error.into()),
    }
}

const STACK_BYTES: usize = 1 << 30;

/// Answers a query, or describes the tables.
fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Some(sql) = arguments.query()? else {
        return describe_only(arguments);
    };
    let format = format(arguments)?;
    // The error of a wrong query must not wait until all recordings are read.
    check(sql)?;
    if let Some(file) = &arguments.output {
        metalens_files::refuse_existing(file, arguments.force)?;
    }
    memory::watch(arguments.max_memory)?;

    let mut library = Library::new();
    // The temporary folder with the recordings' dataset must exist until the query is answered.
    let _folder = match recordings::add(&mut library, arguments)? {
        AddOutcome::All(folder) => folder,
        AddOutcome::Failed(code) => return Ok(code),
    };

    if library.twice() > 0 && !arguments.quiet {
        let runs = match library.twice() {
            1 => "1 run".to_owned(),
            several => format!("{several} runs"),
        };
        writeln!(
            streams::messages(),
            "note: {runs} given more than once, and counted once"
        )?;
    }
    show(arguments, &library.ask(sql)?, format)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the columns of all tables, or completions.
fn describe_only(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    let mut command = Arguments::command().name("metalens-query");
    if let Some(shell) = arguments.completions {
        clap_complete::generate(shell, &mut command, "metalens-query", &mut text);
    } else {
        text = screen::schema(&describe()).into_bytes();
    }
    let mut out = streams::answer();
    out.write_all(&text)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the requested format, else the one that the file's extension names.
fn format(arguments: &Arguments) -> anyhow::Result<Format> {
    let extension = arguments.output.as_ref();
    let extension = extension.and_then(|file| file.extension()?.to_str());
    let format = match (arguments.format, extension) {
        (Some(format), _) => format,
        (None, Some("csv")) => Format::Csv,
        (None, Some("json")) => Format::Json,
        (None, Some("parquet")) => Format::Parquet,
        (None, Some("txt") | None) => Format::Table,
        (None, Some(_)) => {
            let why =
                "no format has this extension: use .csv, .json, .parquet or .txt, or --format";
            return Err(Misuse(why).into());
        }
    };
    if format == Format::Parquet && arguments.output.is_none() {
        return Err(Misuse("--format parquet needs a file: -o FILE.parquet").into());
    }
    Ok(format)
}

/// Writes the answer to the file, or prints it.
fn show(arguments: &Arguments, answer: &QueryAnswer, format: Format) -> anyhow::Result<()> {
    let Some(file) = &arguments.output else {
        let mut out = streams::answer();
        write(answer, format, arguments, &mut out)?;
        return Ok(out.flush()?);
    };
    metalens_files::write(file, arguments.force, |out| {
        write(answer, format, arguments, out)
            .with_context(|| format!("cannot write {}", file.display()))
    })
}

/// Writes the answer in a format.
fn write(
    answer: &QueryAnswer,
    format: Format,
    arguments: &Arguments,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    match format {
        Format::Table => out.write_all(screen::table(answer, arguments.rows).as_bytes())?,
        Format::Csv => answer.write_csv(out)?,
        Format::Json => answer.write_json(out)?,
        Format::Parquet => answer.write_parquet(out)?,
    }
    Ok(())
}

/// Prints an error and what to do about it; returns its exit code.
fn fail(error: &anyhow::Error) -> ExitCode {
    let query = error.downcast_ref::<Error>();
    let message = format!("{error:#}");
    let mut text = format!("error: {}\n", in_plain_words(&message));
    let hint = query.and_then(Error::hint);
    if let Some(hint) = hint.or_else(|| what_to_do(&message).map(str::to_owned)) {
        text.push_str(&format!("hint: {hint}\n"));
    }

    // If this cannot be written, no other output can report it.
    let _ = streams::messages().write_all(text.as_bytes());

    let is_usage = error.is::<Misuse>() || query.is_some_and(Error::is_usage);
    if is_usage {
        ExitCode::from(2)
    } else if error.is::<Unavailable>() {
        ExitCode::from(3)
    } else {
        ExitCode::FAILURE
    }
}
