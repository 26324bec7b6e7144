//! Judges whether a compiled program fused kernels of an eager one.
//!
//! A recording shows intervals and their names, never what a compiler did. So the
//! strongest possible verdict is that the figures are consistent with fusion.

use metalens_analyzer::id;
use metalens_message::{Message, message, ungrouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, ChangeClass};
use crate::format::{NO_CHANGE, NO_DIFFERENCE};
use crate::kernels::KernelChange;
use crate::metric_changes::{MetricChange, find};
use crate::sentences::{became, share};
use crate::unit::Unit;

/// Verdict on kernel fusion, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fusion {
    /// The conclusion that the figures allow.
    pub verdict: FusionVerdict,
    /// The verdict in one sentence, with the changes of GPU intervals, idle time, kernel time and wall time.
    pub says: Message,
    /// The figures that the verdict rests on.
    pub evidence: Vec<Message>,
}

/// Conclusion about kernel fusion that the figures allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FusionVerdict {
    /// Fewer GPU intervals, under other names, with about the same GPU time or less.
    Consistent,
    /// The number of GPU intervals did not fall, nor the GPU time.
    NoSign,
    /// Fewer GPU intervals for a possibly different reason, or too few figures.
    Unclear,
}

/// Numbers of kernel names by the sides that have them.
struct KernelNameCounts {
    added: usize,
    removed: usize,
    kept: usize,
}

impl KernelNameCounts {
    fn count(kernels: &[KernelChange]) -> Self {
        let count = |class: ChangeClass| {
            kernels
                .iter()
                .filter(|kernel| kernel.class == class)
                .count()
        };
        let (added, removed) = (count(ChangeClass::Added), count(ChangeClass::Removed));
        Self {
            added,
            removed,
            kept: kernels.len() - added - removed,
        }
    }

    fn text(&self) -> Message {
        message!(
            "kernel names: {} in both, {} only in base, {} only in new",
            ungrouped(self.kept as u64),
            ungrouped(self.removed as u64),
            ungrouped(self.added as u64)
        )
    }
}

/// Judges fusion from the changes of figures and kernels.
pub(crate) fn fusion(metrics: &[MetricChange], kernels: &[KernelChange]) -> Fusion {
    let change = |id: &str| find(metrics, id).map(|metric| &metric.change);
    let (intervals, sum) = (change(id!(counts.intervals)), change(id!(busy.sum_ns)));
    let names = KernelNameCounts::count(kernels);
    let (verdict, why) = verdict(intervals, sum, &names);

    let quantities = [
        ("GPU intervals", intervals),
        ("idle time", change(id!(gaps.total_ns))),
        ("kernel time", sum),
        ("wall time", change(id!(window.span_ns))),
    ];
    let says = message!("{} ({})", why, quantities_text(&quantities));
    Fusion {
        verdict,
        says,
        evidence: evidence(metrics, &names),
    }
}

/// Returns `GPU intervals −75.0 %, idle time −75.1 %; no significant change in kernel time`.
fn quantities_text(quantities: &[(&'static str, Option<&Change>); 4]) -> Message {
    let (mut changed, mut unchanged, mut inconclusive) = (Vec::new(), Vec::new(), Vec::new());
    for &(name, change) in quantities {
        let Some(change) = change else {
            continue;
        };
        match change.material_class() {
            ChangeClass::Grown | ChangeClass::Shrunk => {
                changed.push(message!("{} {}", name, share(change)));
            }
            ChangeClass::Unchanged => unchanged.push(name.into()),
            ChangeClass::Unstable => inconclusive.push(name.into()),
            ChangeClass::Added | ChangeClass::Removed | ChangeClass::Unknown => {}
        }
    }

    let mut parts = Vec::new();
    if !changed.is_empty() {
        parts.push(Message::joined(changed, ", "));
    }
    if !unchanged.is_empty() {
        let is_sure = quantities
            .iter()
            .any(|(_, change)| change.is_some_and(|change| change.interval.is_some()));
        let word = if is_sure { NO_CHANGE } else { NO_DIFFERENCE };
        parts.push(message!("{} in {}", word, list(unchanged)));
    }
    if !inconclusive.is_empty() {
        parts.push(message!("inconclusive: {}", list(inconclusive)));
    }
    if parts.is_empty() {
        return "none of GPU intervals, idle time, kernel time and wall time is recorded".into();
    }
    Message::joined(parts, "; ")
}

fn list(mut items: Vec<Message>) -> Message {
    match items.pop() {
        Some(last) if !items.is_empty() => {
            message!("{} and {}", Message::joined(items, ", "), last)
        }
        last => last.into(),
    }
}

fn verdict(
    intervals: Option<&Change>,
    sum: Option<&Change>,
    names: &KernelNameCounts,
) -> (FusionVerdict, &'static str) {
    use FusionVerdict::{Consistent, NoSign, Unclear};

    let (Some(intervals), Some(sum)) = (intervals, sum) else {
        return (
            Unclear,
            "Fusion cannot be judged: GPU intervals or kernel time are not recorded",
        );
    };
    let is_renamed = names.added > 0 && names.removed > 0;
    match (intervals.material_class(), sum.material_class()) {
        // One interval can hold all dispatches of an encoder, as with MLX and candle.
        (ChangeClass::Unchanged, ChangeClass::Shrunk) => (
            Unclear,
            "The same number of GPU intervals in less GPU time: fusion inside encoders would \
             explain this, and so would faster kernels; a recording with the Shader Timeline \
             shows which",
        ),
        (ChangeClass::Unchanged | ChangeClass::Grown, _) => (
            NoSign,
            "No sign of fusion: the number of GPU intervals did not fall",
        ),
        (ChangeClass::Shrunk, ChangeClass::Unstable | ChangeClass::Unknown) => (
            Unclear,
            "Fewer GPU intervals, but the GPU time is inconclusive, so this may be different work",
        ),
        (ChangeClass::Shrunk, _) if is_less_work(intervals, sum) => (
            Unclear,
            "Fewer GPU intervals and much less GPU time: fusion would explain this, and so would \
             less work",
        ),
        (ChangeClass::Shrunk, _) if !is_renamed => (
            Unclear,
            "Fewer GPU intervals under the same kernel names: fusion would explain this, and so \
             would merging by the driver or less work",
        ),
        (ChangeClass::Shrunk, ChangeClass::Grown) => (
            Unclear,
            "Fewer GPU intervals under other kernel names, but more GPU time: if this is fusion, the \
             fused kernels are slower than what they replace",
        ),
        (ChangeClass::Shrunk, ChangeClass::Unchanged) => (
            Consistent,
            "Consistent with fusion: fewer GPU intervals under other kernel names for the same GPU \
             time",
        ),
        (ChangeClass::Shrunk, _) => (
            Consistent,
            "Consistent with fusion: fewer GPU intervals under other kernel names and less GPU time",
        ),
        _ => (
            Unclear,
            "Inconclusive: the runs vary too much to show whether GPU intervals became fewer",
        ),
    }
}

/// Returns whether the GPU time fell by at least half as much as the number of GPU intervals did.
fn is_less_work(intervals: &Change, sum: &Change) -> bool {
    match (intervals.relative, sum.relative) {
        (Some(intervals), Some(sum)) => sum <= intervals / 2.0,
        _ => false,
    }
}

fn evidence(metrics: &[MetricChange], names: &KernelNameCounts) -> Vec<Message> {
    let figure = |id: &str, name: &'static str, unit: Unit| {
        let change = &find(metrics, id)?.change;
        Some(message!("{}: {}", name, became(change, unit)?))
    };
    let mut evidence: Vec<Message> = [
        figure(id!(counts.intervals), "GPU intervals", Unit::Count),
        figure(id!(counts.command_buffers), "command buffers", Unit::Count),
        figure(id!(busy.sum_ns), "kernel time, summed", Unit::Ns),
    ]
    .into_iter()
    .flatten()
    .collect();
    evidence.push(names.text());

    let merged = find(metrics, id!(counts.coalesced)).map(|metric| &metric.change);
    if merged.is_some_and(|change| change.material_class() != ChangeClass::Unchanged) {
        evidence.extend(figure(
            id!(counts.coalesced),
            "intervals merged by the driver",
            Unit::Count,
        ));
    }
    evidence
}
