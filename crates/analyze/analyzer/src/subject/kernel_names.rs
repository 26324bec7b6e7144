//! Names the work of GPU intervals.
//!
//! A label is `command buffer:encoder`. Metal gives default labels to what the program did not
//! name (`Command Buffer 0:Compute Command 3`), and those mean nothing: such work is
//! `(unlabeled Compute)`, whatever its number.

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;

use super::dispatches::DispatchedFunctions;
use super::interval::Interval;
use super::shaders::SampledShaders;
use crate::report::NamedBy;

/// Name of copies without a label. They may run on the Compute channel.
pub(crate) const UNLABELED_BLIT: &str = "(unlabeled Blit)";

/// Sources of names besides labels: one entry per interval, or nothing.
#[derive(Debug, Default)]
pub(crate) struct NameHints {
    /// Texts of the hints, which are made from the recording's own.
    pub texts: Names,
    /// Shaders that ran in each interval, with names as symbols of [`Self::texts`].
    pub shaders: SampledShaders,
    /// Debug group that each interval was encoded in, as a symbol of [`Self::texts`].
    pub groups: Vec<Option<Symbol>>,
    /// Functions that were dispatched in each interval, with names as symbols of [`Self::texts`].
    pub dispatched: DispatchedFunctions,
}

impl NameHints {
    /// Returns the possible sources of an interval's name, by its index.
    pub(crate) fn sources(&self, index: usize, interval: &Interval) -> NameSources {
        NameSources {
            label: interval.label,
            channel: interval.channel,
            shaders: self.shaders.names.get(index).copied().flatten(),
            group: self.groups.get(index).copied().flatten(),
            dispatched: self.dispatched.names.get(index).copied().flatten(),
        }
    }
}

/// Possible sources of an interval's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct NameSources {
    /// Label of the interval.
    pub label: Option<Symbol>,
    /// Channel of the interval.
    pub channel: Option<Symbol>,
    /// Shaders that ran in it, as a symbol of [`NameHints::texts`].
    pub shaders: Option<Symbol>,
    /// Debug group that it was encoded in, as a symbol of [`NameHints::texts`].
    pub group: Option<Symbol>,
    /// Functions that were dispatched in it, as a symbol of [`NameHints::texts`].
    pub dispatched: Option<Symbol>,
}

/// Makes the names of intervals from their sources.
pub(crate) struct KernelNames<'a> {
    names: &'a Names,
    hints: &'a NameHints,
    /// Start of the encoder's label in `buffer:encoder`, from the encoder list: a label may itself
    /// contain a colon.
    splits: FxHashMap<String, usize>,
}

impl<'a> KernelNames<'a> {
    /// Creates the names from the pairs of labels that the encoder list has.
    #[must_use]
    pub(crate) fn new(names: &'a Names, pairs: &[(Symbol, Symbol)], hints: &'a NameHints) -> Self {
        let splits = pairs.iter().map(|&(buffer, encoder)| {
            let (buffer, encoder) = (names.text(buffer), names.text(encoder));
            (format!("{buffer}:{encoder}"), buffer.len() + 1)
        });
        Self {
            names,
            hints,
            splits: splits.collect(),
        }
    }

    /// Returns the sources of names besides labels.
    pub(crate) fn hints(&self) -> &'a NameHints {
        self.hints
    }

    /// Returns the name of an interval's work and its source.
    pub(crate) fn name(&self, sources: NameSources) -> (String, NamedBy) {
        if let Some(shaders) = sources.shaders {
            let shaders = self.hints.texts.text(shaders);
            return (shaders.to_owned(), NamedBy::ShaderProfiler);
        }
        if let Some(functions) = sources.dispatched {
            let functions = self.hints.texts.text(functions);
            return (functions.to_owned(), NamedBy::Dispatches);
        }

        let label = sources.label.map_or("", |label| self.names.text(label));
        let (buffer, encoder) = self.split(label);
        if is_given(encoder) {
            return (encoder.to_owned(), NamedBy::EncoderLabel);
        }
        if let Some(group) = sources.group {
            let group = self.hints.texts.text(group);
            return (group.to_owned(), NamedBy::DebugGroup);
        }
        if is_given(buffer) {
            return (buffer.to_owned(), NamedBy::CommandBufferLabel);
        }

        if is_blit(encoder) {
            return (UNLABELED_BLIT.to_owned(), NamedBy::None);
        }
        let channel = sources
            .channel
            .map_or("GPU work", |channel| self.names.text(channel));
        (format!("(unlabeled {channel})"), NamedBy::None)
    }

    /// Returns the number of encoders that the driver coalesced into one interval, if its label
    /// tells it.
    pub(crate) fn coalesced(&self, label: Option<Symbol>) -> Option<u64> {
        let label = self.names.text(label?);
        if self.splits.contains_key(label) {
            return None;
        }

        let (_, encoder) = self.split(label);
        let words: Vec<&str> = encoder.split(' ').collect();
        if let ["Coelasced" | "Coalesced", count, "Encoders"] = words.as_slice() {
            return count.parse().ok();
        }
        let count = encoder.split(" & ").count() as u64;
        (count > 1).then_some(count)
    }

    /// Splits a label into the labels of the command buffer and of the encoder.
    fn split<'t>(&self, label: &'t str) -> (&'t str, &'t str) {
        let split = self.known_split(label).or_else(|| counted_split(label));
        if let Some(split) = split
            && let (Some(buffer), Some(encoder)) = (label.get(..split - 1), label.get(split..))
        {
            return (buffer, encoder);
        }
        label.split_once(':').unwrap_or(("", label))
    }

    /// Returns the split of the pair that the label is, or begins with if the driver coalesced it
    /// with others: `buffer:A & B`.
    fn known_split(&self, label: &str) -> Option<usize> {
        /// Number of ends that are tried: a hostile label may have a million parts.
        const TRIED: usize = 64;
        let parts = label.match_indices(" & ").map(|(end, _)| end).take(TRIED);
        let mut ends = parts.chain([label.len()]);
        ends.find_map(|end| self.splits.get(label.get(..end)?).copied())
    }
}

/// Returns the start of the encoder's label in `buffer:Coelasced 3 Encoders` (Apple's
/// spelling).
fn counted_split(label: &str) -> Option<usize> {
    let words = [":Coelasced ", ":Coalesced "];
    words.iter().find_map(|words| Some(label.rfind(words)? + 1))
}

/// Returns whether the program gave a label: it is neither empty nor Metal's default. For a
/// coalesced `A & B` one given part is enough.
fn is_given(label: &str) -> bool {
    label.split(" & ").any(|part| {
        let part = part.trim();
        !part.is_empty() && part != "GPU Execution" && !is_default(part)
    })
}

/// Returns whether Metal's own label says that the work is a copy: `Blit Command 3`.
fn is_blit(label: &str) -> bool {
    label.starts_with("Blit Command ") && !label.contains(" & ")
}

/// Returns whether a label is Metal's default: `Command Buffer 0`, `Compute Command 3`, `Blit
/// Command 1`, …
pub(super) fn is_default(label: &str) -> bool {
    const ENCODERS: [&str; 6] = [
        "Compute",
        "Render",
        "Parallel Render",
        "Blit",
        "Resource State",
        "Acceleration Structure",
    ];
    let Some((words, number)) = label.rsplit_once(' ') else {
        return false;
    };

    let is_numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let encoder = words.strip_suffix(" Command");
    let is_default_name =
        words == "Command Buffer" || encoder.is_some_and(|e| ENCODERS.contains(&e));
    is_numbered && is_default_name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(label: &str, expected: &str, named_by: NamedBy) {
        let mut names = Names::new();
        let pair = (names.symbol("step: 1"), names.symbol("mul:add"));
        let (label, channel) = (names.symbol(label), names.symbol("Compute"));
        let hints = NameHints::default();
        let kernels = KernelNames::new(&names, &[pair], &hints);
        let found = kernels.name(NameSources {
            label: Some(label),
            channel: Some(channel),
            ..NameSources::default()
        });
        assert_eq!(found, (expected.to_owned(), named_by));
    }

    #[test]
    fn labels_are_split() {
        use NamedBy::{CommandBufferLabel, EncoderLabel};
        check("Command Buffer 0:sin", "sin", EncoderLabel);
        check("step 1:sin", "sin", EncoderLabel);
        check("step 1:Compute Command 0", "step 1", CommandBufferLabel);
        check("Command Buffer 0:a:b", "a:b", EncoderLabel);
        check("step: 1:mul:add", "mul:add", EncoderLabel);
        check("Command Buffer 0:sin & cos", "sin & cos", EncoderLabel);
        check(
            "Command Buffer 0:Compute Command 0 & cos",
            "Compute Command 0 & cos",
            EncoderLabel,
        );
        check(
            "Command Buffer 0:My Command 3",
            "My Command 3",
            EncoderLabel,
        );
        check("Coelasced 3 Encoders", "Coelasced 3 Encoders", EncoderLabel);
    }

    /// Shaders have priority over any label, a debug group over the buffer's label.
    #[test]
    fn sources_have_an_order() {
        let (mut names, mut hints) = (Names::new(), NameHints::default());
        let [given, plain] =
            ["step:mul", "step:Compute Command 0"].map(|text| Some(names.symbol(text)));
        let [shaders, group] = ["mul_f16", "layer 3"].map(|text| Some(hints.texts.symbol(text)));
        let kernels = KernelNames::new(&names, &[], &hints);
        let cases = [
            (given, shaders, group, "mul_f16"),
            (given, None, group, "mul"),
            (plain, None, group, "layer 3"),
            (plain, None, None, "step"),
        ];
        for (label, shaders, group, expected) in cases {
            let sources = NameSources {
                label,
                channel: None,
                shaders,
                group,
                dispatched: None,
            };
            assert_eq!(kernels.name(sources).0, expected);
        }
    }

    #[test]
    fn coalesced_encoders_are_counted() {
        let mut names = Names::new();
        let pair = (names.symbol("b"), names.symbol("rope & norm"));
        let cases = [
            ("b:mul", None),
            ("b:mul & add & sin", Some(3)),
            ("b:Coelasced 5 Encoders", Some(5)),
            ("b:rope & norm", None),
            ("", None),
        ];
        let labels = cases.map(|(label, _)| names.symbol(label));
        let hints = NameHints::default();
        let kernels = KernelNames::new(&names, &[pair], &hints);
        for (label, (_, expected)) in labels.into_iter().zip(cases) {
            assert_eq!(kernels.coalesced(Some(label)), expected);
        }
    }

    #[test]
    fn default_labels_are_unlabeled() {
        for label in [
            "Command Buffer 0:Compute Command 0",
            "Command Buffer 12:Compute Command 3 & Compute Command 4",
            "Command Buffer 0:",
            "GPU Execution",
            "",
        ] {
            check(label, "(unlabeled Compute)", NamedBy::None);
        }
    }
}
