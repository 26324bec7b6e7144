//! Writes the files of a benchmark.

use anyhow::Context;
use metalens_bench::Bench;
use metalens_render::folder::bench as bench_folder;

use crate::args::bench::BenchArguments;
use crate::{opening, out};

/// Refuses a file that exists. Recording takes long.
pub(super) fn check(arguments: &BenchArguments) -> anyhow::Result<()> {
    if let Some(file) = &arguments.save_baseline {
        metalens_files::refuse_existing(file, arguments.force)?;
    }
    Ok(())
}

/// Writes the result into the folder.
pub(super) fn write(arguments: &BenchArguments, result: &Bench) -> anyhow::Result<()> {
    match &arguments.output {
        Some(folder) => bench_folder::write(result, folder)
            .with_context(|| format!("cannot write the result into {}", folder.display())),
        None => Ok(()),
    }
}

/// Names the files on standard error, and opens the page if asked to. Returns false if no browser was
/// found.
pub(super) fn tell(arguments: &BenchArguments, quiet: bool) -> anyhow::Result<bool> {
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
