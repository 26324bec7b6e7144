//! Writes the files of a benchmark.

use std::path::Path;

use anyhow::Context;
use metalens_analyzer::LONGEST_REPORT;
use metalens_bench::{Bench, SCHEMA};
use metalens_charts::{ChartOptions, Theme, alt_heat_map, draw_heat_map, png};
use metalens_files::Folder;
use metalens_render::markdown::{Picture, PictureSource};
use metalens_render::{bench, html, json, markdown};

use crate::args::bench::BenchArguments;
use crate::{atomic_file, out};

/// Name of the result in the folder.
const RESULT: &str = "bench.json";
/// Name of the page in the folder.
const PAGE: &str = "bench.html";
/// Name of the folder of charts.
const CHARTS: &str = "charts";
/// Device pixels per pixel, as for all charts of pages.
const SCALE: u8 = 2;

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
        Some(folder) => write_folder(folder, result)
            .with_context(|| format!("cannot write the result into {}", folder.display())),
        None => Ok(()),
    }
}

/// Reads the result that the folder has from an earlier benchmark. None if it has none that this
/// version can read.
pub(super) fn last(arguments: &BenchArguments) -> Option<Bench> {
    let file = arguments.output.as_ref()?.join(RESULT);
    let text = metalens_files::read(&file, LONGEST_REPORT).ok()?;
    let result: Bench = serde_json::from_slice(&text).ok()?;
    (result.schema == SCHEMA).then_some(result)
}

fn write_folder(path: &Path, result: &Bench) -> anyhow::Result<()> {
    let folder = Folder::open(path)?;
    let write = |name: &str, bytes: &[u8]| folder.write_bytes(Path::new(name), true, bytes);
    let pictures = write_heat_maps(&folder, result)?;
    write(RESULT, json::document(result)?.as_bytes())?;
    let mut csv = Vec::new();
    bench::csv(result, &mut csv)?;
    write("bench.csv", &csv)?;
    let page = markdown::page(&bench::document(result), &pictures);
    write("bench.md", page.as_bytes())?;
    write(PAGE, html::bench_page(result)?.as_bytes())?;
    Ok(())
}

/// Draws the heat map of a benchmark with two parameters. Returns the light one for pages.
fn write_heat_maps(folder: &Folder, result: &Bench) -> anyhow::Result<Vec<Picture>> {
    let Some(view) = bench::heat_map(result) else {
        return Ok(Vec::new());
    };
    folder.inner(Path::new(CHARTS))?;
    let mut pictures = Vec::new();
    for (theme, name) in [(Theme::Light, "heatmap"), (Theme::Dark, "heatmap-dark")] {
        let options = ChartOptions {
            scale: SCALE,
            theme,
            ..ChartOptions::default()
        };
        // A matrix that is too wide for a picture is still a table.
        let Ok(scene) = draw_heat_map(&view, &options) else {
            return Ok(Vec::new());
        };
        let path = format!("{CHARTS}/{name}.png");
        folder.write_bytes(Path::new(&path), true, &png(&scene)?)?;
        if theme == Theme::Light {
            pictures.push(Picture {
                chart: bench::HEAT_MAP.to_owned(),
                alt: alt_heat_map(&view),
                width: scene.device_size().0,
                source: PictureSource::File(path),
            });
        }
    }
    Ok(pictures)
}

/// Names the files on standard error.
pub(super) fn tell(arguments: &BenchArguments, quiet: bool) {
    let exports = [
        &arguments.export_json,
        &arguments.export_csv,
        &arguments.export_markdown,
    ];
    for file in exports.into_iter().flatten() {
        out::wrote(file, quiet);
    }
    if let Some(folder) = &arguments.output {
        out::wrote_folder(folder, PAGE, quiet);
    }
}
