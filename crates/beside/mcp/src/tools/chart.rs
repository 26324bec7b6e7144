//! Defines the tool `chart`, which answers with a picture.

use std::ffi::OsString;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;

use super::ToolCall;
use super::call::name;
use super::part::Part;
use crate::answer::ToolAnswer;
use crate::problem::ToolProblem;

pub(super) const CHART: &str = "\
Draws a chart of a recording and returns it as a PNG image: timeline (GPU intervals over time, with \
the causes of idle time), idle, gaps, kernels, roofline, or compare with base. Read figures from \
the other tools, not from a picture; draw one to see a pattern over time, or to show it to the user.";

/// Largest size of a picture, in bytes.
const MOST_BYTES: usize = 3 << 20;

/// Chart to draw.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum ChartKind {
    Timeline,
    Idle,
    Gaps,
    Kernels,
    Roofline,
    Compare,
}

impl ChartKind {
    /// Returns the word of the chart on the command line.
    fn word(self) -> &'static str {
        match self {
            Self::Timeline => "timeline",
            Self::Idle => "idle",
            Self::Gaps => "gaps",
            Self::Kernels => "kernels",
            Self::Roofline => "roofline",
            Self::Compare => "compare",
        }
    }
}

/// Arguments of `chart`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChartArguments {
    /// Recording below a root.
    input: String,
    /// Chart to draw [default: timeline; compare with base]. roofline needs a work file beside the
    /// recording.
    chart: Option<ChartKind>,
    /// Recording before a change, to draw beside input, the one after it.
    base: Option<String>,
    #[serde(default)]
    part: Part,
}

/// Answers a call of `chart`.
pub(super) async fn chart(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: ChartArguments = call.parse()?;
    let input = call.input(&arguments.input)?;
    let shown = name(&input);

    let mut words: Vec<OsString> = vec!["chart".into(), "--quiet".into()];
    if let Some(kind) = arguments.chart {
        words.push(format!("--chart={}", kind.word()).into());
    }
    if let Some(base) = &arguments.base {
        let mut option = OsString::from("--base=");
        option.push(call.input(base)?);
        words.push(option);
    }
    arguments.part.add_to(&mut words);
    words.push(input);
    words.extend(["--output=-", "--format=png"].map(OsString::from));

    let what = format!("drawing {shown}");
    let drawn = call.metalens(what, words, &[]).await?.stdout;
    if drawn.len() > MOST_BYTES {
        return Err(ToolProblem::new(format!(
            "the picture has {} bytes, at most {MOST_BYTES} are sent",
            drawn.len()
        ))
        .hint("ask for a part of the recording"));
    }
    let kind = arguments.chart.map_or("chart", ChartKind::word);
    Ok(ToolAnswer {
        text: format!("{kind} of {shown}\n"),
        picture: Some((STANDARD.encode(drawn), "image/png")),
        ..ToolAnswer::default()
    })
}
