//! Limits that a comparison has to keep.

mod judge;
mod kernels;
mod subject;

use metalens_analyzer::Message;
use metalens_analyzer::message::PlacedValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::unit_of;
use crate::number::Number;
use crate::unit::Unit;
pub use judge::judge;

/// All limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Where they are from, in words.
    pub source: Message,
    /// Of figures of the report.
    pub metrics: Vec<MetricLimit>,
    /// Of kernels. Of several patterns that fit a kernel's name the longest counts.
    pub kernels: Vec<KernelLimit>,
}

/// The limit of one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricLimit {
    /// Which: one of [`metric_ids`](crate::metric_ids).
    pub id: String,
    /// What it has to keep.
    pub limit: Limit,
}

/// The limit of some kernels.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelLimit {
    /// Their names; `*` stands for anything.
    pub pattern: String,
    /// Which of their figures.
    pub of: KernelFigure,
    /// Only those with at least this share of the kernels' time, on either side.
    pub share: f64,
    /// What it has to keep.
    pub limit: Limit,
}

/// A figure of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KernelFigure {
    /// Its summed durations.
    Total,
    /// Its median duration.
    Median,
    /// Its intervals.
    Instances,
}

impl KernelFigure {
    /// What it is in.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::Total | Self::Median => Unit::Ns,
            Self::Instances => Unit::Count,
        }
    }

    /// As it is called in a table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Median => "median",
            Self::Instances => "instances",
        }
    }
}

/// What a figure has to keep. What is not set is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limit {
    /// New's median is not above this.
    pub max: Option<f64>,
    /// New's median is not below this.
    pub min: Option<f64>,
    /// New is not more than this share of base's median above base, beyond noise.
    pub grow: Option<f64>,
    /// New is not more than this share of base's median below base, beyond noise.
    pub shrink: Option<f64>,
    /// New's median is not above the largest value of base by more than this share of it.
    pub range: Option<f64>,
    /// What a miss means.
    pub severity: Severity,
    /// Whether it is no miss if what it is for cannot be measured.
    pub optional: bool,
}

/// What a miss means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The gate is missed.
    #[default]
    Error,
    /// It is told, and nothing else.
    Warn,
}

impl Default for Gate {
    /// The limits without any file. What takes 5 % longer is a regression: the whole, the
    /// GPU's work, and the median of each kernel that has a twentieth of the time; gaps,
    /// which vary more, from 10 % on.
    ///
    /// None of them is optional: every recording tells all of these. A program without
    /// a gap keeps the limits of gaps, and a kernel that only new has is not judged; one
    /// that only base has is missed.
    fn default() -> Self {
        let grow = |share: f64| Limit {
            grow: Some(share),
            ..Limit::default()
        };
        let metric = |id: &str, share: f64| MetricLimit {
            id: id.to_owned(),
            limit: grow(share),
        };
        Self {
            source: "the default limits".into(),
            metrics: vec![
                metric("window.span_ns", 0.05),
                metric("busy.busy_ns", 0.05),
                metric("gaps.mean_ns", 0.10),
                metric("gaps.median_ns", 0.10),
            ],
            kernels: vec![KernelLimit {
                pattern: "*".to_owned(),
                of: KernelFigure::Median,
                share: 0.05,
                limit: grow(0.05),
            }],
        }
    }
}

impl MetricLimit {
    /// What the figure is in; none of an id that no figure has.
    #[must_use]
    pub fn unit(&self) -> Option<Unit> {
        unit_of(&self.id)
    }
}

/// Whether all limits were kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateResult {
    /// Where the limits are from.
    pub source: String,
    /// Values of `source`, in the order in which they stand in it.
    #[serde(default)]
    pub source_values: Vec<PlacedValue>,
    /// Whether one of severity `error` was missed, or nothing could be measured at all.
    pub missed: bool,
    /// Each limit of each figure, misses first.
    pub rows: Vec<GateRow>,
}

/// One limit of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateRow {
    /// The figure's id, or the kernel's name.
    pub what: String,
    /// Where the kernel ran.
    pub channel: Option<String>,
    /// Which figure of the kernel; null if it is none.
    pub of: Option<KernelFigure>,
    /// What has to be kept.
    pub rule: Rule,
    /// The limit.
    pub limit: Number,
    /// The measured value, in the limit's own unit; null if there is none, or for growth
    /// from 0.
    pub value: Option<Number>,
    /// What limit and value are in.
    pub unit: Unit,
    /// How far the value is beyond the limit; null if it is not.
    pub by: Option<Number>,
    /// What a miss means.
    pub severity: Severity,
    /// Whether it was kept.
    pub verdict: GateVerdict,
    /// The same in words.
    pub why: String,
    /// Values of `why`, in the order in which they stand in it.
    #[serde(default)]
    pub why_values: Vec<PlacedValue>,
}

/// What has to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// The median is not above.
    Max,
    /// The median is not below.
    Min,
    /// It has not grown by more, relative to base.
    Grow,
    /// It has not shrunk by more, relative to base.
    Shrink,
    /// It is not above base's range by more, relative to its upper end.
    Range,
}

impl Rule {
    /// Whether it is about a change.
    pub(crate) fn is_relative(self) -> bool {
        matches!(self, Self::Grow | Self::Shrink | Self::Range)
    }

    /// Whether less keeps it.
    pub(crate) fn is_upper(self) -> bool {
        matches!(self, Self::Max | Self::Grow | Self::Range)
    }

    /// As it is called in a table.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Max => "at most",
            Self::Min => "at least",
            Self::Grow => "grows by at most",
            Self::Shrink => "shrinks by at most",
            Self::Range => "above base's range by at most",
        }
    }
}

/// Whether a limit was kept.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// The limit was not kept, or its figure is missing.
    Miss,
    /// The figure is missing and the limit optional, or there is nothing to compare with,
    /// such as for a kernel that only new has. It fails nothing.
    NotMeasurable,
    /// The limit was kept.
    Pass,
}
