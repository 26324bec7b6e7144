//! The target's rows by what they are called.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tally::Tally;
use crate::plan::{Kick, Plan};

/// All rows of one name on one channel. Percentiles are nearest-rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// What the rows are called.
    pub name: String,
    /// Where the name comes from.
    pub named_by: NamedBy,
    /// The GPU channel.
    pub channel: String,
    /// How many rows.
    pub instances: u64,
    /// Their durations, added up.
    pub total_ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Rounded to the nearest nanosecond, halves up.
    pub avg_ns: u64,
    /// The middle one.
    pub med_ns: u64,
    /// The 95th percentile.
    pub p95_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
}

/// Where a kernel's name comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedBy {
    /// The encoder part of the row's label.
    EncoderLabel,
    /// The command buffer's label; the encoder had none of its own.
    CommandBufferLabel,
    /// Nothing: neither had a label of its own.
    None,
}

/// One entry per name and channel: longest total first, then by name and channel.
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
    // Stable, and the map was sorted by name and channel.
    kernels.sort_by_key(|kernel| std::cmp::Reverse(kernel.total_ns));
    kernels
}

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

fn name(plan: &Plan, kick: &Kick) -> (String, NamedBy) {
    let encoder = plan.labels.text(kick.label);
    let buffer = plan.labels.text(plan.buffer(kick.buffer).label);
    if is_real(encoder) {
        (encoder.to_owned(), NamedBy::EncoderLabel)
    } else if is_real(buffer) {
        (buffer.to_owned(), NamedBy::CommandBufferLabel)
    } else {
        // What Metal calls a copy is one on whatever channel it runs.
        let kind = match encoder.starts_with("Blit Command ") {
            true => "Blit",
            false => plan.channels.text(kick.channel),
        };
        (format!("(unlabeled {kind})"), NamedBy::None)
    }
}

/// What Metal calls objects that nobody labelled, before the number.
const MADE_UP: [&str; 7] = [
    "Command Buffer ",
    "Compute Command ",
    "Render Command ",
    "Blit Command ",
    "Parallel Render Command ",
    "Resource State Command ",
    "Acceleration Structure Command ",
];

/// Whether somebody chose this label.
fn is_real(label: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let made_up = MADE_UP
        .iter()
        .any(|kind| label.strip_prefix(kind).is_some_and(is_number));
    !label.is_empty() && !made_up
}

#[cfg(test)]
mod tests {
    use super::is_real;

    #[test]
    fn numbered_kinds_are_not_labels() {
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
