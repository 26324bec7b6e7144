//! Writes the result of a benchmark into its folder, beside the runs: for programs and for people,
//! its heat map, and a manifest in the same format as a report's.

use std::path::Path;

use metalens_bench::Bench;
use metalens_charts::{ChartOptions, Theme, alt_heat_map, draw_heat_map, png};
use metalens_files::Folder;

use super::content::{FOLDER_OF_CHARTS, FileContent};
use super::manifest::{self, Kind, Manifest, Picture};
use super::pictures::{self, SCALE, theme_name};
use super::store;
use crate::bench::{self, HEAT_MAP};
use crate::error::{Error, Result};
use crate::{html, markdown};

/// Name of the result in the folder.
const JSON: &str = "bench.json";
const CSV: &str = "bench.csv";
const MARKDOWN: &str = "bench.md";
/// Name of the page in the folder.
pub const PAGE: &str = "bench.html";

/// Writes the result, and replaces an earlier one: a benchmark that goes on has more runs.
pub fn write(result: &Bench, folder: &Path) -> Result<()> {
    let charts = heat_maps(result)?;
    let light: Vec<_> = charts.iter().filter_map(FileContent::shown).collect();
    let page = markdown::page(&bench::document(result), &light);
    let html = html::bench_page(result)?;
    let mut csv = Vec::new();
    bench::csv(result, &mut csv).map_err(|cause| Error::CannotWrite {
        folder: folder.to_path_buf(),
        at: folder.join(CSV),
        cause,
    })?;

    let csv = String::from_utf8_lossy(&csv).into_owned();

    let mut contents = vec![
        FileContent::json(JSON, result)?,
        FileContent::page(CSV, "text/csv", csv, true),
        FileContent::page(MARKDOWN, "text/markdown", page, true),
        FileContent::page(PAGE, "text/html", html, true),
    ];
    contents.extend(charts);
    store::write(folder, &contents, &manifest(result, &contents), true)?;
    Ok(Folder::open(folder)?.remove_empty(FOLDER_OF_CHARTS)?)
}

/// Returns the heat map of a benchmark with two axes, light and dark. A matrix that is too
/// wide for a picture is still a table.
fn heat_maps(result: &Bench) -> Result<Vec<FileContent>> {
    let Some(view) = bench::heat_map(result) else {
        return Ok(Vec::new());
    };
    let mut charts = Vec::new();
    for theme in [Theme::Light, Theme::Dark] {
        let options = ChartOptions {
            scale: SCALE,
            theme,
            ..ChartOptions::default()
        };
        let Ok(scene) = draw_heat_map(&view, &options) else {
            return Ok(Vec::new());
        };
        let (width, height) = scene.device_size();
        charts.push(FileContent {
            path: pictures::path(HEAT_MAP, theme),
            kind: Kind::Chart,
            media_type: "image/png",
            bytes: png(&scene).map_err(Error::Timeline)?,
            redacted: true,
            picture: Some(Picture {
                chart: HEAT_MAP.to_owned(),
                theme: theme_name(theme).to_owned(),
                width,
                height,
                scale: SCALE,
                alt: alt_heat_map(&view),
            }),
        });
    }
    Ok(charts)
}

fn manifest(result: &Bench, contents: &[FileContent]) -> Manifest {
    let names = result.variants.iter().map(|variant| variant.name.as_str());
    Manifest {
        schema: manifest::SCHEMA.to_owned(),
        metalens: env!("CARGO_PKG_VERSION").to_owned(),
        report_schema: result.schema.clone(),
        input: names.collect::<Vec<&str>>().join(", "),
        run: 1,
        process: String::new(),
        verdict: result.verdict.text.clone(),
        synthetic: result.synthetic,
        truncated: false,
        redacted: true,
        files: contents.iter().map(FileContent::entry).collect(),
        problems: Vec::new(),
    }
}
