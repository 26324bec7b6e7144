//! The table of contents: what was recorded, of whom, on what, and how it ended.

use std::collections::BTreeSet;
use std::io::Read;
use std::str::FromStr;

use crate::error::{Error, Problem, Result};
use crate::xml::{Element, read_tree};

/// The table of contents of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toc {
    /// The runs, in the document's order.
    pub runs: Vec<Run>,
}

/// One recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// Its number, from 1.
    pub number: u64,
    /// Written by a simulator, and says so.
    pub synthetic: bool,
    /// Whom it is about.
    pub target: Target,
    /// The machine that was recorded.
    pub device: Option<Device>,
    /// The machine that recorded it, if another.
    pub host_device: Option<Device>,
    /// ISO 8601, with the zone's offset.
    pub start_date: Option<String>,
    /// ISO 8601, with the zone's offset.
    pub end_date: Option<String>,
    /// Wall time of the recording.
    pub duration_ns: Option<u64>,
    /// `Target app exited`, `Time limit reached`, …
    pub end_reason: Option<String>,
    /// `26.0 (17A5295f)`: the build in parentheses identifies Xcode, the number does not.
    pub instruments_version: Option<String>,
    /// `Metal System Trace`, …
    pub template: Option<String>,
    /// `Deferred`, `Windowed (5 seconds)`, …
    pub recording_mode: Option<String>,
    /// `12 hours`, `10 seconds`, …
    pub time_limit: Option<String>,
    /// What the instruments were set to.
    pub settings: Vec<Setting>,
    /// The processes that were alive.
    pub processes: Vec<ListedProcess>,
    /// The tables the trace has, exported or not.
    pub tables: Vec<ListedTable>,
    /// The names of its tracks.
    pub tracks: Vec<String>,
}

impl Run {
    /// A run of which nothing but its number is known.
    #[must_use]
    pub fn unknown(number: u64) -> Self {
        Self {
            number,
            ..Self::default()
        }
    }
}

/// Whom a recording is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Target {
    /// The recorder started it.
    Launched(TargetProcess),
    /// It ran already.
    Attached(TargetProcess),
    /// One process; this Xcode does not say whether launched or attached (14 and before).
    Recorded(TargetProcess),
    /// Everyone.
    AllProcesses,
    /// The table of contents does not say, or there is none.
    #[default]
    Unknown,
}

impl Target {
    /// The process, if it is one.
    #[must_use]
    pub fn process(&self) -> Option<&TargetProcess> {
        match self {
            Self::Launched(process) | Self::Attached(process) | Self::Recorded(process) => {
                Some(process)
            }
            Self::AllProcesses | Self::Unknown => None,
        }
    }
}

/// The process a recording is about, and how it ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetProcess {
    /// Its name, cut by the system at 31 or 32 characters.
    pub name: String,
    /// Its number.
    pub pid: Option<u32>,
    /// Its command line behind the program.
    pub arguments: Option<String>,
    /// Its exit status. Without meaning for an attached process that lives on.
    pub exit_status: Option<i64>,
    /// `exit(0)`, `SIGKILL`, … Without meaning for an attached process that lives on.
    pub termination: Option<String>,
    /// Its environment, when the trace has it.
    pub environment: Vec<(String, String)>,
}

/// A machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Device {
    /// `MacBook Air`, `Mac16,1`, …
    pub model: Option<String>,
    /// The name its owner gave it.
    pub name: Option<String>,
    /// `26.3.1 (25D2128)`.
    pub os_version: Option<String>,
    /// `macOS`.
    pub platform: Option<String>,
    /// Identifies it.
    pub uuid: Option<String>,
}

/// One recording setting: `Metal Application`, `GPU`, [`Shader Timeline: Disabled`, …].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// The instrument.
    pub instrument: String,
    /// The setting's name.
    pub key: String,
    /// Its values.
    pub values: Vec<String>,
}

/// A process in the list of those alive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedProcess {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: Option<u32>,
    /// Its program, possibly cut.
    pub path: Option<String>,
}

/// A table in the table of contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedTable {
    /// Its schema. Several tables may have one (`kdebug` often has two dozen).
    pub schema: String,
    /// Its 1-based position, the `N` of `table[N]`.
    pub position: u64,
    /// What else is said of it: `target-pid`, `codes`, …
    pub attributes: Vec<(String, String)>,
}

/// The largest real table of contents at hand has 21 KB.
const LIMIT: u64 = 16 << 20;

/// Reads a table of contents.
pub(crate) fn read<R: Read>(input: R, file: &str) -> Result<Toc> {
    let input = metalens_files::limited(input, LIMIT);
    let root = read_tree(input, file, "trace-toc")?;
    let synthetic = root.attribute("synthetic").is_some();
    let broken = |detail: String| Error::in_file(Problem::BrokenToc { detail }, file);
    let runs = root.children_named("run").zip(1..);
    let runs: Result<Vec<Run>, String> = runs
        .map(|(run, position)| run_of(run, position, synthetic))
        .collect();
    let runs = runs.map_err(broken)?;
    if runs.is_empty() {
        return Err(broken("it lists no run".to_owned()));
    }
    let mut numbers = BTreeSet::new();
    if let Some(twin) = runs.iter().find(|run| !numbers.insert(run.number)) {
        return Err(broken(format!("two runs have the number {}", twin.number)));
    }
    Ok(Toc { runs })
}

fn run_of(run: &Element, position: u64, synthetic: bool) -> Result<Run, String> {
    let nothing = Element::default();
    let info = run.child("info").unwrap_or(&nothing);
    let target = info.child("target").unwrap_or(&nothing);
    let summary = info.child("summary").unwrap_or(&nothing);
    let duration = summary.child_text("duration");
    Ok(Run {
        number: number(run, "number")?.unwrap_or(position),
        synthetic,
        target: target_of(target)?,
        device: target.child("device").map(device_of),
        host_device: target.child("host-device").map(device_of),
        start_date: summary.child_text("start-date"),
        end_date: summary.child_text("end-date"),
        duration_ns: duration.and_then(|seconds| nanoseconds(&seconds)),
        end_reason: summary.child_text("end-reason"),
        instruments_version: summary.child_text("instruments-version"),
        template: summary.child_text("template-name"),
        recording_mode: summary.child_text("recording-mode"),
        time_limit: summary.child_text("time-limit"),
        settings: settings_of(summary),
        processes: run.child("processes").map(processes_of).unwrap_or_default(),
        tables: run.child("data").map(tables_of).unwrap_or_default(),
        tracks: run.child("tracks").map(tracks_of).unwrap_or_default(),
    })
}

/// Returns the number in an attribute, if it is there: one that is no number tells of
/// damage, and whom a recording is about hangs on it.
fn number<T: FromStr>(element: &Element, attribute: &str) -> Result<Option<T>, String> {
    let text = element.attribute(attribute);
    let number = text.map(|text| {
        let parsed = text.parse();
        parsed.map_err(|_| format!("the {attribute} of a {} is {text:?}", element.name))
    });
    number.transpose()
}

fn target_of(target: &Element) -> Result<Target, String> {
    let Some(process) = target.child("process") else {
        return Ok(match target.child("all-processes") {
            Some(_) => Target::AllProcesses,
            None => Target::Unknown,
        });
    };
    let environment = target.child("environment").or(process.child("environment"));
    let attribute = |name| process.attribute(name).map(str::to_owned);
    let found = TargetProcess {
        name: attribute("name").unwrap_or_default(),
        pid: number(process, "pid")?,
        arguments: attribute("arguments"),
        exit_status: process
            .attribute("return-exit-status")
            .and_then(|s| s.parse().ok()),
        termination: attribute("termination-reason"),
        environment: environment.map(environment_of).unwrap_or_default(),
    };
    Ok(match process.attribute("type") {
        Some("launched") => Target::Launched(found),
        Some("attached") => Target::Attached(found),
        _ => Target::Recorded(found),
    })
}

fn environment_of(environment: &Element) -> Vec<(String, String)> {
    let items = environment.children_named("item").filter_map(|item| {
        let key = item.attribute("key")?.to_owned();
        Some((key, item.attribute("value").unwrap_or("").to_owned()))
    });
    items.collect()
}

fn device_of(device: &Element) -> Device {
    let attribute = |name| device.attribute(name).map(str::to_owned);
    Device {
        model: attribute("model"),
        name: attribute("name"),
        os_version: attribute("os-version"),
        platform: attribute("platform"),
        uuid: attribute("uuid"),
    }
}

/// The element is spelled `intruments-recording-settings` by Apple; the right
/// spelling is taken too, should it ever be mended.
fn settings_of(summary: &Element) -> Vec<Setting> {
    let block = summary
        .child("intruments-recording-settings")
        .or(summary.child("instruments-recording-settings"));
    let mut settings = Vec::new();
    for instrument in block
        .into_iter()
        .flat_map(|b| b.children_named("instrument"))
    {
        let name = instrument.attribute("name").unwrap_or_default();
        gather_keys(instrument, name, &mut settings);
    }
    settings
}

/// Keys stand in dictionaries inside arrays inside dictionaries, as deep as they like.
fn gather_keys(element: &Element, instrument: &str, settings: &mut Vec<Setting>) {
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
        gather_keys(child, instrument, settings);
    }
}

fn processes_of(processes: &Element) -> Vec<ListedProcess> {
    let listed = processes
        .children_named("process")
        .map(|process| ListedProcess {
            name: process.attribute("name").unwrap_or_default().to_owned(),
            pid: process.attribute("pid").and_then(|pid| pid.parse().ok()),
            path: process.attribute("path").map(str::to_owned),
        });
    listed.collect()
}

fn tables_of(data: &Element) -> Vec<ListedTable> {
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

fn tracks_of(tracks: &Element) -> Vec<String> {
    let names = tracks.children_named("track");
    names
        .filter_map(|track| track.attribute("name").map(str::to_owned))
        .collect()
}

/// `2.123889` seconds → 2,123,889,000 ns, without a detour through floating point.
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
    fn targets() {
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
            environment: vec![("A".to_owned(), "b c".to_owned())],
            ..bench
        };
        check(
            r#"<process type="launched" name="bench" pid="7" return-exit-status="9" termination-reason="SIGKILL"/>
               <environment><item key="A" value="b c"/></environment>"#,
            &Target::Launched(killed),
        );
    }

    #[test]
    fn numbers_that_are_none_or_not_one() {
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
