//! Settings of an analysis: thresholds, and findings to leave out.

use metalens_failure::did_you_mean;
use serde::Deserialize;

use crate::basics::written::{Written, nanoseconds, share};
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

/// Thresholds of a settings file, by id.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    rename_all = "kebab-case",
    expecting = "a table of thresholds"
)]
pub struct WrittenThresholds {
    preset: Option<String>,
    average_gap: Option<Written>,
    utilization: Option<Written>,
    launch_efficiency: Option<Written>,
}

impl Thresholds {
    /// Thresholds of a program that keeps the GPU fed, such as a training loop.
    pub const SATURATED: Self = Self {
        average_gap_ns: Some(1_000),
        utilization: Some(0.80),
        launch_efficiency: Some(0.70),
    };

    /// Returns the number of thresholds that are set.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::from(self.average_gap_ns.is_some())
            + u64::from(self.utilization.is_some())
            + u64::from(self.launch_efficiency.is_some())
    }

    /// Returns whether no threshold is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Sets the threshold that a text such as `average-gap=5us` has, or those of a preset.
    ///
    /// # Errors
    ///
    /// If it is neither; in words.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        match text.split_once('=') {
            Some((id, value)) => self.set_one(id, value),
            None => self.set_preset(text),
        }
    }

    /// Sets the thresholds of a settings file.
    ///
    /// # Errors
    ///
    /// Returns the key of the first invalid one, and why it is, in words.
    pub fn set_all(&mut self, written: WrittenThresholds) -> Result<(), String> {
        if let Some(preset) = &written.preset {
            let set = self.set_preset(preset);
            set.map_err(|why| format!("thresholds.preset: {why}"))?;
        }

        let values = [
            ("average-gap", written.average_gap),
            ("utilization", written.utilization),
            ("launch-efficiency", written.launch_efficiency),
        ];
        for (id, value) in values {
            if let Some(value) = value {
                let set = self.set_one(id, &value.text());
                set.map_err(|why| format!("thresholds.{id}: {why}"))?;
            }
        }
        Ok(())
    }

    fn set_preset(&mut self, name: &str) -> Result<(), String> {
        if name != "saturated" {
            let meant = did_you_mean(name, ["saturated"]);
            return Err(format!(
                "unknown preset; {meant}use saturated, or ID=VALUE such as average-gap=5us"
            ));
        }
        *self = Self::SATURATED;
        Ok(())
    }

    fn set_one(&mut self, id: &str, value: &str) -> Result<(), String> {
        match id {
            "average-gap" => self.average_gap_ns = Some(nanoseconds(value)?),
            "utilization" => self.utilization = Some(share(value)?),
            "launch-efficiency" => self.launch_efficiency = Some(share(value)?),
            _ => {
                let meant = did_you_mean(id, ["average-gap", "utilization", "launch-efficiency"]);
                return Err(format!(
                    "unknown threshold {id}; {meant}use average-gap, utilization or \
                     launch-efficiency"
                ));
            }
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_have_an_id_and_a_value_or_are_a_preset() {
        let check = |texts: &[&str], expected: Result<[Option<f64>; 3], &str>| {
            let mut set = Thresholds::default();
            let done = texts.iter().try_for_each(|text| set.set(text));
            let gap = set.average_gap_ns.map(|ns| ns as f64);
            let found = done.map(|()| [gap, set.utilization, set.launch_efficiency]);
            assert_eq!(found, expected.map_err(str::to_owned), "{texts:?}");
        };
        check(&[], Ok([None; 3]));
        check(
            &["average-gap=5us", "utilization=80 %"],
            Ok([Some(5_000.0), Some(0.8), None]),
        );
        // A later one counts.
        check(
            &["utilization=0.5", "saturated", "launch-efficiency=0.25"],
            Ok([Some(1_000.0), Some(0.8), Some(0.25)]),
        );
        check(
            &["utilization=80"],
            Err("`80` is not a share from 0 to 1: write 80% or 0.8"),
        );
        check(
            &["average-gap=5"],
            Err("a time needs a unit: 1.5s, 200ms, 12us or 500ns"),
        );
        check(
            &["utilisation=80%"],
            Err(
                "unknown threshold utilisation; did you mean `utilization`? use average-gap, utilization or \
                 launch-efficiency",
            ),
        );
        check(
            &["satured"],
            Err(
                "unknown preset; did you mean `saturated`? use saturated, or ID=VALUE such as average-gap=5us",
            ),
        );
    }
}
