//! Settings of an analysis: thresholds, and findings to leave out.

use crate::error::{Error, Result};

/// Settings of an analysis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Thresholds to check the report against.
    pub limits: Thresholds,
    /// Ids of the thresholds that the report must measure: those that somebody set.
    pub required_thresholds: Vec<String>,
    /// Ids of the findings to leave out.
    pub ignored_findings: Vec<String>,
}

/// Thresholds that a report is checked against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Upper limit of the mean gap, in nanoseconds.
    pub average_gap_ns: u64,
    /// Lower limit of the busy share of the window, from 0 to 1.
    pub utilization: f64,
    /// Lower limit of the GPU time as a share of the run time, from 0 to 1.
    pub launch_efficiency: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            average_gap_ns: 1_000,
            utilization: 0.80,
            launch_efficiency: 0.70,
        }
    }
}

impl Thresholds {
    /// Rejects shares outside 0 to 1.
    pub(crate) fn check(&self) -> Result<()> {
        let ratios = [
            ("utilization", self.utilization),
            ("launch-efficiency", self.launch_efficiency),
        ];
        let bad = ratios
            .iter()
            .find(|(_, value)| !(0.0..=1.0).contains(value));
        bad.map_or(Ok(()), |(name, value)| {
            Err(Error::Setting {
                what: format!("threshold {name} is {value}"),
                expected: "a share from 0 to 1".to_owned(),
            })
        })
    }
}
