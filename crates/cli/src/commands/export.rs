//! `metalens export`: a bundle's tables as XML, as xctrace writes them.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use indicatif::DecimalBytes;
use metalens_analyzer::units::counted;
use metalens_exporter::{Exported, Request, TableSelection, TableState, TimeRange};
use metalens_render::json;
use metalens_text::shown;

use crate::args::ExportArguments;
use crate::args::requests::check_times;
use crate::{exit, exporting, out};

pub(crate) fn run(arguments: &ExportArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    check_times(arguments.from, arguments.to)?;
    let folders = folders(arguments)?;
    let mut done = Vec::new();
    let mut all_well = true;
    for (bundle, folder) in arguments.traces.iter().zip(folders) {
        let request = request(arguments, bundle, folder);
        match exporting::export(&request, quiet) {
            Ok(exported) => {
                all_well &= exported.is_complete();
                tell(&exported, quiet)?;
                done.push(exported);
            }
            Err(error) if arguments.traces.len() == 1 || stops_all(&error) => return Err(error),
            Err(error) => {
                all_well = false;
                exit::tell(&error.context(bundle.display().to_string()));
            }
        }
    }
    if arguments.json {
        let json = match done.as_slice() {
            [only] if arguments.traces.len() == 1 => json::document(only)?,
            _ => json::document(&done)?,
        };
        out::json().write_all(json.as_bytes())?;
    }
    Ok(if all_well {
        ExitCode::SUCCESS
    } else {
        exit::some_failed()
    })
}

/// Whether the next bundle would fare no better.
fn stops_all(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(metalens_exporter::Error::Interrupted { .. } | metalens_exporter::Error::Xctrace(_))
    ) || error.is::<metalens_xctrace::Error>()
}

fn request(arguments: &ExportArguments, bundle: &Path, folder: PathBuf) -> Request {
    let wanted = match (arguments.all, arguments.schemas.is_empty()) {
        (true, _) => TableSelection::All,
        (false, true) => TableSelection::Known,
        (false, false) => TableSelection::These(arguments.schemas.clone()),
    };
    Request {
        bundle: bundle.to_owned(),
        folder,
        run: arguments.run,
        wanted,
        known: exporting::known_tables(),
        range: TimeRange {
            from_ns: arguments.from,
            to_ns: arguments.to,
        },
        gzip: arguments.gzip,
        force: arguments.force,
    }
}

/// Where each bundle goes: `X.export` beside it; of several into the folder named.
fn folders(arguments: &ExportArguments) -> anyhow::Result<Vec<PathBuf>> {
    let several = arguments.traces.len() > 1;
    let folder = |bundle: &PathBuf| {
        let beside = beside(bundle)?;
        Ok(match &arguments.output {
            None => {
                // Nobody named it.
                metalens_files::refuse_link(&beside)?;
                beside
            }
            Some(folder) if several => folder.join(beside.file_name().unwrap_or_default()),
            Some(folder) => folder.clone(),
        })
    };
    let folders: Vec<PathBuf> = arguments
        .traces
        .iter()
        .map(folder)
        .collect::<anyhow::Result<_>>()?;
    let mut seen = BTreeSet::new();
    if let Some(twice) = folders.iter().find(|folder| !seen.insert(*folder)) {
        bail!(
            "two of the bundles would be exported to {}",
            twice.display()
        );
    }
    Ok(folders)
}

fn beside(bundle: &Path) -> anyhow::Result<PathBuf> {
    let name = bundle.file_name().with_context(|| {
        let shown = bundle.display();
        format!("{shown} has no name to call the export after: name its folder with -o")
    })?;
    let is_trace = bundle
        .extension()
        .is_some_and(|extension| extension == "trace");
    let stem = if is_trace { bundle.file_stem() } else { None };
    let mut name = stem.unwrap_or(name).to_owned();
    name.push(".export");
    Ok(bundle.with_file_name(name))
}

/// What was done, and what was not.
fn tell(exported: &Exported, quiet: bool) -> anyhow::Result<()> {
    if !quiet {
        let whole = exported.holds.complete_tables();
        let files = exported.holds.in_state(TableState::Whole);
        let bytes = DecimalBytes(files.map(|table| table.bytes).sum());
        let tables = counted(whole as u64, "table");
        let written = match exported.written {
            0 => "; nothing was missing".to_owned(),
            written if written < whole => format!("; {written} written now, the others were there"),
            _ => String::new(),
        };
        let folder = shown(&exported.folder);
        writeln!(out::notes(), "{folder} holds {tables}, {bytes}{written}")?;
    }
    if let Some(trouble) = exporting::trouble(exported) {
        exit::tell(&anyhow::anyhow!(trouble));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_folder_is_called() {
        let check = |bundle: &str, expected: Option<&str>| {
            let found = beside(Path::new(bundle)).ok();
            assert_eq!(found.as_deref(), expected.map(Path::new), "{bundle}");
        };
        check("run.trace", Some("run.export"));
        check("/a/run.trace/", Some("/a/run.export"));
        check("a.b/c.d", Some("a.b/c.d.export"));
        check("..", None);
        check("/", None);
    }
}
