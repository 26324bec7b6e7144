//! The words of `metalens chart`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{MeasureArguments, PartArguments, ReadingArguments};

#[derive(Debug, Args)]
pub(crate) struct ChartArguments {
    /// .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// The recording before a change, of which INPUT is the one after it: draws both
    #[arg(long, value_name = "BASE", required_if_eq("chart", "compare"))]
    pub(crate) base: Option<PathBuf>,
    /// The picture to write, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What kind of picture [default: by the file's ending; png for -]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PictureFormat>,
    /// What to draw [default: timeline; compare with --base]
    #[arg(long, value_enum)]
    pub(crate) chart: Option<ChartChoice>,
    /// Dark on light, or light on dark
    #[arg(long, value_enum, default_value_t = ThemeChoice::Light)]
    pub(crate) theme: ThemeChoice,
    /// Device pixels per pixel
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=4))]
    pub(crate) scale: u8,
    /// Width, or width and height, in pixels before scaling [default: 830, and as high as it takes]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(crate) size: Option<(u32, Option<u32>)>,
    /// Overwrite that file
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) part: PartArguments,
    #[command(flatten)]
    pub(crate) measure: MeasureArguments,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PictureFormat {
    /// Pixels
    Png,
    /// Shapes and words
    Svg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChartChoice {
    /// When the GPU was busy, and why it was idle when it was
    Timeline,
    /// Idle time by cause
    #[value(alias = "ledger")]
    Idle,
    /// The gaps by length
    Gaps,
    /// How busy the GPU was over time
    Busy,
    /// The kernels that took the most time
    Kernels,
    /// Two recordings of one program, the other one by --base
    Compare,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeChoice {
    /// Dark on light
    Light,
    /// Light on dark
    Dark,
}

/// `830` or `830x400`.
fn size(text: &str) -> Result<(u32, Option<u32>), String> {
    let (width, height) = match text.split_once('x') {
        Some((width, height)) => (width, Some(height)),
        None => (text, None),
    };
    let number = |text: &str| {
        text.parse()
            .map_err(|_| format!("`{text}` is no number of pixels"))
    };
    Ok((number(width)?, height.map(number).transpose()?))
}
