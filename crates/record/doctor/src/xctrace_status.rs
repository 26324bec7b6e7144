//! Asks `xctrace` for its version and templates.

use metalens_xctrace::{Error, Feature, Templates, Tool, Version, templates};

/// The version and the templates of `xctrace`, or why they are unknown.
#[derive(Debug)]
pub(crate) struct XctraceStatus {
    pub(crate) version: Result<Version, String>,
    pub(crate) templates: Result<Templates, String>,
    /// Whether it lists a recording option for the Shader Timeline; `None` for versions that list no
    /// options.
    pub(crate) has_shader_option: Option<Result<bool, String>>,
}

impl XctraceStatus {
    /// Asks `xctrace` for its version and templates.
    pub(crate) fn query(tool: Result<Tool, Error>) -> Self {
        let tool = match tool {
            Ok(tool) => tool,
            Err(Error::NoXcode { output }) => {
                return Self::unusable(&format!("xctrace was not found: {output}"));
            }
            Err(error) => return Self::unusable(&error.to_string()),
        };

        let said = |error: Error| error.to_string();
        match tool.version() {
            Err(error) => Self::unusable(&error.to_string()),
            Ok(version) => Self {
                has_shader_option: version
                    .has(Feature::RecordingOptions)
                    .then(|| lists_shader_option(&tool).map_err(said)),
                version: Ok(version),
                templates: templates(&tool).map_err(said),
            },
        }
    }

    fn unusable(why: &str) -> Self {
        Self {
            version: Err(why.to_owned()),
            templates: Err("xctrace does not start".to_owned()),
            has_shader_option: None,
        }
    }
}

/// Returns whether `xctrace` lists a recording option of the template whose name has the word "shader".
fn lists_shader_option(tool: &Tool) -> Result<bool, Error> {
    let words = ["record", "--template", TEMPLATE, "--show-recording-options"];
    let answer = tool.run(&words.map(Into::into))?;
    let text = answer.all();
    // It prints JSON: instruments with their options.
    if answer.code == Some(0) && text.contains('{') {
        Ok(text.to_lowercase().contains("shader"))
    } else {
        Err(Error::Unexpected {
            command: words.join(" "),
            output: answer.summary(),
        })
    }
}

/// Template whose options are listed.
const TEMPLATE: &str = "Metal System Trace";
