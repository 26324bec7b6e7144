//! What a user may set: the limits of the targets, and which findings to leave out.

use crate::error::{Error, Result};

/// The settings of an analysis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// The limits of the targets.
    pub limits: TargetLimits,
    /// The ids of the targets that must be measured: those whose limits somebody set.
    pub required_targets: Vec<String>,
    /// Which findings to leave out, by their ids.
    pub ignored_findings: Vec<String>,
}

/// The limits of the targets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetLimits {
    /// The mean gap should be shorter than this.
    pub average_gap_ns: u64,
    /// busy / window should be more than this.
    pub utilisation: f64,
    /// GPU time / run time should be more than this.
    pub launch_efficiency: f64,
}

impl Default for TargetLimits {
    fn default() -> Self {
        Self {
            average_gap_ns: 1_000,
            utilisation: 0.80,
            launch_efficiency: 0.70,
        }
    }
}

impl TargetLimits {
    /// Refuses limits that nothing could be measured by.
    pub(crate) fn check(&self) -> Result<()> {
        let ratios = [
            ("utilisation", self.utilisation),
            ("launch-efficiency", self.launch_efficiency),
        ];
        let bad = ratios
            .iter()
            .find(|(_, value)| !(0.0..=1.0).contains(value));
        bad.map_or(Ok(()), |(name, value)| {
            Err(Error::Setting {
                what: format!("the limit of {name} is {value}"),
                wanted: "a share from 0 to 1".to_owned(),
            })
        })
    }
}
