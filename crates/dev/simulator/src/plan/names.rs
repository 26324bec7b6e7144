//! Names the rows of GPU intervals as an analysis must: after shaders, after their labels, or after
//! their channel.

use serde::{Deserialize, Serialize};

use super::model::{Kick, Plan};
use super::shaders::{ShaderInterval, intervals_of};

/// The source of a kernel's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamedBy {
    /// The shaders, since samples of them cover at least half of the row.
    ShaderProfiler,
    /// The encoder part of the row's label.
    EncoderLabel,
    /// The command buffer's label, since the encoder had none.
    CommandBufferLabel,
    /// The channel alone, since both labels are defaults of Metal.
    None,
}

/// The outer samples of shaders in a row.
pub(crate) struct Samples<'p> {
    /// Names of the shaders in order of time, each once.
    pub(crate) names: Vec<&'p str>,
    /// Sum of their lengths, which never overlap.
    pub(crate) ns: u64,
}

/// Returns the samples in a row; `None` if there are none.
pub(crate) fn sampled<'p>(plan: &'p Plan, kick: &'p Kick) -> Option<Samples<'p>> {
    if !plan.shader_timeline {
        return None;
    }
    let outer: Vec<ShaderInterval<'_>> = intervals_of(plan, kick)
        .filter(|sample| sample.depth == 0)
        .collect();

    let mut names: Vec<&str> = outer.iter().map(|sample| sample.name).collect();
    names.dedup();
    (!outer.is_empty()).then(|| Samples {
        names,
        ns: outer.iter().map(|sample| sample.duration_ns).sum(),
    })
}

/// Returns the name of a row, and the source of the name.
pub(crate) fn name(plan: &Plan, kick: &Kick) -> (String, NamedBy) {
    let samples = sampled(plan, kick);
    if let Some(samples) = samples.filter(|samples| samples.ns * 2 >= kick.duration_ns) {
        return (samples.names.join(" + "), NamedBy::ShaderProfiler);
    }
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
