//! Defines the labels of command buffers or encoders in a stream.

use serde::{Deserialize, Serialize};

/// One label for all, or several in turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a label such as \"matmul\" or several taken in turn, [\"matmul\", \"softmax\"]"
)]
pub enum Labels {
    /// The same label for all.
    Same(String),
    /// Each label in turn, then from the first again.
    Cycle(Vec<String>),
}

impl Labels {
    /// Returns the label of the item at `index`.
    pub(crate) fn pick(&self, index: usize) -> &str {
        let labels = self.all();
        labels
            .get(index % labels.len().max(1))
            .map_or("", String::as_str)
    }

    /// Returns every label that it can give.
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Self::Same(label) => std::slice::from_ref(label),
            Self::Cycle(labels) => labels,
        }
    }
}
