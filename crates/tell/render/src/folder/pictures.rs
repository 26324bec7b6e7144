//! Draws the charts of the folder: each in light and dark, sharp on high-density screens.

use std::panic::resume_unwind;
use std::thread;

use metalens_analyzer::Analysis;
use metalens_charts::{Chart, ChartError, ChartOptions, Theme, alt, draw, png};

use super::content::{FOLDER_OF_CHARTS, FileContent};
use super::manifest::{Kind, Picture, Problem};

/// Device pixels per pixel: a chart that a pull request shows 830 pixels wide is sharp on every
/// screen.
pub(super) const SCALE: u8 = 2;

/// Returns the path of a chart in the folder.
pub(super) fn path(name: &str, theme: Theme) -> String {
    match theme {
        Theme::Light => format!("{FOLDER_OF_CHARTS}/{name}.png"),
        Theme::Dark => format!("{FOLDER_OF_CHARTS}/{name}-dark.png"),
    }
}

/// A function that draws a chart as PNG.
pub(super) type DrawChart<'a> =
    dyn Fn(Chart, &Analysis, &ChartOptions) -> Result<DrawnPng, ChartError> + Sync + 'a;

/// A PNG, with its width and height.
pub(super) type DrawnPng = (Vec<u8>, (u32, u32));

/// Draws a chart as PNG.
pub(super) fn drawn(
    chart: Chart,
    analysis: &Analysis,
    options: &ChartOptions,
) -> Result<DrawnPng, ChartError> {
    let scene = draw(chart, analysis, options)?;
    Ok((png(&scene)?, scene.device_size()))
}

/// Draws all charts, the light ones first. A chart that cannot be drawn does not prevent the
/// others.
pub(super) fn pictures(
    analysis: &Analysis,
    draw: &DrawChart<'_>,
) -> (Vec<FileContent>, Vec<Problem>) {
    // A thread for each theme: it takes half the time.
    let themes = thread::scope(|scope| {
        let dark = scope.spawn(|| of_theme(analysis, Theme::Dark, draw));
        let light = of_theme(analysis, Theme::Light, draw);
        [
            light,
            dark.join().unwrap_or_else(|panic| resume_unwind(panic)),
        ]
    });
    let (mut contents, mut problems) = (Vec::new(), Vec::new());
    for picture in themes.into_iter().flatten() {
        match picture {
            Ok(content) => contents.push(content),
            Err(problem) => problems.push(problem),
        }
    }
    (contents, problems)
}

fn of_theme(
    analysis: &Analysis,
    theme: Theme,
    draw: &DrawChart<'_>,
) -> Vec<Result<FileContent, Problem>> {
    let options = ChartOptions {
        scale: SCALE,
        theme,
        ..ChartOptions::default()
    };
    let charts = Chart::ALL.into_iter();
    let charts = charts.filter(|chart| chart.has_content(&analysis.report));
    let pictures = charts.map(|chart| {
        let name = chart.name();
        let path = path(name, theme);
        let drawn = draw(chart, analysis, &options);
        let (bytes, (width, height)) = drawn.map_err(|error| Problem {
            path: path.clone(),
            why: error.to_string(),
        })?;
        let picture = Picture {
            chart: name.to_owned(),
            theme: theme_name(theme).to_owned(),
            width,
            height,
            scale: SCALE,
            alt: alt(chart, &analysis.report),
        };
        Ok(FileContent {
            path,
            kind: Kind::Chart,
            media_type: "image/png",
            bytes,
            // A chart names the target, its kernels, and nobody else.
            redacted: true,
            picture: Some(picture),
        })
    });
    pictures.collect()
}

pub(super) const fn theme_name(theme: Theme) -> &'static str {
    match theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
    }
}
