//! Eager against compiled: which of the four moved, and whether kernels were fused.
//!
//! A recording shows intervals and their names, never what a compiler did. So the
//! most that is said is that the figures are consistent with fusion.

use metalens_analyzer::message::{PlacedValue, ungrouped};
use metalens_analyzer::{Message, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Class};
use crate::kernels::KernelChange;
use crate::metric_changes::{MetricChange, find};
use crate::sentences::{became, share};
use crate::unit::Unit;

/// Whether kernels were fused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fusion {
    /// What the figures are consistent with.
    pub verdict: FusionVerdict,
    /// Which of dispatches, gaps, kernel time and wall moved, and what follows: one sentence.
    pub says: String,
    /// Values of `says`, in the order in which they stand in it.
    #[serde(default)]
    pub says_values: Vec<PlacedValue>,
    /// The figures it rests on.
    pub evidence: Vec<String>,
    /// Values of each figure of `evidence`, in the order in which they stand in it.
    #[serde(default)]
    pub evidence_values: Vec<Vec<PlacedValue>>,
}

/// What the figures are consistent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FusionVerdict {
    /// Fewer dispatches, under other names, with about the same GPU time or less.
    Consistent,
    /// Not fewer dispatches.
    NoSign,
    /// Fewer dispatches, and something else than fusion may be why; or too little is known.
    Unclear,
}

/// Kernels by what became of them.
struct Names {
    added: usize,
    removed: usize,
    kept: usize,
}

impl Names {
    fn of(kernels: &[KernelChange]) -> Self {
        let of = |class: Class| kernels.iter().filter(|one| one.class == class).count();
        let (added, removed) = (of(Class::Added), of(Class::Removed));
        Self {
            added,
            removed,
            kept: kernels.len() - added - removed,
        }
    }

    fn says(&self) -> Message {
        message!(
            "kernel names: {} in both, {} only in base, {} only in new",
            ungrouped(self.kept as u64),
            ungrouped(self.removed as u64),
            ungrouped(self.added as u64)
        )
    }
}

pub(crate) fn fusion(metrics: &[MetricChange], kernels: &[KernelChange]) -> Fusion {
    let of = |id: &str| find(metrics, id).map(|metric| &metric.change);
    let (dispatches, sum) = (of("counts.intervals"), of("busy.sum_ns"));
    let names = Names::of(kernels);
    let (verdict, why) = verdict(dispatches, sum, &names);
    let said = [
        ("dispatches", "Dispatches", dispatches),
        ("gaps", "Gaps", of("gaps.total_ns")),
        ("kernel time", "Kernel time", sum),
        ("wall", "Wall", of("window.span_ns")),
    ];
    let (says, says_values) = message!("{}: {}", four(&said), why).into_parts();
    let evidence = evidence(metrics, &names).into_iter();
    let (evidence, evidence_values) = evidence.map(Message::into_parts).unzip();
    Fusion {
        verdict,
        says,
        says_values,
        evidence,
        evidence_values,
    }
}

/// `Dispatches −75.0 % and gaps −75.1 % moved, kernel time did not`. Each is given with its
/// name within a sentence and at its start.
fn four(all: &[(&'static str, &'static str, Option<&Change>); 4]) -> Message {
    let with = |wanted: fn(Class) -> bool| {
        let known = all
            .iter()
            .filter_map(|&(name, first, change)| Some((name, first, change?)));
        known.filter(move |(.., change)| wanted(change.class))
    };
    let moved = with(|class| matches!(class, Class::Grown | Class::Shrunk));
    let moved = moved.enumerate().map(|(at, (name, first, change))| {
        let name = if at == 0 { first } else { name };
        message!("{} {}", name, share(change))
    });
    let moved: Vec<Message> = moved.collect();
    let names = |wanted: fn(Class) -> bool| -> Vec<Message> {
        with(wanted).map(|(name, ..)| name.into()).collect()
    };
    let still = names(|class| class == Class::Unchanged);
    let open = names(|class| class == Class::Unstable);
    let is_any = !moved.is_empty();
    let mut said = if is_any {
        message!("{} moved", list(moved))
    } else {
        "None of the four moved for certain".into()
    };
    if !still.is_empty() && is_any {
        said.push(message!(", {} did not", list(still)));
    }
    if !open.is_empty() {
        said.push(message!(", the runs do not decide on {}", list(open)));
    }
    said
}

fn list(mut all: Vec<Message>) -> Message {
    match all.pop() {
        Some(last) if !all.is_empty() => message!("{} and {}", Message::joined(all, ", "), last),
        last => last.into(),
    }
}

fn verdict(
    dispatches: Option<&Change>,
    sum: Option<&Change>,
    names: &Names,
) -> (FusionVerdict, &'static str) {
    use FusionVerdict::{Consistent, NoSign, Unclear};
    let (Some(dispatches), Some(sum)) = (dispatches, sum) else {
        return (Unclear, "too little is known to speak of fusion");
    };
    let renamed = names.added > 0 && names.removed > 0;
    match (dispatches.class, sum.class) {
        (Class::Unchanged | Class::Grown, _) => {
            (NoSign, "no sign of fusion, which takes fewer dispatches")
        }
        (Class::Shrunk, Class::Unstable | Class::Unknown) => (
            Unclear,
            "fewer dispatches, and whether it is the same work is not known",
        ),
        (Class::Shrunk, _) if is_less_work(dispatches, sum) => (
            Unclear,
            "fewer dispatches with as much less GPU time, which less work explains as well as fusion",
        ),
        (Class::Shrunk, _) if !renamed => (
            Unclear,
            "fewer dispatches, and not under other names, which merging by the driver or less work \
             explains as well as fusion",
        ),
        (Class::Shrunk, Class::Grown) => (
            Unclear,
            "fewer dispatches under other names, but the GPU works longer: if this is fusion, the \
             fused kernels are slower than what they replace",
        ),
        (Class::Shrunk, Class::Unchanged) => (
            Consistent,
            "consistent with fusion (fewer dispatches under other names for the same GPU time)",
        ),
        (Class::Shrunk, _) => (
            Consistent,
            "consistent with fusion (fewer dispatches under other names, and less GPU time)",
        ),
        _ => (
            Unclear,
            "the runs do not decide whether there are fewer dispatches",
        ),
    }
}

/// Whether the GPU time fell by at least half as much as the dispatches did.
fn is_less_work(dispatches: &Change, sum: &Change) -> bool {
    match (dispatches.relative, sum.relative) {
        (Some(dispatches), Some(sum)) => sum <= dispatches / 2.0,
        _ => false,
    }
}

fn evidence(metrics: &[MetricChange], names: &Names) -> Vec<Message> {
    let said = |id: &str, name: &'static str, unit: Unit| {
        let change = &find(metrics, id)?.change;
        Some(message!("{}: {}", name, became(change, unit)?))
    };
    let mut evidence: Vec<Message> = [
        said("counts.intervals", "GPU intervals", Unit::Count),
        said("counts.command_buffers", "command buffers", Unit::Count),
        said("busy.sum_ns", "kernels' summed time", Unit::Ns),
    ]
    .into_iter()
    .flatten()
    .collect();
    evidence.push(names.says());
    let merged = find(metrics, "counts.coalesced").map(|one| &one.change);
    if merged.is_some_and(|change| change.class != Class::Unchanged) {
        evidence.extend(said(
            "counts.coalesced",
            "intervals that the driver merged",
            Unit::Count,
        ));
    }
    evidence
}
