//! Reads the lists of `xctrace list`. Old versions print them on standard error. The list of
//! templates is sometimes empty although templates exist, so an empty list is requested again.

use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::tool::Tool;

/// The templates that `xctrace` lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Templates {
    /// Templates that Apple ships.
    pub standard: Vec<String>,
    /// Templates of the user.
    pub custom: Vec<String>,
}

/// Number of attempts to get a list that is not empty, and the pause between them.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(300);

/// Returns the templates that `xctrace` lists.
///
/// # Errors
///
/// Fails if the list is empty in all attempts.
pub fn templates(tool: &Tool) -> Result<Templates> {
    let sections = list(tool, "templates")?;
    Ok(Templates {
        standard: section(&sections, "Standard Templates"),
        custom: section(&sections, "Custom Templates"),
    })
}

/// A heading and the lines under it.
type Section = (String, Vec<String>);

/// Runs `xctrace list` until it prints a list that is not empty; at first it may print nothing.
fn list(tool: &Tool, what: &str) -> Result<Vec<Section>> {
    let mut output = String::new();
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        let answer = tool.run(&["list".into(), what.into()])?;
        // Each stream is parsed by itself: their order is unknown.
        let mut sections = sections(&answer.out());
        sections.extend(self::sections(&answer.err()));
        if sections.iter().any(|(_, lines)| !lines.is_empty()) {
            return Ok(sections);
        }
        output = answer.summary();
    }

    let command = format!("list {what}");
    Err(Error::Unexpected { command, output })
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let heading = line
            .strip_prefix("== ")
            .and_then(|line| line.strip_suffix(" =="));
        match (heading, sections.last_mut()) {
            (Some(heading), _) => sections.push((heading.to_owned(), Vec::new())),
            (None, Some((_, lines))) => lines.push(line.to_owned()),
            // Lines before the first heading are warnings of the system.
            (None, None) => {}
        }
    }
    sections
}

fn section(sections: &[Section], heading: &str) -> Vec<String> {
    let named = sections.iter().filter(|(name, _)| name == heading);
    named.flat_map(|(_, lines)| lines.clone()).collect()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// Returns an `xctrace` made of a shell script.
    fn tool(script: &str) -> Tool {
        Tool {
            before: vec!["-c".into(), script.into(), "sh".into()],
            ..Tool::at("/bin/sh".into())
        }
    }

    #[test]
    fn lists_on_either_stream() {
        let text = "== Standard Templates ==\nMetal System Trace\nTime Profiler\n\n== Custom Templates ==\nMine";
        for redirect in ["", " >&2"] {
            let found = templates(&tool(&format!("echo noise; echo '{text}'{redirect}"))).unwrap();
            assert_eq!(found.standard, ["Metal System Trace", "Time Profiler"]);
            assert_eq!(found.custom, ["Mine"]);
        }
    }

    #[test]
    fn an_empty_list_is_requested_again() {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let script = format!(
            "echo x >> {count}; [ $(wc -l < {count}) -ge 3 ] && echo '== Custom Templates ==' && echo 'Mine'; true",
            count = count.display()
        );
        assert_eq!(templates(&tool(&script)).unwrap().custom, ["Mine"]);
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 3);
        let error = templates(&tool("echo broken >&2; exit 1"))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "unexpected output of `xctrace list templates`: broken"
        );
    }
}
