//! Checks whether `--shader-timeline` took effect. A device may give no samples although the
//! recording's settings say that the Shader Timeline was on.

use std::path::Path;

use metalens_trace::{Input, LoadOptions, Selection};
use serde::Serialize;

use crate::record_request::RecordRequest;

/// Name of the table with the samples.
const TABLE: &str = "metal-shader-profiler-intervals";
/// Start of the setting in the run's settings.
const SETTING: &str = "Shader Timeline:";

/// Known causes of recordings without samples.
const CAUSES: &str = "Some M4 and M5 chips give none; some users got samples only with --counters. \
                      Kernels are named by their labels";

/// Effect that `--shader-timeline` had.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(rename = "Shaders"))]
pub struct ShaderOutcome {
    /// Number of shader samples in the recording. Null if the recording cannot tell.
    samples: Option<u64>,
    /// Value of the recording's own setting: `Enabled` or `Disabled`. Null if there is none.
    said: Option<String>,
}

/// Reads the effect from a recording, if the Shader Timeline was requested.
pub(crate) fn look(bundle: &Path, request: &RecordRequest) -> Option<ShaderOutcome> {
    let is_requested = request.shader_timeline && !request.is_simulated();
    is_requested.then(|| ShaderOutcome::read(bundle))
}

impl ShaderOutcome {
    /// Reads from a bundle whether it has samples of the shader profiler.
    fn read(bundle: &Path) -> Self {
        let none = Self {
            samples: None,
            said: None,
        };
        let selection = Selection::table(TABLE);
        let input = Input::open(bundle);
        let trace = input.and_then(|input| input.load(&selection, LoadOptions::default()));
        let Ok(trace) = trace else {
            return none;
        };

        let settings = trace
            .run
            .settings
            .iter()
            .flat_map(|setting| &setting.values);
        let mut said = settings.filter_map(|value| value.strip_prefix(SETTING));
        let said = said.next().map(|value| value.trim().to_owned());
        let table = trace.find_table(TABLE);
        Self {
            samples: table.and_then(|table| u64::try_from(table.rows()).ok()),
            said,
        }
    }

    /// Returns the heading of the message.
    #[must_use]
    pub fn heading(&self) -> &'static str {
        match self.samples {
            Some(1..) => "shaders",
            _ => "warning",
        }
    }

    /// Returns the message for the user.
    #[must_use]
    pub fn message(&self) -> String {
        let is_on = self.said.as_deref() == Some("Enabled");
        match self.samples {
            Some(count @ 1..) => format!("the Shader Timeline was recorded: {count} samples"),
            _ if self.said.as_deref() == Some("Disabled") => {
                "the Shader Timeline stayed off: this xctrace ignored the changed template. \
                         Kernels are named by their labels"
                    .to_owned()
            }
            Some(0) if is_on => format!("the Shader Timeline was on, but has no samples. {CAUSES}"),
            Some(0) => format!("the Shader Timeline has no samples. {CAUSES}"),
            None => "cannot tell whether the Shader Timeline was recorded: the recording has no \
                             table for it that metalens can read"
                .to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_scenario(change: impl Fn(&mut metalens_simulator::Scenario)) -> ShaderOutcome {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("export");
        let mut scenario = metalens_simulator::Scenario::preset("eager").unwrap();
        change(&mut scenario);
        metalens_simulator::write_export(&scenario, &export, false).unwrap();
        ShaderOutcome::read(&export)
    }

    #[test]
    fn recordings_tell_whether_there_are_samples() {
        let stock = of_scenario(|_| {});
        assert_eq!(stock.said.as_deref(), Some("Disabled"));
        assert_eq!(stock.heading(), "warning");

        let on = of_scenario(|scenario| {
            scenario.recording.shader_timeline = true;
            for process in &mut scenario.process {
                process.shaders = vec!["sin_kernel".to_owned()];
            }
        });
        assert_eq!(on.said.as_deref(), Some("Enabled"));
        assert!(on.samples.is_some_and(|count| count > 0), "{on:?}");
        assert_eq!(on.heading(), "shaders");

        let absent = ShaderOutcome::read(Path::new("/no/such.trace"));
        assert_eq!((absent.samples, absent.said.clone()), (None, None));
        assert!(absent.message().contains("cannot tell"));
    }

    #[test]
    fn messages_name_the_cause() {
        let check = |samples: Option<u64>, said: Option<&str>, expected: &str| {
            let shaders = ShaderOutcome {
                samples,
                said: said.map(str::to_owned),
            };
            assert!(shaders.message().contains(expected), "{shaders:?}");
        };
        check(Some(3), Some("Enabled"), "recorded: 3 samples");
        check(Some(0), Some("Enabled"), "was on, but has no samples");
        check(Some(0), Some("Disabled"), "stayed off");
        check(None, Some("Disabled"), "stayed off");
        check(Some(0), None, "the Shader Timeline has no samples");
        check(None, Some("Enabled"), "cannot tell");
    }
}
