//! The answers of `xctrace` about itself, as far as it answers in time.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use metalens_xctrace::{Error, Templates, Tool, Version, templates};

/// How long `xctrace` gets to answer: its list of templates is asked for several
/// times, and the first answer after an update takes long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What `xctrace` says of itself.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) version: Result<Version, String>,
    pub(crate) templates: Result<Templates, String>,
}

impl Recorder {
    pub(crate) fn of(tool: Result<Tool, Error>) -> Self {
        let tool = match tool {
            Ok(tool) => tool,
            Err(Error::NoXcode { said }) => {
                return Self::without(&format!("it was not found: {said}"));
            }
            Err(error) => return Self::without(&error.to_string()),
        };
        let asked = tool.clone();
        match within(PATIENCE, move || asked.version()) {
            Err(why) => Self::without(&why),
            Ok(version) => Self {
                version: Ok(version),
                templates: within(PATIENCE, move || templates(&tool)),
            },
        }
    }

    fn without(why: &str) -> Self {
        Self {
            version: Err(why.to_owned()),
            templates: Err("xctrace does not start".to_owned()),
        }
    }
}

/// What takes longer is left to itself.
fn within<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // Nobody may listen any more.
        let _ = sender.send(work().map_err(|error| error.to_string()));
    });
    receiver.recv_timeout(patience).unwrap_or_else(|_| {
        Err(format!(
            "xctrace did not answer within {} s",
            patience.as_secs()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_answer_is_left() {
        let slow = within(Duration::from_millis(20), || {
            thread::sleep(Duration::from_secs(5));
            Ok(())
        });
        assert_eq!(slow, Err("xctrace did not answer within 0 s".to_owned()));
        assert_eq!(within(Duration::from_secs(5), || Ok(1)), Ok(1));
    }
}
