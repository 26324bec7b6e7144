//! Defines the arguments that choose the analyzed part of a recording, and a process.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Deserialize;

/// Part of the recording to analyze, and process to report on. Without it: the recorded process,
/// from its first to its last GPU work.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(inline)]
pub(super) struct Part {
    /// Name or pid of another process.
    process: Option<String>,
    /// Start, since the recording began, such as 1.5s or 200ms.
    from: Option<String>,
    /// End, in the same form.
    to: Option<String>,
    /// What a step is: the name of os_signpost intervals or of labeled work. decode:137 is one of them, 137 one
    /// of those that are found.
    step: Option<String>,
    /// Run of the recording [default: the last].
    run: Option<u32>,
}

impl Part {
    /// Adds the arguments as options of the command line.
    pub(super) fn add_to(self, arguments: &mut Vec<OsString>) {
        let texts = [
            ("--process", self.process),
            ("--from", self.from),
            ("--to", self.to),
            ("--step", self.step),
            ("--run", self.run.map(|number| number.to_string())),
        ];
        for (option, text) in texts {
            if let Some(text) = text {
                // With `=`, a text that begins with a hyphen is not an option.
                arguments.push(format!("{option}={text}").into());
            }
        }
    }
}
