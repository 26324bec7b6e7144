//! Asks `xctrace` for its version and templates, with a time limit.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use metalens_xctrace::{Error, Feature, Templates, Tool, Version, templates};

/// Time limit of each question. The list of templates needs several attempts, and the first
/// answer after an update of Xcode is slow.
const TIME_LIMIT: Duration = Duration::from_secs(60);

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
    /// Asks `xctrace` for its version and templates, with a time limit.
    pub(crate) fn query(tool: Result<Tool, Error>) -> Self {
        let tool = match tool {
            Ok(tool) => tool,
            Err(Error::NoXcode { output }) => {
                return Self::unusable(&format!("xctrace was not found: {output}"));
            }
            Err(error) => return Self::unusable(&error.to_string()),
        };

        let versioned = tool.clone();
        match within(TIME_LIMIT, move || versioned.version()) {
            Err(why) => Self::unusable(&why),
            Ok(version) => {
                let has_options = version.has(Feature::RecordingOptions);
                let asked = tool.clone();
                Self {
                    has_shader_option: has_options
                        .then(|| within(TIME_LIMIT, move || lists_shader_option(&asked))),
                    version: Ok(version),
                    templates: within(TIME_LIMIT, move || templates(&tool)),
                }
            }
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

/// Runs a function in a thread, and returns an error if it takes longer than the limit. The
/// thread then goes on by itself.
fn within<T: Send + 'static>(
    limit: Duration,
    function: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // After the time limit the receiver is gone.
        let _ = sender.send(function().map_err(|error| error.to_string()));
    });
    receiver.recv_timeout(limit).unwrap_or_else(|_| {
        Err(format!(
            "xctrace did not answer within {} s",
            limit.as_secs()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_answer_is_an_error() {
        let slow = within(Duration::from_millis(20), || {
            thread::sleep(Duration::from_secs(5));
            Ok(())
        });
        assert_eq!(slow, Err("xctrace did not answer within 0 s".to_owned()));
        assert_eq!(within(Duration::from_secs(5), || Ok(1)), Ok(1));
    }
}
