//! Writes the folder of `compare -o`: the comparison for programs and for people, its picture, and
//! a manifest in the same format as a report's.

use std::path::Path;

use metalens_analyzer::{Analysis, Note};
use metalens_charts::{Theme, png};
use metalens_comparison::Comparison;

use super::content::{self, Choices, FOLDER_OF_CHARTS, FileContent};
use super::manifest::{Kind, MANIFEST, Picture, Problem};
use super::{pictures as chart_files, store};
use crate::comparison::pictures::{DrawnComparison, SCALE, pictures};
use crate::error::Result;
use crate::{comparison, html, markdown};

const JSON: &str = "comparison.json";
const PAGE: &str = "comparison.md";
const HTML: &str = "comparison.html";
const CHART: &str = "compare";
const THEMES: [(Theme, &str); 2] = [(Theme::Light, "light"), (Theme::Dark, "dark")];

/// Refuses a folder whose files exist, unless `force`, or that cannot be written.
pub fn check(folder: &Path, force: bool) -> Result<()> {
    store::check_place(folder)?;
    let charts = THEMES.map(|(theme, _)| chart_files::path(CHART, theme));
    let named = [JSON, PAGE, HTML, MANIFEST].map(str::to_owned);
    for file in named.into_iter().chain(charts) {
        metalens_files::refuse_existing(&folder.join(file), force)?;
    }
    Ok(())
}

/// Writes the folder, and returns the files that should be in it and are missing. A picture needs
/// an analysis of both sides.
pub fn write(
    comparison: &Comparison,
    middle_runs: Option<(Box<Analysis>, Box<Analysis>)>,
    folder: &Path,
    choices: Choices,
) -> Result<Vec<Note>> {
    let Drawn {
        charts,
        inline,
        problems,
    } = match middle_runs {
        Some((base, new)) => charts(comparison, *base, *new, choices),
        None => Drawn::default(),
    };
    let mut contents = texts(comparison, &charts, &inline, choices)?;
    contents.extend(charts);
    let told = problems.iter().map(Problem::note).collect();
    let manifest = content::manifest(&comparison.schema, &contents, problems);
    store::write(folder, &contents, &manifest, choices.force)?;
    // Without a picture there is nothing in it; else it stays.
    let _ = std::fs::remove_dir(folder.join(FOLDER_OF_CHARTS));
    Ok(told)
}

fn texts(
    compared: &Comparison,
    charts: &[FileContent],
    inline: &[String],
    choices: Choices,
) -> Result<Vec<FileContent>> {
    let light = charts.iter().find_map(FileContent::shown);
    let document = comparison::document(compared, choices.show_names);
    let page = markdown::page(&document, light.as_slice());
    let html = html::comparison_page(&document, compared, inline)?;
    let redacted = !choices.show_names;
    Ok(vec![
        FileContent::json(JSON, compared)?,
        FileContent::page(PAGE, "text/markdown", page, redacted),
        FileContent::page(HTML, "text/html", html, redacted),
    ])
}

/// The drawn charts.
#[derive(Default)]
struct Drawn {
    charts: Vec<FileContent>,
    /// The same as elements of the page, light and dark.
    inline: Vec<String>,
    problems: Vec<Problem>,
}

fn charts(comparison: &Comparison, base: Analysis, new: Analysis, choices: Choices) -> Drawn {
    let themes = THEMES.map(|(theme, _)| theme);
    let pictures = pictures(comparison, base, new, choices.show_names, themes);
    let mut drawn = Drawn::default();
    for ((theme, name), picture) in THEMES.into_iter().zip(pictures) {
        let path = chart_files::path(CHART, theme);
        let content = picture.and_then(|picture| {
            let content = chart(&picture, name, &path, choices)?;
            Ok((content, picture.svg()))
        });
        match content {
            Ok((content, inline)) => {
                drawn.charts.push(content);
                drawn.inline.push(inline);
            }
            Err(error) => drawn.problems.push(Problem {
                path,
                why: error.to_string(),
            }),
        }
    }
    drawn
}

fn chart(
    picture: &DrawnComparison,
    theme: &str,
    path: &str,
    choices: Choices,
) -> Result<FileContent, metalens_charts::ChartError> {
    let (width, height) = picture.scene.device_size();
    Ok(FileContent {
        path: path.to_owned(),
        kind: Kind::Chart,
        media_type: "image/png",
        bytes: png(&picture.scene)?,
        redacted: !choices.show_names,
        picture: Some(Picture {
            chart: CHART.to_owned(),
            theme: theme.to_owned(),
            width,
            height,
            scale: SCALE,
            alt: picture.alt.clone(),
        }),
    })
}
