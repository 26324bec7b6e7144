//! What a GPU interval is called.
//!
//! Its label is `command buffer:encoder`. Metal gives default labels to what
//! the program did not name (`Command Buffer 0:Compute Command 3`), and those
//! say nothing: such work is `(unlabelled Compute)`, whatever its number.

use metalens_trace::{Names, Symbol};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which source a kernel's name comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NamedBy {
    /// The label that the program gave the encoder.
    EncoderLabel,
    /// The label that the program gave the command buffer.
    CommandBufferLabel,
    /// None: Metal's default labels, or none at all.
    None,
}

/// Says what intervals are called, from their labels.
pub(crate) struct KernelNames<'a> {
    names: &'a Names,
    /// `buffer:encoder` → where the encoder's label begins, from the encoder
    /// list: a label may itself contain a colon.
    splits: FxHashMap<String, usize>,
}

impl<'a> KernelNames<'a> {
    /// With the pairs of labels that the encoder list has.
    #[must_use]
    pub(crate) fn new(names: &'a Names, pairs: &[(Symbol, Symbol)]) -> Self {
        let split = |&(buffer, encoder): &(Symbol, Symbol)| {
            let (buffer, encoder) = (names.text(buffer), names.text(encoder));
            (format!("{buffer}:{encoder}"), buffer.len() + 1)
        };
        Self {
            names,
            splits: pairs.iter().map(split).collect(),
        }
    }

    /// The name of an interval's work and where it comes from.
    #[must_use]
    pub(crate) fn name(&self, label: Option<Symbol>, channel: Option<Symbol>) -> (String, NamedBy) {
        let label = label.map_or("", |label| self.names.text(label));
        let (buffer, encoder) = self.split(label);
        if is_given(encoder) {
            return (encoder.to_owned(), NamedBy::EncoderLabel);
        }
        if is_given(buffer) {
            return (buffer.to_owned(), NamedBy::CommandBufferLabel);
        }
        let channel = channel.map_or("GPU work", |channel| self.names.text(channel));
        (format!("(unlabelled {channel})"), NamedBy::None)
    }

    fn split<'t>(&self, label: &'t str) -> (&'t str, &'t str) {
        let at = self.known_split(label).or_else(|| counted_split(label));
        if let Some(at) = at
            && let (Some(buffer), Some(encoder)) = (label.get(..at - 1), label.get(at..))
        {
            return (buffer, encoder);
        }
        label.split_once(':').unwrap_or(("", label))
    }

    /// The split of the pair that the label is, or begins with if the driver
    /// coalesced it with others: `buffer:A & B`.
    fn known_split(&self, label: &str) -> Option<usize> {
        let ends = label.match_indices(" & ").map(|(end, _)| end);
        let mut ends = ends.chain([label.len()]);
        ends.find_map(|end| self.splits.get(label.get(..end)?).copied())
    }
}

/// Of `buffer:Coelasced 3 Encoders` (Apple's spelling) where the latter begins.
fn counted_split(label: &str) -> Option<usize> {
    let words = [":Coelasced ", ":Coalesced "];
    words.iter().find_map(|words| Some(label.rfind(words)? + 1))
}

/// Whether a label was given by somebody: it is neither empty nor Metal's
/// default. Of a coalesced `A & B` one given part is enough.
fn is_given(label: &str) -> bool {
    label.split(" & ").any(|part| {
        let part = part.trim();
        !part.is_empty() && part != "GPU Execution" && !is_default(part)
    })
}

/// `Command Buffer 0`, `Compute Command 3`, `Blit Command 1`, …
fn is_default(label: &str) -> bool {
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
    let numbered = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let encoder = words.strip_suffix(" Command");
    let default = words == "Command Buffer" || encoder.is_some_and(|e| ENCODERS.contains(&e));
    numbered && default
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(label: &str, expected: &str, named_by: NamedBy) {
        let mut names = Names::new();
        let pair = (names.symbol("step: 1"), names.symbol("mul:add"));
        let (label, channel) = (names.symbol(label), names.symbol("Compute"));
        let kernels = KernelNames::new(&names, &[pair]);
        let found = kernels.name(Some(label), Some(channel));
        assert_eq!(found, (expected.to_owned(), named_by));
    }

    #[test]
    fn labels() {
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

    #[test]
    fn metals_own_labels_say_nothing() {
        for label in [
            "Command Buffer 0:Compute Command 0",
            "Command Buffer 12:Compute Command 3 & Compute Command 4",
            "Command Buffer 0:",
            "GPU Execution",
            "",
        ] {
            check(label, "(unlabelled Compute)", NamedBy::None);
        }
    }
}
