//! What a stream's command buffers or encoders are labelled.

use serde::{Deserialize, Serialize};

/// One label for all, or several in turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a label such as \"matmul\" or several taken in turn, [\"matmul\", \"softmax\"]"
)]
pub enum Labels {
    /// Every one the same.
    Same(String),
    /// One after another, then from the first again.
    Cycle(Vec<String>),
}

impl Labels {
    /// The label of the thing at `index`.
    pub(crate) fn pick(&self, index: usize) -> &str {
        let all = self.all();
        all.get(index % all.len().max(1)).map_or("", String::as_str)
    }

    /// Every label it can give.
    pub(crate) fn all(&self) -> &[String] {
        match self {
            Self::Same(label) => std::slice::from_ref(label),
            Self::Cycle(labels) => labels,
        }
    }
}
