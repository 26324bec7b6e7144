//! Defines the limits that a recording or a comparison has to keep.

use metalens_analyzer::id;

mod judge;
mod kernels;
mod section;
mod subject;
#[cfg(test)]
#[path = "gate/trials_tests.rs"]
mod trials;

use metalens_message::Message;

use crate::metric_changes::OWN_TIMES;
pub use metalens_analyzer::{
    GateResult, GateRow, GateSeverity, GateVerdict, KernelFigure, LimitRule,
};

pub use judge::{judge, judge_report};
pub use kernels::Patterns;
pub use section::GateSection;

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
    /// True if the work was meant to change: limits of amounts of work only warn.
    pub may_change_work: bool,
    /// True if run i of both sides is one pair, and somebody looks after each pair until the limits of times are
    /// decided.
    pub until_decided: bool,
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
    /// Whether it is judged only where both sides have the same steps, or only where they have not; `None` for
    /// always.
    pub steps: Option<bool>,
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
    /// True if it is not judged where the sides have other numbers of the same steps.
    pub is_of_as_many_steps: bool,
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
    /// Maximum allowed increase, as a share of base's median, or of a step for its own time. Where the noise
    /// within the runs is larger, that.
    pub slower: Option<f64>,
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

impl Gate {
    /// Returns the gate with only the limits that compare with no base: `min` and `max`. None if it has
    /// none of these.
    #[must_use]
    pub fn without_base(&self) -> Option<Self> {
        let mut gate = Self {
            runs: None,
            ..self.clone()
        };
        let of_metrics = gate.metrics.iter_mut().map(|metric| &mut metric.limit);
        let of_kernels = gate.kernels.iter_mut().map(|kernel| &mut kernel.limit);
        for limit in of_metrics.chain(of_kernels) {
            (limit.grow, limit.slower, limit.shrink, limit.range) = (None, None, None, None);
        }
        gate.metrics.retain(|metric| metric.limit.has_rules());
        gate.kernels.retain(|kernel| kernel.limit.has_rules());
        (!gate.metrics.is_empty() || !gate.kernels.is_empty()).then_some(gate)
    }
}

impl Limit {
    /// Returns the rules that are set, each with its value.
    fn rules(&self) -> impl Iterator<Item = (LimitRule, f64)> + use<> {
        let rules = [
            (LimitRule::Max, self.max),
            (LimitRule::Min, self.min),
            (LimitRule::Grow, self.grow),
            (LimitRule::Slower, self.slower),
            (LimitRule::Shrink, self.shrink),
            (LimitRule::Range, self.range),
        ];
        rules
            .into_iter()
            .filter_map(|(rule, value)| Some((rule, value?)))
    }

    fn has_rules(&self) -> bool {
        self.rules().next().is_some()
    }
}

impl Default for Gate {
    /// Returns the limits that apply without a configuration file. A step may have 5 % more time of its own,
    /// and the median of a kernel with at least 5 % of the kernel time may be 5 % longer, or as much as is
    /// noise within the runs. A step has as many GPU intervals as before, and not more command buffers.
    /// Waits, which are not always told, and times of the whole run, which vary much more, only warn.
    ///
    /// An increase of 5 % in the wall time or the busy time of as many GPU intervals fails where no steps are
    /// known. A kernel that only new has is not judged. A kernel that only base has is a miss.
    fn default() -> Self {
        let metric = |id: &str, limit: Limit, steps: Option<bool>| MetricLimit {
            id: id.to_owned(),
            limit,
            steps,
        };
        let same_count = |share: f64| Limit {
            shrink: Some(share),
            ..growing_by(share)
        };
        let warned = |limit: Limit| Limit {
            severity: GateSeverity::Warn,
            ..limit
        };
        let optional = |limit: Limit| Limit {
            optional: true,
            ..limit
        };
        let slower = Limit {
            slower: Some(0.05),
            ..Limit::default()
        };
        let [own, second_own] = OWN_TIMES;
        Self {
            source: "the default limits".into(),
            metrics: vec![
                metric(own, slower, Some(true)),
                metric(second_own, optional(slower), Some(true)),
                metric("steps.intervals", same_count(0.0), Some(true)),
                metric("steps.command_buffers", growing_by(0.0), Some(true)),
                metric("steps.waits", warned(optional(growing_by(0.0))), Some(true)),
                metric(id!(counts.intervals), same_count(0.02), Some(false)),
                metric(id!(window.span_ns), growing_by(0.05), Some(false)),
                metric(id!(busy.busy_ns), growing_by(0.05), Some(false)),
                metric("counts.steps", warned(same_count(0.02)), Some(true)),
                metric(id!(window.span_ns), warned(growing_by(0.05)), Some(true)),
                metric(id!(gaps.total_ns), warned(growing_by(0.10)), None),
            ],
            kernels: vec![
                all_kernels(KernelFigure::Median, 0.05, slower),
                all_kernels(KernelFigure::Instances, 0.01, same_count(0.02)),
            ],
            runs: None,
            may_change_work: false,
            until_decided: false,
            allow_inconclusive: false,
        }
    }
}

fn growing_by(share: f64) -> Limit {
    Limit {
        grow: Some(share),
        ..Limit::default()
    }
}

fn all_kernels(figure: KernelFigure, share: f64, limit: Limit) -> KernelLimit {
    KernelLimit {
        pattern: "*".to_owned(),
        figure,
        share,
        limit,
        is_of_as_many_steps: figure == KernelFigure::Instances,
    }
}
