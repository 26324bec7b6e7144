//! Types of a gate's result: which limits a recording or a comparison keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use metalens_message::{Message, Number, Unit};

/// Result of judging the limits of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateRow {
    /// Id of the figure, or name of the kernel.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
    /// The increase is at most the limit, or at most what is noise within the runs.
    Slower,
    /// The distance above base's range, relative to its upper end, is at most the limit.
    Range,
}

impl GateResult {
    /// Returns the limits that were missed, also as warnings.
    pub fn missed_rows(&self) -> impl Iterator<Item = &GateRow> {
        let rows = self.rows.iter();
        rows.filter(|row| row.verdict == GateVerdict::Miss)
    }

    /// Lends every sentence that may contain values, so that a caller can change it.
    pub fn messages_mut(&mut self) -> impl Iterator<Item = &mut Message> {
        let reasons = self.rows.iter_mut().map(|row| &mut row.why);
        std::iter::once(&mut self.source).chain(reasons)
    }
}

impl LimitRule {
    /// Returns whether the rule compares with base.
    pub fn is_relative(self) -> bool {
        matches!(self, Self::Grow | Self::Slower | Self::Shrink | Self::Range)
    }

    /// Returns whether smaller values keep the rule.
    pub fn is_upper(self) -> bool {
        matches!(self, Self::Max | Self::Grow | Self::Slower | Self::Range)
    }

    /// Returns the name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Max => "at most",
            Self::Min => "at least",
            Self::Grow => "grows by at most",
            Self::Slower => "slower by at most",
            Self::Shrink => "shrinks by at most",
            Self::Range => "above base's range by at most",
        }
    }
}

/// Result of one limit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
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

/// A figure of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
    pub fn unit(self) -> Unit {
        match self {
            Self::Total | Self::Median => Unit::Ns,
            Self::Instances => Unit::Count,
        }
    }

    /// Returns the name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Median => "median",
            Self::Instances => "instances",
        }
    }
}

/// Consequence of a missed limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GateSeverity {
    /// The whole gate is missed.
    #[default]
    Error,
    /// The miss is only reported.
    Warn,
}
