//! Arguments of `metalens chart`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
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
    #[arg(long, value_enum)]
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChartChoice {
    /// A chart of one recording.
    Of(Chart),
    /// A picture of two recordings of one program.
    Compare,
}

impl ValueEnum for ChartChoice {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [ChartChoice; Chart::ALL.len() + 1] = {
            let mut choices = [ChartChoice::Compare; Chart::ALL.len() + 1];
            let mut place = 0;
            while place < Chart::ALL.len() {
                choices[place] = ChartChoice::Of(Chart::ALL[place]);
                place += 1;
            }
            choices
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Of(chart) => PossibleValue::new(chart.name()).help(chart.shows()),
            Self::Compare => {
                PossibleValue::new("compare").help("Two recordings of one program, with --base")
            }
        })
    }
}
