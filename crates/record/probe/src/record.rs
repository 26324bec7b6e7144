//! What goes into the log about a command buffer.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use metalens_command_log::Kind;

use crate::mode::lock;

/// What was encoded into a command buffer since it began.
#[derive(Clone, Default)]
pub(crate) struct Encoded {
    /// Time at which its first encoder was made.
    pub(crate) start: Option<u64>,
    pub(crate) encoders: Vec<Arc<Mutex<Encoder>>>,
}

/// A commit: of one command buffer, or in Metal 4 of several at once.
pub(crate) struct Committed {
    pub(crate) number: u64,
    pub(crate) queue: Option<u64>,
    pub(crate) thread: u64,
    pub(crate) label: Option<String>,
    pub(crate) time: u64,
    pub(crate) encoded: Encoded,
}

/// What became of a commit.
pub(crate) struct Completion {
    pub(crate) scheduled: Option<u64>,
    pub(crate) gpu: Option<(u64, u64)>,
    pub(crate) completed: u64,
    pub(crate) error: Option<String>,
}

/// What was encoded with an encoder.
pub(crate) struct Encoder {
    pub(crate) kind: Kind,
    pub(crate) start: u64,
    pub(crate) end: Option<u64>,
    pub(crate) label: Option<String>,
    /// Names of functions with the number of dispatches or draws.
    pub(crate) kernels: Vec<(Arc<str>, u64)>,
}

impl Encoder {
    /// Counts a dispatch or a draw.
    pub(crate) fn count(&mut self, name: &Arc<str>) {
        let mut known = self.kernels.iter_mut().rev();
        match known.find(|(kernel, _)| Arc::ptr_eq(kernel, name)) {
            Some((_, count)) => *count += 1,
            None => self.kernels.push((name.clone(), 1)),
        }
    }

    /// Returns a label that names its kernels: four at most.
    pub(crate) fn label_from_kernels(&self) -> Option<String> {
        const NAMED: usize = 4;
        let names = self.kernels.iter().map(|(name, _)| &**name);
        let mut label = names.take(NAMED).collect::<Vec<_>>().join(" + ");
        let more = self.kernels.len().saturating_sub(NAMED);
        if more > 0 {
            label.push_str(&format!(" + {more} more"));
        }
        (!label.is_empty()).then_some(label)
    }
}

/// Returns the one copy of a name, so that equal names have equal addresses.
pub(crate) fn intern(name: &str) -> Arc<str> {
    static NAMES: Mutex<BTreeSet<Arc<str>>> = Mutex::new(BTreeSet::new());
    let mut names = lock(&NAMES);
    if let Some(known) = names.get(name) {
        return known.clone();
    }
    let new: Arc<str> = name.into();
    names.insert(new.clone());
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_names_four_kernels_at_most() {
        for (kernels, expected) in [
            (&[][..], None),
            (&["gemm"][..], Some("gemm")),
            (&["a", "b", "c", "d"][..], Some("a + b + c + d")),
            (
                &["a", "b", "c", "d", "e", "f"][..],
                Some("a + b + c + d + 2 more"),
            ),
        ] {
            let encoder = Encoder {
                kind: Kind::Compute,
                start: 0,
                end: None,
                label: None,
                kernels: kernels.iter().map(|name| (intern(name), 1)).collect(),
            };
            assert_eq!(encoder.label_from_kernels().as_deref(), expected);
        }
    }
}
