//! Types of the values of sentences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Value of a sentence, with its position in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlacedValue {
    /// Position of the value's first byte in the sentence, counted in bytes of UTF-8 from 0.
    pub at: usize,
    /// Text of the value in the sentence.
    pub text: String,
    /// Type and number of the value.
    #[serde(flatten)]
    pub value: Value,
}

/// Type of a value, and its number if it has one. The text of a name is the name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Value {
    /// A length of time.
    Time {
        /// The length in nanoseconds.
        ns: u64,
    },
    /// A length of time that may be negative, such as a difference.
    SignedTime {
        /// The length in nanoseconds, rounded.
        ns: i64,
    },
    /// A moment of the recording, as `--from` and `--to` take it.
    Moment {
        /// The time since the recording began, in nanoseconds.
        ns: u64,
    },
    /// A share of a whole.
    Share {
        /// The share, usually from 0 to 1.
        share: f64,
    },
    /// A change relative to an old value.
    Change {
        /// The change as a share of the old value: -0.25 is a quarter less.
        change: f64,
    },
    /// A difference between two shares.
    Points {
        /// The difference, usually from -1 to 1.
        points: f64,
    },
    /// A ratio of two values, such as a speedup.
    Factor {
        /// Ratio of the two values.
        factor: f64,
    },
    /// A number of things; the text may end with the noun.
    Count {
        /// The number of things.
        count: u64,
    },
    /// A number that is none of the others, such as the median of two counts.
    Number {
        /// Number that the text shows.
        number: f64,
    },
    /// An amount of memory.
    Bytes {
        /// The amount in bytes.
        bytes: u64,
    },
    /// A rate of memory traffic.
    Bandwidth {
        /// The rate in 10^9 bytes per second.
        gb_per_s: f64,
    },
    /// A rate of arithmetic.
    Throughput {
        /// The rate in 10^12 floating-point operations per second.
        tflop_per_s: f64,
    },
    /// The name of a kernel, as the report calls it.
    Kernel,
    /// The name of a process.
    Process {
        /// True if the report is about this process.
        is_analyzed: bool,
    },
    /// The path of a file or folder.
    Path,
    /// The name of a table of the recording.
    Table,
    /// The name of a function of a program.
    Function,
    /// Another name: of a state, a phase, a chip, a setting.
    Name,
    /// Words that the recording or the system wrote, which may name anything.
    Quote,
}

impl Value {
    /// Returns whether the text is a name, which keeps its spelling at the start of a sentence.
    pub fn is_name(&self) -> bool {
        matches!(
            self,
            Self::Kernel
                | Self::Process { .. }
                | Self::Path
                | Self::Table
                | Self::Function
                | Self::Name
        )
    }

    /// Returns whether the text is a number with its unit, which belong on one line.
    pub fn is_measure(&self) -> bool {
        matches!(
            self,
            Self::Time { .. }
                | Self::SignedTime { .. }
                | Self::Share { .. }
                | Self::Change { .. }
                | Self::Points { .. }
                | Self::Bytes { .. }
                | Self::Bandwidth { .. }
                | Self::Throughput { .. }
        )
    }
}
