//! Counts the rows of the process by name and channel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tally::Tally;
use crate::plan::{Kick, Plan};

/// All rows of one name on one channel. Percentiles are nearest-rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Name of the rows.
    pub name: String,
    /// Origin of the name.
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
    /// Median of the durations.
    pub med_ns: u64,
    /// 95th percentile of the durations.
    pub p95_ns: u64,
    /// 99th percentile of the durations.
    pub p99_ns: u64,
}

/// The origin of a kernel's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedBy {
    /// The encoder part of the row's label.
    EncoderLabel,
    /// The command buffer's label, since the encoder had none.
    CommandBufferLabel,
    /// Neither label, since both are defaults of Metal.
    None,
}

/// Returns one entry per name and channel: longest total first, then by name and channel.
pub(super) fn kernels(plan: &Plan, own: &[&Kick]) -> Vec<Kernel> {
    let mut by_name = BTreeMap::<(String, &str, NamedBy), Tally>::new();
    for kick in own {
        let channel = plan.channels.text(kick.channel);
        let (name, named_by) = name(plan, kick);
        by_name
            .entry((name, channel, named_by))
            .or_default()
            .add(kick.duration_ns);
    }

    let mut kernels: Vec<Kernel> = by_name.into_iter().filter_map(kernel).collect();
    // The sort is stable, and the map is sorted by name and channel.
    kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.total_ns));
    kernels
}

/// Returns the figures of a kernel.
fn kernel(
    ((name, channel, named_by), durations): ((String, &str, NamedBy), Tally),
) -> Option<Kernel> {
    Some(Kernel {
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

/// Returns the name of a kick's kernel and its origin: a label, or else the kind of work.
fn name(plan: &Plan, kick: &Kick) -> (String, NamedBy) {
    let encoder = plan.labels.text(kick.label);
    let buffer = plan.labels.text(plan.buffer(kick.buffer).label);
    if is_real(encoder) {
        (encoder.to_owned(), NamedBy::EncoderLabel)
    } else if is_real(buffer) {
        (buffer.to_owned(), NamedBy::CommandBufferLabel)
    } else {
        // A copy is named after its kind, whatever channel it runs on.
        let kind = if encoder.starts_with("Blit Command ") {
            "Blit"
        } else {
            plan.channels.text(kick.channel)
        };
        (format!("(unlabeled {kind})"), NamedBy::None)
    }
}

/// Default labels of Metal, without the number at their end.
const DEFAULT_LABELS: [&str; 7] = [
    "Command Buffer ",
    "Compute Command ",
    "Render Command ",
    "Blit Command ",
    "Parallel Render Command ",
    "Resource State Command ",
    "Acceleration Structure Command ",
];

/// Returns whether a label is not one of Metal's defaults.
fn is_real(label: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_default = DEFAULT_LABELS
        .iter()
        .any(|kind| label.strip_prefix(kind).is_some_and(is_number));
    !label.is_empty() && !is_default
}

#[cfg(test)]
mod tests {
    use super::is_real;

    #[test]
    fn default_labels_are_not_real() {
        for label in [
            "",
            "Command Buffer 0",
            "Compute Command 12",
            "Blit Command 3",
        ] {
            assert!(!is_real(label), "{label}");
        }
        for label in [
            "matmul",
            "Command Buffer",
            "Compute Command x",
            "Compute Command 1 of 2",
        ] {
            assert!(is_real(label), "{label}");
        }
    }
}
