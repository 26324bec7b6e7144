//! Runs `metalens export`: has xctrace write a bundle's tables as XML.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::DecimalBytes;
use metalens_exporter::{ExportRequest, Exported, TableSelection, TableState, TimeRange};
use metalens_text::shown;
use metalens_text::units::counted;

use crate::args::ExportArguments;
use crate::args::requests::check_times;
use crate::exit::Misuse;
use crate::{exit, exporting, out, view};

pub(crate) fn run(arguments: &ExportArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    check_times(arguments.from, arguments.to)?;
    let folders = folders(arguments)?;

    let mut done = Vec::new();
    let mut is_complete = true;
    for (bundle, folder) in arguments.bundles.iter().zip(folders) {
        let request = request(arguments, bundle, folder);
        match exporting::export(&request, quiet) {
            Ok(exported) => {
                is_complete &= exported.is_complete();
                print_result(&exported, quiet)?;
                done.push(exported);
            }
            Err(error) if arguments.bundles.len() == 1 || stops_all(&error) => return Err(error),
            Err(error) => {
                is_complete = false;
                exit::print_error(&error.context(bundle.display().to_string()));
            }
        }
    }

    if arguments.json {
        match done.as_slice() {
            [only] if arguments.bundles.len() == 1 => view::print_json(only)?,
            _ => view::print_json(&done)?,
        }
    }

    Ok(if is_complete {
        ExitCode::SUCCESS
    } else {
        exit::some_failed()
    })
}

/// Returns whether an error would stop the export of every bundle.
fn stops_all(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(metalens_exporter::Error::Interrupted { .. } | metalens_exporter::Error::Xctrace(_))
    ) || error.is::<metalens_xctrace::Error>()
}

/// Returns the request to export one bundle.
fn request(arguments: &ExportArguments, bundle: &Path, folder: PathBuf) -> ExportRequest {
    let wanted = match (arguments.all, arguments.schemas.is_empty()) {
        (true, _) => TableSelection::All,
        (false, true) => TableSelection::Known,
        (false, false) => TableSelection::These(arguments.schemas.clone()),
    };
    ExportRequest {
        bundle: bundle.to_owned(),
        folder,
        run: arguments.run,
        wanted,
        default_tables: exporting::default_tables(),
        range: TimeRange {
            from_ns: arguments.from,
            to_ns: arguments.to,
        },
        force: arguments.force,
    }
}

/// Returns the folder of each export: `X.export` beside its bundle, else `--output`, else
/// `X.export` in `--output` if there are several bundles.
fn folders(arguments: &ExportArguments) -> anyhow::Result<Vec<PathBuf>> {
    let several = arguments.bundles.len() > 1;
    let folders: Vec<PathBuf> = arguments
        .bundles
        .iter()
        .map(|bundle| {
            let beside = beside(bundle)?;
            Ok(match &arguments.output {
                None => {
                    // The user did not name this path, so a link here must not redirect the export.
                    metalens_files::refuse_link(&beside)?;
                    beside
                }
                Some(folder) if several => folder.join(beside.file_name().unwrap_or_default()),
                Some(folder) => folder.clone(),
            })
        })
        .collect::<anyhow::Result<_>>()?;

    let mut unique = BTreeSet::new();
    if let Some(shared) = folders.iter().find(|folder| !unique.insert(*folder)) {
        return Err(Misuse(format!(
            "two bundles would be exported to {}: export them one at a time, each with its own -o",
            shared.display()
        ))
        .into());
    }
    Ok(folders)
}

/// Returns the default folder of a bundle's export.
fn beside(bundle: &Path) -> anyhow::Result<PathBuf> {
    let name = bundle.file_name().ok_or_else(|| {
        let shown = bundle.display();
        Misuse(format!(
            "{shown} has no name to derive the export folder from: give the folder with -o"
        ))
    })?;

    let is_trace = bundle
        .extension()
        .is_some_and(|extension| extension == "trace");
    let stem = if is_trace { bundle.file_stem() } else { None };
    let mut name = stem.unwrap_or(name).to_owned();
    name.push(".export");
    Ok(bundle.with_file_name(name))
}

/// Prints what an export has, and what it lacks.
fn print_result(exported: &Exported, quiet: bool) -> anyhow::Result<()> {
    if !quiet {
        let complete = exported.holds.complete_tables();
        let files = exported.holds.in_state(TableState::Whole);
        let bytes = DecimalBytes(files.map(|table| table.bytes).sum());
        let tables = counted(complete as u64, "table");
        let folder = shown(&exported.folder);
        writeln!(out::notes(), "{folder} has {tables}, {bytes}")?;
    }

    if let Some(problems) = exporting::problems(exported) {
        exit::print_error(&anyhow::anyhow!(problems));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_named_after_its_bundle() {
        let check = |bundle: &str, expected: Option<&str>| {
            let folder = beside(Path::new(bundle)).ok();
            assert_eq!(folder.as_deref(), expected.map(Path::new), "{bundle}");
        };
        check("run.trace", Some("run.export"));
        check("/a/run.trace/", Some("/a/run.export"));
        check("a.b/c.d", Some("a.b/c.d.export"));
        check("..", None);
        check("/", None);
    }
}
