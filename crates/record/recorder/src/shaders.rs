//! Checks whether `--shader-timeline` took effect. A device may give no samples although the
//! recording's settings say that the Shader Timeline was on.

use schemars::JsonSchema;
use serde::Serialize;

use crate::record_request::RecordRequest;
use crate::recorded_bundle::RecordedBundle;

/// Known causes of recordings without samples.
const CAUSES: &str = "Some M4 and M5 chips give none; some users got samples only with --counters. \
                      Kernels are named by their labels";

/// Effect that `--shader-timeline` had.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Shaders")]
pub struct ShaderOutcome {
    /// Number of shader samples in the recording. Null if the recording cannot tell.
    samples: Option<u64>,
    /// Value of the recording's own setting: `Enabled` or `Disabled`. Null if there is none.
    said: Option<String>,
}

/// Returns the effect in a recording, if the Shader Timeline was requested.
pub(crate) fn look(recorded: &RecordedBundle, request: &RecordRequest) -> Option<ShaderOutcome> {
    let is_requested = request.shader_timeline && !request.is_simulated();
    is_requested.then(|| ShaderOutcome {
        samples: recorded.shader_samples,
        said: recorded.shader_timeline.clone(),
    })
}

impl ShaderOutcome {
    /// Returns the heading of the message.
    pub fn heading(&self) -> &'static str {
        match self.samples {
            Some(1..) => "shaders",
            _ => "warning",
        }
    }

    /// Returns the message for the user.
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
