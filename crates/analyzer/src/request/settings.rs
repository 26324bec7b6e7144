//! Settings of an analysis: thresholds, and findings to leave out.

use crate::error::{Error, Result};

/// Settings of an analysis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Thresholds to check the report against.
    pub thresholds: Thresholds,
    /// Ids of the findings to leave out.
    pub ignored_findings: Vec<String>,
}

/// Thresholds that a report is checked against. None applies unless somebody sets it: what is
/// good depends on the program.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Thresholds {
    /// Upper limit of the mean gap, in nanoseconds.
    pub average_gap_ns: Option<u64>,
    /// Lower limit of the busy share of the window, from 0 to 1.
    pub utilization: Option<f64>,
    /// Lower limit of the GPU time as a share of the run time, from 0 to 1.
    pub launch_efficiency: Option<f64>,
}

impl Thresholds {
    /// Thresholds of a program that keeps the GPU fed, such as a training loop.
    pub const SATURATED: Self = Self {
        average_gap_ns: Some(1_000),
        utilization: Some(0.80),
        launch_efficiency: Some(0.70),
    };

    /// Returns whether no threshold is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Rejects shares outside 0 to 1.
    pub(crate) fn check(&self) -> Result<()> {
        let shares = [
            ("utilization", self.utilization),
            ("launch-efficiency", self.launch_efficiency),
        ];
        for (name, share) in shares {
            if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
                return Err(Error::Setting {
                    what: format!("threshold {name} is {share}"),
                    expected: "a share from 0 to 1".to_owned(),
                });
            }
        }
        Ok(())
    }
}
