//! Tests `metalens completions`.

use std::fs;
use std::process::Command;

use crate::{metalens, stderr, stdout};

/// Bash completes `metalens sch` to `metalens schema`.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn shells_accept_the_completions() {
    let folder = metalens_testing::scratch();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = metalens(folder.path(), &["completions", shell]);
        assert!(script.status.success(), "{}", stderr(&script));
        assert!(stdout(&script).contains("record-and-analyze"), "{shell}");
        fs::write(folder.path().join(shell), &script.stdout).unwrap();
    }
    let completed = Command::new("bash")
        .current_dir(folder.path())
        .args(["--norc", "-c"])
        .arg(
            "source ./bash && COMP_WORDS=(metalens sch) COMP_CWORD=1 && \
             _metalens metalens sch metalens && echo \"${COMPREPLY[@]}\"",
        )
        .output();
    match completed {
        Ok(completed) => assert_eq!(stdout(&completed), "schema\n", "{}", stderr(&completed)),
        Err(error) => eprintln!("skipped: no bash: {error}"),
    }
}
