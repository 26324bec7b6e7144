//! Reads the table of contents: the process, the device, the settings and the end of each run.

use std::collections::BTreeSet;
use std::io::Read;
use std::str::FromStr;

use crate::error::{Error, Problem, Result};
use crate::run_issue::RunIssue;
use crate::xml::{Element, read_tree};

/// The table of contents of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toc {
    /// All runs, in the order of the document.
    pub runs: Vec<Run>,
}

/// One run of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// Number of the run, from 1.
    pub number: u64,
    /// True if a simulator wrote the recording.
    pub synthetic: bool,
    /// The processes that the run is about.
    pub target: Target,
    /// The recorded machine.
    pub device: Option<Device>,
    /// Start of the recording: ISO 8601 with the offset of the time zone.
    pub start_date: Option<String>,
    /// Wall time of the recording, in nanoseconds.
    pub duration_ns: Option<u64>,
    /// Reason of the end, such as `Target app exited` or `Time limit reached`.
    pub end_reason: Option<String>,
    /// Version of Instruments, such as `26.0 (17A5295f)`. The build in parentheses identifies
    /// Xcode, the number does not.
    pub instruments_version: Option<String>,
    /// Name of the template, such as `Metal System Trace`.
    pub template: Option<String>,
    /// Recording mode, such as `Deferred` or `Windowed (5 seconds)`.
    pub recording_mode: Option<String>,
    /// Settings of the instruments.
    pub settings: Vec<Setting>,
    /// Processes that ran during the recording.
    pub processes: Vec<ListedProcess>,
    /// Tables of the recording, exported or not.
    pub tables: Vec<ListedTable>,
    /// Errors and warnings that Instruments wrote into the recording. Exports have none.
    pub issues: Vec<RunIssue>,
}

impl Run {
    /// Returns a run of which only the number is known.
    #[must_use]
    pub fn unknown(number: u64) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }
}

/// The processes that a recording is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Target {
    /// A process that the recorder started.
    Launched(TargetProcess),
    /// A process that ran before the recording.
    Attached(TargetProcess),
    /// A process; Xcode 14 and earlier do not say whether it was launched or attached.
    Recorded(TargetProcess),
    /// All processes of the machine.
    AllProcesses,
    /// Unknown, because the table of contents is missing or does not say it.
    #[default]
    Unknown,
}

impl Target {
    /// Returns the process, if it is a single one.
    pub fn process(&self) -> Option<&TargetProcess> {
        match self {
            Self::Launched(process) | Self::Attached(process) | Self::Recorded(process) => {
                Some(process)
            }
            Self::AllProcesses | Self::Unknown => None,
        }
    }
}

/// The process that a recording is about, and how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetProcess {
    /// Name of the process. The system cuts it at 31 or 32 characters.
    pub name: String,
    /// Process id of the process.
    pub pid: Option<u32>,
    /// Command line after the program.
    pub arguments: Option<String>,
    /// Exit status. Meaningless for an attached process that goes on.
    pub exit_status: Option<i64>,
    /// Reason of the end, such as `exit(0)` or `SIGKILL`. Meaningless for an attached process that
    /// goes on.
    pub termination: Option<String>,
}

/// A recorded machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Device {
    /// Model of the machine, such as `MacBook Air` or `Mac16,1`.
    pub model: Option<String>,
    /// Version of the operating system, such as `26.3.1 (25D2128)`.
    pub os_version: Option<String>,
    /// Name of the platform, such as `macOS`.
    pub platform: Option<String>,
}

/// A setting of a recording: `Metal Application`, `GPU`, [`Shader Timeline: Disabled`, …].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// Name of the instrument.
    pub instrument: String,
    /// Name of the setting.
    pub key: String,
    /// Values of the setting.
    pub values: Vec<String>,
}

/// A process in the list of running processes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedProcess {
    /// Name of the process.
    pub name: String,
    /// Process id of the process.
    pub pid: Option<u32>,
    /// Path of its program, possibly cut.
    pub path: Option<String>,
}

/// A table in the table of contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedTable {
    /// Schema of the table. Several tables may have the same one (`kdebug` often has two dozen).
    pub schema: String,
    /// Position of the table, from 1: the `N` of `table[N]`.
    pub position: u64,
    /// Other attributes, such as `target-pid` and `codes`.
    pub attributes: Vec<(String, String)>,
}

/// Maximum size, in bytes. The largest real table of contents has 21 KB.
const MAX_SIZE: u64 = 16 << 20;

/// Reads a table of contents.
pub(crate) fn read<R: Read>(input: R, file: &str) -> Result<Toc> {
    let input = metalens_files::limited(input, MAX_SIZE);
    let root = read_tree(input, file, "trace-toc")?;
    let synthetic = root.attribute("synthetic").is_some();
    let broken = |detail: String| Error::in_file(Problem::BrokenToc { detail }, file);
    let runs = root.children_named("run").zip(1..);
    let runs: Result<Vec<Run>, String> = runs
        .map(|(run, position)| parse_run(run, position, synthetic))
        .collect();
    let runs = runs.map_err(broken)?;
    if runs.is_empty() {
        return Err(broken("it lists no runs".to_owned()));
    }
    let mut numbers = BTreeSet::new();
    if let Some(twin) = runs.iter().find(|run| !numbers.insert(run.number)) {
        return Err(broken(format!("two runs have the number {}", twin.number)));
    }
    Ok(Toc { runs })
}

/// Parses a `<run>`. A run without a number has that of its position.
fn parse_run(run: &Element, position: u64, synthetic: bool) -> Result<Run, String> {
    let nothing = Element::default();
    let info = run.child("info").unwrap_or(&nothing);
    let target = info.child("target").unwrap_or(&nothing);
    let summary = info.child("summary").unwrap_or(&nothing);
    let duration = summary.child_text("duration");
    Ok(Run {
        number: number(run, "number")?.unwrap_or(position),
        synthetic,
        target: parse_target(target)?,
        device: target.child("device").map(parse_device),
        start_date: summary.child_text("start-date"),
        duration_ns: duration.and_then(|seconds| nanoseconds(&seconds)),
        end_reason: summary.child_text("end-reason"),
        instruments_version: summary.child_text("instruments-version"),
        template: summary.child_text("template-name"),
        recording_mode: summary.child_text("recording-mode"),
        settings: parse_settings(summary),
        processes: run
            .child("processes")
            .map(parse_processes)
            .unwrap_or_default(),
        tables: run.child("data").map(parse_tables).unwrap_or_default(),
        issues: Vec::new(),
    })
}

/// Parses the number in an attribute, if it exists. An invalid number is an error: it is a sign of
/// damage, and the analyzed process depends on it.
fn number<T: FromStr>(element: &Element, attribute: &str) -> Result<Option<T>, String> {
    let text = element.attribute(attribute);
    let number = text.map(|text| {
        let parsed = text.parse();
        parsed.map_err(|_| format!("the {attribute} of a {} is {text:?}", element.name))
    });
    number.transpose()
}

/// Parses a `<target>`: one process, all processes, or neither.
fn parse_target(target: &Element) -> Result<Target, String> {
    let Some(process) = target.child("process") else {
        return Ok(match target.child("all-processes") {
            Some(_) => Target::AllProcesses,
            None => Target::Unknown,
        });
    };

    let attribute = |name| process.attribute(name).map(str::to_owned);
    let found = TargetProcess {
        name: attribute("name").unwrap_or_default(),
        pid: number(process, "pid")?,
        arguments: attribute("arguments"),
        exit_status: process
            .attribute("return-exit-status")
            .and_then(|s| s.parse().ok()),
        termination: attribute("termination-reason"),
    };

    Ok(match process.attribute("type") {
        Some("launched") => Target::Launched(found),
        Some("attached") => Target::Attached(found),
        _ => Target::Recorded(found),
    })
}

fn parse_device(device: &Element) -> Device {
    let attribute = |name| device.attribute(name).map(str::to_owned);
    Device {
        model: attribute("model"),
        os_version: attribute("os-version"),
        platform: attribute("platform"),
    }
}

/// Parses the recording settings. Apple spells the element `intruments-recording-settings`; the
/// correct spelling is accepted too.
fn parse_settings(summary: &Element) -> Vec<Setting> {
    let block = summary
        .child("intruments-recording-settings")
        .or(summary.child("instruments-recording-settings"));
    let mut settings = Vec::new();
    for instrument in block
        .into_iter()
        .flat_map(|b| b.children_named("instrument"))
    {
        let name = instrument.attribute("name").unwrap_or_default();
        collect_keys(instrument, name, &mut settings);
    }
    settings
}

/// Collects the keys of an instrument, which are nested in dictionaries and arrays at any depth.
fn collect_keys(element: &Element, instrument: &str, settings: &mut Vec<Setting>) {
    for child in &element.children {
        if child.name == "key" {
            let mut values: Vec<String> = child
                .children_named("value")
                .map(|v| v.text.clone())
                .collect();
            if !child.text.is_empty() {
                values.insert(0, child.text.clone());
            }
            settings.push(Setting {
                instrument: instrument.to_owned(),
                key: child.attribute("name").unwrap_or_default().to_owned(),
                values,
            });
        }
        collect_keys(child, instrument, settings);
    }
}

fn parse_processes(processes: &Element) -> Vec<ListedProcess> {
    let listed = processes
        .children_named("process")
        .map(|process| ListedProcess {
            name: process.attribute("name").unwrap_or_default().to_owned(),
            pid: process.attribute("pid").and_then(|pid| pid.parse().ok()),
            path: process.attribute("path").map(str::to_owned),
        });
    listed.collect()
}

fn parse_tables(data: &Element) -> Vec<ListedTable> {
    let tables = data
        .children_named("table")
        .zip(1..)
        .map(|(table, position)| {
            let others = table.attributes.iter().filter(|(name, _)| name != "schema");
            ListedTable {
                schema: table.attribute("schema").unwrap_or_default().to_owned(),
                position,
                attributes: others.cloned().collect(),
            }
        });
    tables.collect()
}

/// Parses `2.123889` seconds into 2,123,889,000 ns, without floating point.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 9 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<9}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1_000_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        let cases = [
            ("2.123889", Some(2_123_889_000)),
            ("0.1", Some(100_000_000)),
            ("12", Some(12_000_000_000)),
            ("1.0000000001", None),
            ("1,5", None),
            ("-1.0", None),
            ("", None),
            ("99999999999999", None),
        ];
        for (text, expected) in cases {
            assert_eq!(nanoseconds(text), expected, "{text}");
        }
    }

    fn check(target: &str, expected: &Target) {
        let toc = format!(
            r#"<trace-toc><run number="3"><info><target>{target}</target></info></run></trace-toc>"#
        );
        let toc = read(toc.as_bytes(), "toc.xml").unwrap();
        assert_eq!(toc.runs[0].number, 3);
        assert_eq!(&toc.runs[0].target, expected, "{target}");
    }

    #[test]
    fn targets_are_parsed() {
        let bench = TargetProcess {
            name: "bench".to_owned(),
            pid: Some(7),
            ..TargetProcess::default()
        };

        check(
            r#"<process type="launched" name="bench" pid="7"/>"#,
            &Target::Launched(bench.clone()),
        );
        check(
            r#"<process type="attached" name="bench" pid="7"/>"#,
            &Target::Attached(bench.clone()),
        );
        check(
            r#"<process name="bench" pid="7"/>"#,
            &Target::Recorded(bench.clone()),
        );
        check("<all-processes/>", &Target::AllProcesses);
        check("", &Target::Unknown);
        let killed = TargetProcess {
            exit_status: Some(9),
            termination: Some("SIGKILL".to_owned()),
            ..bench
        };
        check(
            r#"<process type="launched" name="bench" pid="7" return-exit-status="9" termination-reason="SIGKILL"/>"#,
            &Target::Launched(killed),
        );
    }

    #[test]
    fn missing_runs_and_invalid_numbers_are_errors() {
        for runs in [
            r#"<run number="1"/><run number="1"/>"#,
            r#"<run number="1"/><run number="x"/>"#,
            r#"<run><info><target><process name="a" pid="1x"/></target></info></run>"#,
            "",
        ] {
            let toc = format!("<trace-toc>{runs}</trace-toc>");
            let error = read(toc.as_bytes(), "toc.xml").unwrap_err();
            assert!(
                matches!(error.problem(), Problem::BrokenToc { .. }),
                "{runs}"
            );
        }
    }
}
