//! What `xctrace list` lists. Old versions print it on stderr, and sometimes
//! the list of templates is empty although there are some: then it is asked again.

use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::tool::Tool;

/// The templates that there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Templates {
    /// Apple's.
    pub standard: Vec<String>,
    /// The user's.
    pub custom: Vec<String>,
}

/// The devices that there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Devices {
    /// This Mac and what is connected.
    pub devices: Vec<String>,
    /// Simulators.
    pub simulators: Vec<String>,
}

/// How often an empty list is asked for again, and after how long.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(300);

/// Lists the templates.
///
/// # Errors
///
/// If there are none after several tries.
pub fn templates(tool: &Tool) -> Result<Templates> {
    let sections = list(tool, "templates")?;
    Ok(Templates {
        standard: section(&sections, "Standard Templates"),
        custom: section(&sections, "Custom Templates"),
    })
}

/// Lists the devices.
///
/// # Errors
///
/// If there are none after several tries.
pub fn devices(tool: &Tool) -> Result<Devices> {
    let sections = list(tool, "devices")?;
    Ok(Devices {
        devices: section(&sections, "Devices"),
        simulators: section(&sections, "Simulators"),
    })
}

/// Lists the instruments.
///
/// # Errors
///
/// If there are none after several tries.
pub fn instruments(tool: &Tool) -> Result<Vec<String>> {
    let sections = list(tool, "instruments")?;
    Ok(sections.into_iter().flat_map(|(_, lines)| lines).collect())
}

/// A heading and the lines under it.
type Section = (String, Vec<String>);

fn list(tool: &Tool, what: &str) -> Result<Vec<Section>> {
    let mut said = String::new();
    for attempt in 0..TRIES {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        let answer = tool.ask(&["list".into(), what.into()])?;
        // Each stream by itself: between them there is no order.
        let mut sections = sections(&answer.out());
        sections.extend(self::sections(&answer.err()));
        if sections.iter().any(|(_, lines)| !lines.is_empty()) {
            return Ok(sections);
        }
        said = answer.said();
    }
    let asked = format!("list {what}");
    Err(Error::Unexpected { asked, said })
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
            // Before the first heading stand warnings of the system's.
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

    /// An `xctrace` that is a line of shell.
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
    fn an_empty_list_is_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let script = format!(
            "echo x >> {count}; [ $(wc -l < {count}) -ge 3 ] && echo '== Devices ==' && echo 'Mac (1)'; true",
            count = count.display()
        );
        assert_eq!(devices(&tool(&script)).unwrap().devices, ["Mac (1)"]);
        assert_eq!(std::fs::read_to_string(&count).unwrap().lines().count(), 3);
        let error = templates(&tool("echo broken >&2; exit 1"))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "xctrace did not answer `list templates` as expected: broken"
        );
    }
}
