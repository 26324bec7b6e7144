//! Arguments of `metalens chart`.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use metalens_charts::Chart;

use super::shared::AnalysisArguments;

const EXAMPLES: &str = "\
Examples:
  metalens chart run.trace -o timeline.png
  metalens chart run.trace --chart kernels -o kernels.svg
  metalens chart after.trace --base before.trace -o change.png";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ChartArguments {
    /// .trace bundle, export folder, .zip, table, or - for standard input
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// Recording before a change, to draw beside INPUT, which is the one after it
    #[arg(long, value_name = "BASE", required_if_eq("chart", "compare"))]
    pub(crate) base: Option<PathBuf>,
    /// Picture to write, or - for standard output [default: the name of the chart, such as
    /// timeline.png]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the picture [default: by the file name; png for -]
    #[arg(long, value_enum)]
    pub(crate) format: Option<PictureFormat>,
    /// Chart to draw [default: timeline; compare with --base]
    #[arg(long, value_parser = chart_names())]
    pub(crate) chart: Option<ChartChoice>,
    /// Replace the output file if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) analysis: AnalysisArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PictureFormat {
    /// Pixel image
    Png,
    /// Vector image
    Svg,
}

/// A chart of one recording; `None` for a picture of two recordings of one program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChartChoice(pub(crate) Option<Chart>);

fn chart_names() -> impl TypedValueParser<Value = ChartChoice> {
    let charts = Chart::ALL.map(|chart| PossibleValue::new(chart.name()).help(chart.shows()));
    let compare = PossibleValue::new("compare").help("Two recordings of one program, with --base");
    let names = PossibleValuesParser::new(charts.into_iter().chain([compare]));
    names.map(|name| ChartChoice(Chart::ALL.into_iter().find(|chart| chart.name() == name)))
}
