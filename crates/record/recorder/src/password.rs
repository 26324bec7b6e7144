//! Foresees that macOS asks for a password: with developer mode off, which is Apple's default, it asks
//! an administrator before a process is traced. It asks in a window, or in a terminal that the recorder
//! has no part of.

use std::time::Duration;

use metalens_doctor::{CommandRunner, developer_mode};

/// Time to answer a question in a window.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// Returns the warning for the user if macOS will ask for a password. Root is not asked.
pub(crate) fn warning(runner: &dyn CommandRunner, is_root: bool) -> Option<String> {
    let is_off = developer_mode(runner).value == Some(false);
    (is_off && !is_root).then(|| {
        "developer mode is off, so macOS asks for an administrator's password before it lets xctrace \
         record, in a window that may be behind others, or not at all over ssh. To be asked no more, \
         once: sudo DevToolsSecurity -enable"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use metalens_doctor::CommandOutput;

    use super::*;

    struct Status(&'static str);

    impl CommandRunner for Status {
        fn run(&self, program: &str, _: &[&str]) -> CommandOutput {
            if program.ends_with("DevToolsSecurity") {
                CommandOutput::Exited {
                    code: Some(0),
                    out: format!("Developer mode is currently {}.\n", self.0),
                    err: String::new(),
                }
            } else {
                CommandOutput::Failed("missing".to_owned())
            }
        }
    }

    #[test]
    fn only_a_mac_that_will_ask_is_warned_of() {
        let warns = |status, is_root| warning(&Status(status), is_root).is_some();
        assert!(warns("disabled", false));
        assert!(!warns("disabled", true));
        assert!(!warns("enabled", false));
        assert!(!warns("unheard of", false));
    }
}
