//! Computes the kernels of the process: its rows by name and channel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tally::Tally;
use crate::plan::names::{NamedBy, name, sampled};
use crate::plan::{Kick, Plan};

/// All rows of one name on one channel. Percentiles are nearest-rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Name of the rows.
    pub name: String,
    /// Source of the kernel's name.
    pub named_by: NamedBy,
    /// Name of the GPU channel.
    pub channel: String,
    /// Number of rows.
    pub instances: u64,
    /// Sum of their durations.
    pub total_ns: u64,
    /// Shortest duration of a row.
    pub min_ns: u64,
    /// Longest duration of a row.
    pub max_ns: u64,
    /// Mean duration, rounded to the nearest nanosecond, halves up.
    pub avg_ns: u64,
    /// Median of the rows' durations.
    pub med_ns: u64,
    /// 95th percentile of the durations.
    pub p95_ns: u64,
    /// 99th percentile of the durations.
    pub p99_ns: u64,
    /// Time of the rows that samples of shaders cover, if the shader timeline was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shader_ns: Option<u64>,
    /// Registers that were spilled in the rows, if the table of spills was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spills: Option<Spills>,
}

/// Registers of a kernel that were spilled to memory.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spills {
    /// Number of rows whose first encoder has a spill.
    pub instances: u64,
    /// Sum of the durations of these rows.
    pub total_ns: u64,
    /// Largest number of bytes that one row spilled.
    pub max_bytes: u64,
}

/// Returns one entry per name and channel: longest total first, then by name and channel.
pub(super) fn kernels(plan: &Plan, own: &[&Kick]) -> Vec<Kernel> {
    let has_samples = own.iter().any(|kick| sampled(plan, kick).is_some());
    let has_spills = plan
        .encoders
        .iter()
        .any(|encoder| encoder.spilled_bytes.is_some());

    let mut by_name = BTreeMap::<(String, &str, NamedBy), Rows>::new();
    for kick in own {
        let channel = plan.channels.text(kick.channel);
        let (name, named_by) = name(plan, kick);
        let rows = by_name.entry((name, channel, named_by)).or_default();
        rows.durations.add(kick.duration_ns);

        if has_samples {
            let samples = sampled(plan, kick);
            *rows.shader_ns.get_or_insert(0) += samples.map_or(0, |samples| samples.ns);
        }
        if has_spills {
            let spills = rows.spills.get_or_insert_default();
            if let Some(bytes) = plan.encoder(kick.encoder).spilled_bytes {
                spills.instances += 1;
                spills.total_ns += kick.duration_ns;
                spills.max_bytes = spills.max_bytes.max(u64::from(bytes));
            }
        }
    }

    let mut kernels: Vec<Kernel> = by_name
        .into_iter()
        .filter_map(|((name, channel, named_by), rows)| kernel(name, channel, named_by, rows))
        .collect();
    // The sort is stable, and the map is sorted by name and channel.
    kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.total_ns));
    kernels
}

/// Rows of one name on one channel.
#[derive(Default)]
struct Rows {
    durations: Tally,
    shader_ns: Option<u64>,
    spills: Option<Spills>,
}

/// Returns the figures of a kernel.
fn kernel(name: String, channel: &str, named_by: NamedBy, rows: Rows) -> Option<Kernel> {
    let durations = rows.durations;
    Some(Kernel {
        shader_ns: rows.shader_ns,
        spills: rows.spills,
        name,
        named_by,
        channel: channel.to_owned(),
        instances: durations.count(),
        total_ns: durations.total(),
        min_ns: durations.min()?,
        max_ns: durations.max()?,
        avg_ns: durations.mean()?,
        med_ns: durations.percentile(50)?,
        p95_ns: durations.percentile(95)?,
        p99_ns: durations.percentile(99)?,
    })
}
