//! Runs the exporter for commands: exports the tables that metalens reads, and shows the progress.

use std::time::Duration;

use indicatif::ProgressBar;
use metalens_analyzer::{selection_with_recovery, stacks_selection};
use metalens_exporter::{ExportEvent, ExportRequest, Exported, Exporter, TableState};
use metalens_text::shown;
use metalens_trace::Selection;
use metalens_xctrace::{Tool, ToolSource};

use crate::interrupt::Listening;
use crate::{out, progress};

/// Returns the names of the tables that an export has unless others are wanted: those that metalens reads.
pub(crate) fn default_tables() -> Vec<String> {
    let selections = [selection_with_recovery(), stacks_selection()];
    let schemas = selections.iter().filter_map(Selection::schemas).flatten();
    let mut schemas: Vec<String> = schemas.map(str::to_owned).collect();
    schemas.sort();
    schemas.dedup();
    schemas
}

/// Exports a bundle. Ctrl-C stops the export and keeps the complete tables.
pub(crate) fn export(request: &ExportRequest, quiet: bool) -> anyhow::Result<Exported> {
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

/// Describes what an export lacks. None if it is complete.
pub(crate) fn problems(exported: &Exported) -> Option<String> {
    let mut parts = Vec::new();
    for failure in &exported.failed {
        parts.push(format!("cannot export {}: {}", failure.schema, failure.why));
    }
    for table in exported.holds.in_state(TableState::CutOff) {
        parts.push(format!(
            "{} is cut off; {} has its first rows",
            table.schema, table.file
        ));
    }
    for schema in &exported.absent {
        parts.push(format!("the bundle has no table {schema}"));
    }

    (!parts.is_empty()).then(|| format!("{}: {}", exported.folder, shown(&parts.join("; "))))
}

fn spinner() -> ProgressBar {
    let bar = progress::with_template(ProgressBar::new_spinner(), "{spinner} {prefix}{msg}");
    // xctrace may take minutes for a table and print nothing: the spinner shows that it works.
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Shows an event of an export in the progress bar.
fn show(bar: &ProgressBar, event: ExportEvent<'_>, quiet: bool) {
    match event {
        ExportEvent::Contents => bar.set_prefix("exporting the table of contents"),
        ExportEvent::Table { schema, number, of } => {
            bar.set_prefix(format!("exporting {} ({number} of {of})", shown(schema)));
            bar.set_message("");
        }
        // xctrace computes before it writes the first byte.
        ExportEvent::Written(0) => {}
        ExportEvent::Written(bytes) => {
            bar.set_message(format!(", {}", indicatif::DecimalBytes(bytes)));
        }
        ExportEvent::Note(_) if quiet => {}
        ExportEvent::Note(note) => bar.suspend(|| {
            out::note(&format!("note: {}", shown(note)));
        }),
    }
}
