//! Opens pages in the browser.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use metalens_text::shown;

use crate::out;

/// Time in which a program that cannot open a page says so. A browser may go on running.
const PATIENCE: Duration = Duration::from_secs(3);
const POLL: Duration = Duration::from_millis(10);

/// Opens a page with `$BROWSER`, or with the program of the system for that. Returns whether one did;
/// says where the page is.
pub(crate) fn open(page: &Path, quiet: bool) -> anyhow::Result<bool> {
    let page =
        std::path::absolute(page).with_context(|| format!("cannot find {}", page.display()))?;
    let path = page.display().to_string();
    match openers().into_iter().find(|words| opens(words, &page)) {
        Some(words) => {
            if !quiet {
                let program = words
                    .first()
                    .map(|word| word.to_string_lossy().into_owned())
                    .unwrap_or_default();
                out::note(&format!("opened {} with {}", shown(&path), shown(&program)));
            }
            Ok(true)
        }
        None => {
            out::note(&format!(
                "no browser was found: open {} yourself, or set BROWSER",
                shown(&path)
            ));
            Ok(false)
        }
    }
}

/// Returns the programs that may open a page, with their arguments. `$BROWSER` may list several,
/// separated by colons.
fn openers() -> Vec<Vec<OsString>> {
    let listed = std::env::var("BROWSER").unwrap_or_default();
    let browsers = listed.split(':').map(|browser| {
        let words = browser.split_whitespace().filter(|word| *word != "%s");
        words.map(OsString::from).collect::<Vec<_>>()
    });
    let system = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let commands = browsers.chain([vec![system.into()]]);
    commands.filter(|words| !words.is_empty()).collect()
}

/// Starts a program with a page. Returns whether it started and did not fail at once.
fn opens(words: &[OsString], page: &Path) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let child = Command::new(program)
        .args(arguments)
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    child.is_ok_and(has_not_failed)
}

fn has_not_failed(mut child: Child) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => thread::sleep(POLL),
            Err(_) => return false,
        }
    }
    true
}
