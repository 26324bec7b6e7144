//! Runs `metalens chart`: draws a report, or the comparison of two, as a picture.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use anyhow::Context;
use metalens_charts::{Chart, ChartOptions, alt, alt_comparison, draw, draw_comparison, png, svg};
use metalens_comparison::{CompareOptions, compare};

use crate::analyzing::{Analyzing, is_standard};
use crate::args::chart::{ChartArguments, PictureFormat};
use crate::exit::Misuse;
use crate::out;
use crate::view::format_of_file;

pub(crate) fn run(arguments: &ChartArguments, quiet: bool) -> anyhow::Result<()> {
    let analyzing = arguments.analysis.analyzing()?;

    // Reading the input may take long: check all other arguments before it.
    let subject = ChartSubject::new(arguments)?;
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| subject.file(arguments.format));
    let format = if is_standard(&output) {
        arguments.format.unwrap_or(PictureFormat::Png)
    } else {
        let endings = [("png", PictureFormat::Png), ("svg", PictureFormat::Svg)];
        let help = ".png or .svg: use --format png or --format svg";
        format_of_file(&output, arguments.format, &endings, help)?
    };
    check_output(&output, arguments.force)?;

    let bytes = picture(arguments, subject, format, &analyzing, quiet)?;
    if is_standard(&output) {
        let mut out = out::untouched();
        out.write_all(&bytes)?;
        out.flush()?;
    } else {
        metalens_files::write_bytes(&output, arguments.force, &bytes)?;
        out::wrote(&output, quiet);
    }
    Ok(())
}

/// The recordings of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChartSubject<'a> {
    Input(Chart),
    /// The input, compared with this base.
    Comparison(&'a Path),
}

impl<'a> ChartSubject<'a> {
    fn new(arguments: &'a ChartArguments) -> Result<Self, Misuse> {
        let chart = arguments.chart.and_then(|choice| choice.0);
        match (chart, &arguments.base) {
            (None, Some(base)) if is_standard(base) && is_standard(&arguments.input) => {
                Err(Misuse(
                    "standard input has only one recording: give a file for the other".to_owned(),
                ))
            }
            (None, Some(base)) => Ok(Self::Comparison(base)),
            (Some(_), Some(_)) => Err(Misuse(
                "--base is only for --chart compare: remove --base or --chart".to_owned(),
            )),
            (chart, None) => Ok(Self::Input(chart.unwrap_or_default())),
        }
    }

    /// Returns the file of a picture that has no name: that of the chart, in the current folder.
    fn file(self, format: Option<PictureFormat>) -> PathBuf {
        let name = match self {
            Self::Input(chart) => chart.name(),
            Self::Comparison(_) => "compare",
        };
        let ending = match format {
            Some(PictureFormat::Svg) => "svg",
            Some(PictureFormat::Png) | None => "png",
        };
        PathBuf::from(format!("{name}.{ending}"))
    }
}

/// Refuses a file that exists, and a terminal.
fn check_output(output: &Path, force: bool) -> anyhow::Result<()> {
    if !is_standard(output) {
        metalens_files::refuse_existing(output, force)?;
        return Ok(());
    }

    if out::is_terminal() {
        let message = "a terminal cannot show the picture: give a file name, or redirect standard \
                       output with > or |";
        return Err(Misuse(message.to_owned()).into());
    }
    Ok(())
}

/// Draws the chart, and returns the bytes of its file.
fn picture(
    arguments: &ChartArguments,
    subject: ChartSubject<'_>,
    format: PictureFormat,
    analyzing: &Analyzing,
    quiet: bool,
) -> anyhow::Result<Vec<u8>> {
    let read = |input: &Path| analyzing.analysis(input, quiet);
    let options = options(format);

    let (scene, alt) = match subject {
        ChartSubject::Input(chart) => {
            let analysis = read(&arguments.input)?;
            let scene = draw(chart, &analysis, &options)?;
            (scene, alt(chart, &analysis.report))
        }
        ChartSubject::Comparison(base) => {
            let base = read(base).context("--base")?;
            let new = read(&arguments.input)?;
            let sides = (from_ref(&base.report), from_ref(&new.report));
            let compared = compare(sides.0, sides.1, &CompareOptions::default());
            let scene = draw_comparison(&compared, &base, &new, &options)?;
            (scene, alt_comparison(&compared, &base.report, &new.report))
        }
    };

    Ok(match format {
        PictureFormat::Png => png(&scene)?,
        PictureFormat::Svg => svg(&scene, &alt).into_bytes(),
    })
}

/// Returns options for pictures that are as sharp as those of a folder.
fn options(format: PictureFormat) -> ChartOptions {
    let scale = match format {
        PictureFormat::Png => 2,
        PictureFormat::Svg => 1,
    };
    ChartOptions {
        scale,
        ..ChartOptions::default()
    }
}
