//! Whether `--shader-timeline` gave what it is for. A device may refuse, and say
//! all the same that the Shader Timeline was on.

use std::path::Path;

use metalens_trace::{Input, LoadOptions, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use crate::record_request::RecordRequest;

/// Where the samples are.
const TABLE: &str = "metal-shader-profiler-intervals";
/// What the run's settings call it.
const SETTING: &str = "Shader Timeline:";

/// What came of asking for the Shader Timeline.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Shaders")]
pub struct ShaderOutcome {
    /// How many samples of shaders the recording has. Null if that cannot be told.
    samples: Option<u64>,
    /// What the recording says of it itself: `Enabled`, `Disabled`. Null if it says nothing.
    said: Option<String>,
}

/// Looks into a recording, if it was asked for.
pub(crate) fn look(bundle: &Path, asked: &RecordRequest) -> Option<ShaderOutcome> {
    let is_wanted = asked.shader_timeline && !asked.is_simulated();
    is_wanted.then(|| ShaderOutcome::of(bundle))
}

impl ShaderOutcome {
    fn of(bundle: &Path) -> Self {
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
        let settings = trace.run.settings.iter().flat_map(|one| &one.values);
        let mut said = settings.filter_map(|value| value.strip_prefix(SETTING));
        let said = said.next().map(|value| value.trim().to_owned());
        let table = trace.find_table(TABLE);
        Self {
            samples: table.and_then(|table| u64::try_from(table.rows()).ok()),
            said,
        }
    }

    /// Returns a word that says how it went.
    #[must_use]
    pub fn heading(&self) -> &'static str {
        match self.samples {
            Some(1..) => "shaders",
            _ => "warning",
        }
    }

    /// Returns how it went.
    #[must_use]
    pub fn in_words(&self) -> String {
        let is_on = self.said.as_deref() == Some("Enabled");
        match self.samples {
            Some(count @ 1..) => format!("the Shader Timeline was recorded: {count} samples"),
            _ if self.said.as_deref() == Some("Disabled") => {
                "the Shader Timeline stayed off: this xctrace did not heed the changed template. \
                 Kernels are called by their labels"
                    .to_owned()
            }
            Some(0) if is_on => "the Shader Timeline was on, and the device refused: it gave no \
                                 samples (some M4 and M5 are known to). Kernels are called by their labels"
                .to_owned(),
            Some(0) => "the device refused the Shader Timeline: it gave no samples. Kernels are \
                        called by their labels"
                .to_owned(),
            None => "whether the Shader Timeline was recorded cannot be told: the recording has no \
                     table that metalens can read for it"
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
        ShaderOutcome::of(&export)
    }

    #[test]
    fn what_a_recording_has() {
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
        let absent = ShaderOutcome::of(Path::new("/no/such.trace"));
        assert_eq!((absent.samples, absent.said.clone()), (None, None));
        assert!(absent.in_words().contains("cannot be told"));
    }

    #[test]
    fn in_words() {
        let check = |samples: Option<u64>, said: Option<&str>, expected: &str| {
            let shaders = ShaderOutcome {
                samples,
                said: said.map(str::to_owned),
            };
            assert!(shaders.in_words().contains(expected), "{shaders:?}");
        };
        check(Some(3), Some("Enabled"), "recorded: 3 samples");
        check(Some(0), Some("Enabled"), "was on, and the device refused");
        check(Some(0), Some("Disabled"), "stayed off");
        check(None, Some("Disabled"), "stayed off");
        check(Some(0), None, "the device refused");
        check(None, Some("Enabled"), "cannot be told");
    }
}
