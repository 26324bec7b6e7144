//! Defines the limits that a comparison has to keep, and the result of judging them.

mod judge;
mod kernels;
mod section;
mod subject;
mod suggested;
#[cfg(test)]
mod trials;

use metalens_analyzer::Message;
use serde::{Deserialize, Serialize};

use crate::number::Number;
use crate::unit::Unit;
pub use judge::judge;
pub use kernels::matches as matches_pattern;
pub use section::{GateSection, line_of_limit};
pub use suggested::suggested_gate;

/// The limits of a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Origin of the limits, in words.
    pub source: Message,
    /// Limits of figures of the report.
    pub metrics: Vec<MetricLimit>,
    /// Limits of kernels. If several patterns match a kernel's name, the longest applies, and each
    /// of equally long ones.
    pub kernels: Vec<KernelLimit>,
    /// Least number of runs of a side. None for as many runs of new as base has.
    pub runs: Option<usize>,
    /// True if too few runs, and limits that they cannot decide, are warnings.
    pub allow_inconclusive: bool,
}

/// The limit of one figure.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricLimit {
    /// Id of the figure: one of [`metrics`](fn@crate::metrics).
    pub id: String,
    /// The limit to keep.
    pub limit: Limit,
}

/// The limit of the kernels that match a pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelLimit {
    /// Pattern of kernel names; `*` matches any text.
    pub pattern: String,
    /// The kernel's figure that is limited.
    pub figure: KernelFigure,
    /// Smallest share of the kernel time, on either side, of the kernels that are judged.
    pub share: f64,
    /// The limit to keep.
    pub limit: Limit,
}

/// A figure of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum KernelFigure {
    /// The summed durations of the kernel.
    Total,
    /// The median duration of the kernel.
    Median,
    /// The number of the kernel's GPU intervals.
    Instances,
}

impl KernelFigure {
    /// Returns the unit of the figure.
    #[must_use]
    pub fn unit(self) -> Unit {
        match self {
            Self::Total | Self::Median => Unit::Ns,
            Self::Instances => Unit::Count,
        }
    }

    /// Returns the name for tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Median => "median",
            Self::Instances => "instances",
        }
    }
}

/// Rules for one figure. A rule that is not set is not checked.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limit {
    /// Greatest allowed median of new.
    pub max: Option<f64>,
    /// Least allowed median of new.
    pub min: Option<f64>,
    /// Maximum allowed increase beyond noise, as a share of base's median.
    pub grow: Option<f64>,
    /// Maximum allowed decrease beyond noise, as a share of base's median.
    pub shrink: Option<f64>,
    /// Maximum allowed distance of new's median above base's largest value, as a share of that
    /// value.
    pub range: Option<f64>,
    /// Consequence of a miss.
    pub severity: GateSeverity,
    /// True if the limit is not missed when its figure cannot be measured.
    pub optional: bool,
}

/// Consequence of a missed limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum GateSeverity {
    /// The whole gate is missed.
    #[default]
    Error,
    /// The miss is only reported.
    Warn,
}

impl Default for Gate {
    /// Returns the limits that apply without a configuration file. A regression is an increase of 5
    /// % in the wall time, the GPU's busy time, or the median of a kernel with at least 5 % of the
    /// kernel time. For the idle time, which varies more, it is 10 %. The number of GPU intervals, and
    /// that of each kernel with at least 1 % of the kernel time, have to stay within 2 %, because times
    /// of different work tell nothing.
    ///
    /// No limit is optional, because every recording has all these figures. A kernel that only new has
    /// is not judged. A kernel that only base has is a miss.
    fn default() -> Self {
        let grow = |share: f64| Limit {
            grow: Some(share),
            ..Limit::default()
        };
        let metric = |id: &str, share: f64| MetricLimit {
            id: id.to_owned(),
            limit: grow(share),
        };
        let kernels = |figure: KernelFigure, share: f64, limit: Limit| KernelLimit {
            pattern: "*".to_owned(),
            figure,
            share,
            limit,
        };
        let same_count = Limit {
            shrink: Some(0.02),
            ..grow(0.02)
        };
        Self {
            source: "the default limits".into(),
            metrics: vec![
                MetricLimit {
                    id: "counts.intervals".to_owned(),
                    limit: same_count,
                },
                metric("window.span_ns", 0.05),
                metric("busy.busy_ns", 0.05),
                metric("gaps.total_ns", 0.10),
            ],
            kernels: vec![
                kernels(KernelFigure::Median, 0.05, grow(0.05)),
                kernels(KernelFigure::Instances, 0.01, same_count),
            ],
            runs: None,
            allow_inconclusive: false,
        }
    }
}

/// Result of judging the limits of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GateResult {
    /// Origin of the limits, in words.
    pub source: Message,
    /// True if the gate does not pass: a limit of severity `error` was missed or could not be
    /// decided, or nothing could be measured at all.
    pub missed: bool,
    /// True if the gate does not pass, only because limits could not be decided.
    pub inconclusive: bool,
    /// Result of each limit of each figure, misses first.
    pub rows: Vec<GateRow>,
}

/// Result of one limit of one figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GateRow {
    /// Id of the figure or of the threshold, or name of the kernel.
    pub what: String,
    /// GPU channel that the kernel ran on. Null for figures of the report.
    pub channel: Option<String>,
    /// Figure of the kernel. Null for figures of the report.
    pub of: Option<KernelFigure>,
    /// Rule that has to be kept.
    pub rule: LimitRule,
    /// Value of the limit.
    pub limit: Number,
    /// Measured value, in the unit of the limit. Null if there is none, and for growth from 0.
    pub value: Option<Number>,
    /// Unit of limit and value.
    pub unit: Unit,
    /// Distance of the value beyond the limit. Null if the limit is kept.
    pub by: Option<Number>,
    /// Consequence of a limit that is missed or inconclusive: that of the limit, or a warning where
    /// somebody allowed it.
    pub severity: GateSeverity,
    /// Result of the limit: kept, missed, inconclusive or not measurable.
    pub verdict: GateVerdict,
    /// Reason for the verdict, in words.
    pub why: Message,
}

/// Rule that a figure has to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LimitRule {
    /// The median is at most the limit.
    Max,
    /// The median is at least the limit.
    Min,
    /// The increase relative to base is at most the limit.
    Grow,
    /// The decrease relative to base is at most the limit.
    Shrink,
    /// The distance above base's range, relative to its upper end, is at most the limit.
    Range,
}

impl LimitRule {
    /// Returns whether the rule compares with base.
    pub(crate) fn is_relative(self) -> bool {
        matches!(self, Self::Grow | Self::Shrink | Self::Range)
    }

    /// Returns whether smaller values keep the rule.
    pub(crate) fn is_upper(self) -> bool {
        matches!(self, Self::Max | Self::Grow | Self::Range)
    }

    /// Returns the name for tables.
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

/// Result of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// The limit was missed, or its figure is missing.
    Miss,
    /// The change is beyond the limit, but the runs are too few or vary too much to tell it from
    /// noise.
    Inconclusive,
    /// The limit cannot be judged, which fails nothing: it is optional and its figure is missing,
    /// or base has nothing to compare with, as for a kernel that only new has.
    NotMeasurable,
    /// The limit was kept.
    Pass,
}
