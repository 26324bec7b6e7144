//! The exporter as commands use it: which tables, how far it has come, and
//! bundles that are read while xctrace exports them.

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use metalens_analyzer::{profile_selection, selection_with_recovery};
use metalens_exporter::{Event, Exported, Exporter, Request, TableState, TableStream};
use metalens_text::shown;
use metalens_trace::{Input, Selection, TableSource};
use metalens_xctrace::{Error, Tool, ToolSource};

use crate::exit::NotRecorded;
use crate::interrupt::Listening;
use crate::out;
use crate::reading::Reading;

/// The tables that metalens reads.
pub(crate) fn known_tables() -> Vec<String> {
    let selections = [selection_with_recovery(), profile_selection()];
    let schemas = selections.iter().filter_map(Selection::schemas).flatten();
    let mut schemas: Vec<String> = schemas.map(str::to_owned).collect();
    schemas.sort();
    schemas.dedup();
    schemas
}

/// Exports a bundle; Ctrl-C leaves what is whole.
pub(crate) fn export(request: &Request, quiet: bool) -> anyhow::Result<Exported> {
    let tool = Tool::find(&ToolSource::from_environment())?;
    let listening = Listening::begin()?;
    let exporter = Exporter::new(tool, listening.heard())?;
    let bar = if quiet {
        ProgressBar::hidden()
    } else {
        spinner()
    };
    let result = exporter.export(request, &|event| show(&bar, event, quiet));
    bar.finish_and_clear();
    Ok(result?)
}

/// Opens a bundle whose tables xctrace exports while they are read.
pub(crate) fn open(path: &Path, reading: Reading, quiet: bool) -> anyhow::Result<Input> {
    let tool = Tool::find(&ToolSource::from_environment()).map_err(|error| match error {
        Error::NoMac => anyhow::Error::new(NotRecorded(
            "--reader xctrace needs a Mac with Xcode: leave it out, and metalens reads the bundle \
             itself",
        )),
        other => other.into(),
    })?;
    // Nothing lies on a disk that would have to be taken away: Ctrl-C just ends it.
    let exporter = Exporter::new(tool, Arc::default())?;
    let hidden = ProgressBar::hidden();
    let tell = Rc::new(move |event: Event<'_>| show(&hidden, event, quiet));
    let streams = exporter.streams(path, reading.run, &known_tables(), tell)?;
    let sources = streams.tables.into_iter().map(source).collect();
    Ok(Input::from_streams(path, streams.toc.as_deref(), sources)?)
}

fn source(table: TableStream) -> TableSource {
    TableSource {
        schema: table.schema().to_owned(),
        run: table.run_position(),
        open: Box::new(move || table.open().map_err(with_a_way_out)),
    }
}

fn with_a_way_out(error: io::Error) -> io::Error {
    io::Error::other(format!(
        "{error}; without --reader xctrace metalens reads the bundle itself"
    ))
}

/// What is wrong with an export, if something is.
pub(crate) fn trouble(exported: &Exported) -> Option<String> {
    let mut parts = Vec::new();
    for failure in &exported.failed {
        parts.push(format!(
            "{} could not be exported: {}",
            failure.schema, failure.why
        ));
    }
    for table in exported.holds.in_state(TableState::CutOff) {
        let file = table.file.as_deref().unwrap_or_default();
        parts.push(format!(
            "{} is cut off, its first rows are in {file}",
            table.schema
        ));
    }
    for schema in &exported.absent {
        parts.push(format!("there is no table {schema}"));
    }
    (!parts.is_empty()).then(|| format!("{}: {}", exported.folder, shown(&parts.join("; "))))
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {prefix}{msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    // It moves while xctrace thinks: tables take minutes.
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

fn show(bar: &ProgressBar, event: Event<'_>, quiet: bool) {
    match event {
        Event::Contents => bar.set_prefix("exporting the table of contents"),
        Event::Table { schema, number, of } => {
            bar.set_prefix(format!("exporting {} ({number} of {of})", shown(schema)));
            bar.set_message("");
        }
        // It thinks before it writes.
        Event::Written(0) => {}
        Event::Written(bytes) => {
            bar.set_message(format!(", {}", indicatif::DecimalBytes(bytes)));
        }
        Event::Note(_) if quiet => {}
        Event::Note(note) => bar.suspend(|| {
            out::note(&format!("note: {}", shown(note)));
        }),
    }
}
