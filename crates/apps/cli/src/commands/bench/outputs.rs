//! Writes the files of a benchmark.

use anyhow::Context;
use metalens_bench::Bench;
use metalens_render::folder::bench as bench_folder;
use metalens_render::{bench, json, markdown};

use crate::args::bench::BenchArguments;
use crate::{atomic_file, opening, out};

/// Refuses files that exist. Recording takes long.
pub(super) fn check(arguments: &BenchArguments) -> anyhow::Result<()> {
    let exports = [
        &arguments.export_json,
        &arguments.export_csv,
        &arguments.export_markdown,
        &arguments.save_baseline,
    ];
    for file in exports.into_iter().flatten() {
        metalens_files::refuse_existing(file, arguments.force)?;
    }
    Ok(())
}

/// Writes the exports, and the result into the folder.
pub(super) fn write(arguments: &BenchArguments, result: &Bench) -> anyhow::Result<()> {
    let force = arguments.force;
    if let Some(file) = &arguments.export_json {
        atomic_file::write(file, force, |out| {
            Ok(out.write_all(json::document(result)?.as_bytes())?)
        })?;
    }
    if let Some(file) = &arguments.export_csv {
        atomic_file::write(file, force, |out| Ok(bench::csv(result, out)?))?;
    }
    if let Some(file) = &arguments.export_markdown {
        let page = markdown::page(&bench::document(result), &[]);
        atomic_file::write(file, force, |out| Ok(out.write_all(page.as_bytes())?))?;
    }
    match &arguments.output {
        Some(folder) => bench_folder::write(result, folder)
            .with_context(|| format!("cannot write the result into {}", folder.display())),
        None => Ok(()),
    }
}

/// Names the files on standard error, and opens the page if asked to. Returns false if no browser was
/// found.
pub(super) fn tell(arguments: &BenchArguments, quiet: bool) -> anyhow::Result<bool> {
    let exports = [
        &arguments.export_json,
        &arguments.export_csv,
        &arguments.export_markdown,
    ];
    for file in exports.into_iter().flatten() {
        out::wrote(file, quiet);
    }
    let Some(folder) = &arguments.output else {
        return Ok(true);
    };
    out::wrote_folder(folder, bench_folder::PAGE, quiet);
    if arguments.open {
        opening::open(&folder.join(bench_folder::PAGE), quiet)
    } else {
        Ok(true)
    }
}
