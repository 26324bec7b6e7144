//! Eager against compiled: which of the four moved, and whether kernels were fused.
//!
//! A recording shows intervals and their names, never what a compiler did. So the
//! most that is said is that the figures are consistent with fusion.

use metalens_analyzer::units::capital;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::{Change, Class};
use crate::kernels::KernelChange;
use crate::metric_changes::{MetricChange, find};
use crate::unit::Unit;
use crate::words::{became, share};

/// Whether kernels were fused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fusion {
    /// What the figures are consistent with.
    pub verdict: FusionVerdict,
    /// Which of dispatches, gaps, kernel time and wall moved, and what follows: one sentence.
    pub says: String,
    /// The figures it rests on.
    pub evidence: Vec<String>,
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

    fn says(&self) -> String {
        format!(
            "kernel names: {} in both, {} only in base, {} only in new",
            self.kept, self.removed, self.added
        )
    }
}

pub(crate) fn fusion(metrics: &[MetricChange], kernels: &[KernelChange]) -> Fusion {
    let of = |id: &str| find(metrics, id).map(|metric| &metric.change);
    let (dispatches, sum) = (of("counts.intervals"), of("busy.sum_ns"));
    let names = Names::of(kernels);
    let (verdict, why) = verdict(dispatches, sum, &names);
    let said = [
        ("dispatches", dispatches),
        ("gaps", of("gaps.total_ns")),
        ("kernel time", sum),
        ("wall", of("window.span_ns")),
    ];
    Fusion {
        verdict,
        says: format!("{}: {why}", four(&said)),
        evidence: evidence(metrics, &names),
    }
}

/// `Dispatches −75.0 % and gaps −75.1 % moved, kernel time did not`.
fn four(all: &[(&str, Option<&Change>); 4]) -> String {
    let with = |wanted: fn(Class) -> bool| {
        let chosen = all.iter().filter_map(|&(name, change)| {
            let change = change?;
            wanted(change.class).then_some((name, change))
        });
        chosen.collect::<Vec<_>>()
    };
    let moved = with(|class| matches!(class, Class::Grown | Class::Shrunk));
    let still = with(|class| class == Class::Unchanged);
    let open = with(|class| class == Class::Unstable);
    let moved: Vec<String> = moved
        .iter()
        .map(|(name, change)| format!("{name} {}", share(change)))
        .collect();
    let names = |of: &[(&str, &Change)]| {
        let names: Vec<&str> = of.iter().map(|(name, _)| *name).collect();
        list(&names)
    };
    let moved: Vec<&str> = moved.iter().map(String::as_str).collect();
    let mut said = match moved.is_empty() {
        true => "none of the four moved for certain".to_owned(),
        false => format!("{} moved", list(&moved)),
    };
    if !still.is_empty() && !moved.is_empty() {
        said.push_str(&format!(", {} did not", names(&still)));
    }
    if !open.is_empty() {
        said.push_str(&format!(", the runs do not decide on {}", names(&open)));
    }
    capital(&said)
}

fn list(all: &[&str]) -> String {
    match all {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn verdict(
    dispatches: Option<&Change>,
    sum: Option<&Change>,
    names: &Names,
) -> (FusionVerdict, String) {
    use FusionVerdict::{Consistent, NoSign, Unclear};
    let (Some(dispatches), Some(sum)) = (dispatches, sum) else {
        return (Unclear, "too little is known to speak of fusion".to_owned());
    };
    let renamed = names.added > 0 && names.removed > 0;
    let (verdict, why) = match (dispatches.class, sum.class) {
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
    };
    (verdict, why.to_owned())
}

/// Whether the GPU time fell by at least half as much as the dispatches did.
fn is_less_work(dispatches: &Change, sum: &Change) -> bool {
    match (dispatches.relative, sum.relative) {
        (Some(dispatches), Some(sum)) => sum <= dispatches / 2.0,
        _ => false,
    }
}

fn evidence(metrics: &[MetricChange], names: &Names) -> Vec<String> {
    let said = |id: &str, name: &str, unit: Unit| {
        let change = &find(metrics, id)?.change;
        Some(format!("{name}: {}", became(change, unit)?))
    };
    let mut evidence: Vec<String> = [
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
