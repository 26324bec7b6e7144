//! Asks `xctrace` for its version and templates.

use metalens_xctrace::{Error, Templates, Tool, Version, templates};

/// The version and the templates of `xctrace`, or why they are unknown.
#[derive(Debug)]
pub(crate) struct XctraceStatus {
    pub(crate) version: Result<Version, String>,
    pub(crate) templates: Result<Templates, String>,
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

        match tool.version() {
            Err(error) => Self::unusable(&error.to_string()),
            Ok(version) => Self {
                version: Ok(version),
                templates: templates(&tool).map_err(|error| error.to_string()),
            },
        }
    }

    fn unusable(why: &str) -> Self {
        Self {
            version: Err(why.to_owned()),
            templates: Err("xctrace does not start".to_owned()),
        }
    }
}
