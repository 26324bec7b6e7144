//! `metalens chart`: a report as a picture.

use std::path::Path;
use std::process::ExitCode;

use metalens_charts::{Chart, Options, Theme, alt, draw, png, svg};

use crate::args::{ChartArguments, ChartChoice, ThemeChoice};
use crate::whole;

pub(crate) fn run(arguments: &ChartArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    super::check_times(arguments.part.from, arguments.part.to)?;
    // Better now than after a long reading.
    let format = Format::of(&arguments.output)?;
    whole::refuse_existing(&arguments.output, arguments.force)?;
    let request = super::request(&arguments.part);
    let analysis = super::analysis(&arguments.input, arguments.reading, &request, quiet)?;
    let chart = chart(arguments.chart);
    let scene = draw(chart, &analysis, &options(arguments))?;
    let bytes = match format {
        Format::Png => png(&scene)?,
        Format::Svg => svg(&scene, &alt(chart, &analysis.report)).into_bytes(),
    };
    whole::write(&arguments.output, arguments.force, |out| {
        Ok(out.write_all(&bytes)?)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What kind of file a picture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Png,
    Svg,
}

impl Format {
    fn of(file: &Path) -> anyhow::Result<Self> {
        let ending = file.extension().and_then(|ending| ending.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("png") => Ok(Self::Png),
            Some("svg") => Ok(Self::Svg),
            _ => anyhow::bail!("{} ends in neither .png nor .svg", file.display()),
        }
    }
}

fn chart(choice: ChartChoice) -> Chart {
    match choice {
        ChartChoice::Timeline => Chart::Timeline,
        ChartChoice::Ledger => Chart::Ledger,
        ChartChoice::Gaps => Chart::Gaps,
        ChartChoice::Busy => Chart::Busy,
        ChartChoice::Kernels => Chart::Kernels,
    }
}

fn options(arguments: &ChartArguments) -> Options {
    let default = Options::default();
    let (width, height) = arguments.size.unwrap_or((default.width, None));
    Options {
        width,
        height,
        scale: arguments.scale,
        theme: match arguments.theme {
            ThemeChoice::Light => Theme::Light,
            ThemeChoice::Dark => Theme::Dark,
        },
    }
}
