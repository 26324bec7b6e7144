//! Runs `metalens completions`: prints the completions for a shell, which packages install.

use std::io::Write;

use crate::args::{CompletionsArguments, every_command};
use crate::out;

pub(crate) fn run(arguments: &CompletionsArguments) -> anyhow::Result<()> {
    // Generated into memory, because the generator panics if it cannot write.
    let mut script = Vec::new();
    let mut command = every_command();
    clap_complete::generate(arguments.shell, &mut command, "metalens", &mut script);
    Ok(out::untouched().write_all(&script)?)
}
