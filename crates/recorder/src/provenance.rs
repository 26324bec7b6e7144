//! `X.recording.json`: how a bundle was made, so that two of them can be compared
//! and one can be made again. What names its maker is left out.

use std::path::{Path, PathBuf};

use metalens_text::in_json;
use schemars::JsonSchema;
use serde::Serialize;

use crate::clock::ClockOutcome;
use crate::ending::Ending;
use crate::error::{Result, file};
use crate::private::Private;
use crate::record_request::{RecordRequest, Subject};
use crate::request::{Recording, Request, StoppedBy};
use crate::shaders::ShaderOutcome;
use crate::surroundings::MadeOn;

/// The form's name.
const SCHEMA: &str = "metalens.recording/1";

/// How a bundle was made. The home folder is `~`; the names of the user and the machine, and what
/// looks like a secret, are replaced.
#[derive(Debug, Serialize, JsonSchema)]
struct Provenance<'a> {
    /// `metalens.recording/1`.
    schema: &'static str,
    /// The version of metalens.
    metalens: &'static str,
    /// Whether a simulator took `xctrace`'s place.
    synthetic: bool,
    /// What recorded it.
    xctrace: Xctrace<'a>,
    /// What it was made on. Null where nothing was asked: off macOS, and of a simulator.
    machine: Option<MadeOn>,
    /// The template.
    template: String,
    /// The instruments beside it.
    instruments: &'a [String],
    /// What was changed in the template, and what came of it.
    #[serde(flatten)]
    changed: Changed<'a>,
    /// What was recorded, as it was asked for.
    command: Vec<String>,
    /// The names of the variables that were set; their values may be secrets.
    environment: Vec<&'a str>,
    /// When it was to stop, at the latest.
    time_limit_ns: Option<u64>,
    /// How much of its end was to be kept.
    window_ns: Option<u64>,
    /// What ended it.
    ended_by: EndedBy,
    /// How the program that was started ended, as the bundle says: `exit(0)`, `SIGKILL`, `status 4`. Null if it
    /// does not say, and of one that ran before.
    target_ended: Option<&'a str>,
    /// The exit code of `xctrace`: 0 and 54 are usual. Null if a signal ended it.
    exit_code: Option<i32>,
    /// What a reader of it should know.
    warnings: Vec<String>,
}

/// What a template was changed for.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub(crate) struct Changed<'a> {
    /// What came of `--shader-timeline`. Null if it was not asked for.
    pub(crate) shader_timeline: Option<&'a ShaderOutcome>,
    /// What came of `--gpu-clock`. Null if it was not asked for.
    pub(crate) gpu_clock: Option<&'a ClockOutcome>,
}

/// What recorded a bundle.
#[derive(Debug, Serialize, JsonSchema)]
struct Xctrace<'a> {
    /// The number that it gives itself, which is not Xcode's.
    version: &'a str,
    /// The build of its Xcode.
    build: &'a str,
}

/// What ended a recording.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum EndedBy {
    /// Its time limit.
    TimeLimit,
    /// The target's end.
    TargetExit,
    /// Its user.
    Interrupt,
    /// It was not said.
    Unknown,
}

impl<'a> Provenance<'a> {
    fn of(
        asked: &'a RecordRequest,
        request: &'a Request,
        recorded: &Recording,
        private: &Private,
    ) -> Self {
        let version = &request.version;
        let names = asked.environment.iter().map(|(name, _)| name.as_str());
        Self {
            schema: SCHEMA,
            metalens: env!("CARGO_PKG_VERSION"),
            synthetic: asked.is_simulated(),
            xctrace: Xctrace {
                version: &version.dotted,
                build: &version.build,
            },
            machine: None,
            template: private.text(&asked.template),
            instruments: &request.record.instruments,
            changed: Changed::default(),
            command: command(&asked.subject, private),
            environment: names.collect(),
            time_limit_ns: asked.time_limit_ns,
            window_ns: asked.window_ns,
            ended_by: match recorded.stopped_by {
                StoppedBy::TimeLimit => EndedBy::TimeLimit,
                StoppedBy::TargetExit => EndedBy::TargetExit,
                StoppedBy::Wish => EndedBy::Interrupt,
                StoppedBy::Unknown => EndedBy::Unknown,
            },
            target_ended: None,
            exit_code: recorded.code,
            warnings: recorded
                .warnings
                .iter()
                .map(|one| private.text(one))
                .collect(),
        }
    }
}

/// What was found out about a recording, beside what its recorder said.
#[derive(Debug, Default)]
pub(crate) struct Found<'a> {
    /// What it was made on.
    pub(crate) machine: Option<MadeOn>,
    /// What came of a changed template.
    pub(crate) changed: Changed<'a>,
    /// How its program ended.
    pub(crate) ending: Option<&'a Ending>,
}

/// The command; what cargo built, or is bundled, goes by its name.
fn command(subject: &Subject, private: &Private) -> Vec<String> {
    let words = private.words(subject.words());
    let is_named = matches!(subject, Subject::Cargo { .. }) || words.is_empty();
    let name = is_named.then(|| private.text(&subject.name()));
    name.into_iter().chain(words).collect()
}

/// Returns where it is.
pub(crate) fn beside(bundle: &Path) -> PathBuf {
    bundle.with_extension("recording.json")
}

/// Refuses to begin if there is one that may not be replaced: that of a bundle that is
/// replaced or appended to may be. What is appended to replaces nothing but our own.
pub(crate) fn check(bundle: &Path, force: bool, append_run: bool) -> Result<()> {
    let file = beside(bundle);
    Ok(metalens_files::refuse_existing(
        &file,
        force || append_run && is_ours(&file),
    )?)
}

/// Some kilobytes, and the words of a command line.
const LONGEST: u64 = 16 << 20;

fn is_ours(file: &Path) -> bool {
    let text = metalens_files::read(file, LONGEST).ok();
    let json = text.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    json.is_some_and(|json| json.get("schema").is_some_and(|schema| schema == SCHEMA))
}

/// Writes it beside the bundle.
pub(crate) fn write(
    (asked, request): (&RecordRequest, &Request),
    recorded: &Recording,
    found: Found<'_>,
) -> Result<()> {
    let provenance = Provenance {
        machine: found.machine,
        changed: found.changed,
        target_ended: found.ending.map(|one| one.how.as_str()),
        ..Provenance::of(asked, request, recorded, &Private::here())
    };
    let path = beside(&recorded.bundle);
    let text = serde_json::to_string_pretty(&provenance);
    let text = text.map_err(|error| file("write", &path)(error.into()))?;
    let text = in_json(&text).into_owned() + "\n";
    // What came meanwhile is somebody's.
    let may_replace = asked.may_replace();
    Ok(metalens_files::write_bytes(
        &path,
        may_replace,
        text.as_bytes(),
    )?)
}

/// Returns the JSON Schema of `X.recording.json`.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Provenance<'_>);
    schema.insert("title".to_owned(), SCHEMA.into());
    schema.to_value()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use metalens_xctrace::{Tool, Transcript};

    use super::*;
    use crate::plan::Plan;
    use crate::record_request::Recorder;

    fn recorded(bundle: &Path, warning: String) -> Recording {
        Recording {
            bundle: bundle.to_owned(),
            transcript: Transcript::default(),
            code: Some(54),
            stopped_by: StoppedBy::TimeLimit,
            warnings: vec![warning],
            given: None,
            not_given: None,
        }
    }

    /// Whoever runs this test: nothing of them is in the file, and it is what its
    /// schema says.
    #[test]
    fn nobody_is_named() {
        let home = std::env::var("HOME").unwrap_or_default();
        let host = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("a.trace");
        let data = format!("--data={home}/x");
        let words = [
            "/bin/sh",
            &data,
            "--token",
            "two",
            "--host",
            &host,
            "PASSWORD=three",
        ];
        let subject = Subject::Program(words.map(Into::into).to_vec());
        let simulator = Recorder::Simulator {
            tool: Tool::at("xctrace".into()),
            scenario: None,
        };
        let plan = Plan::of_a_test(RecordRequest {
            environment: vec![("TOKEN".to_owned(), "one".to_owned())],
            time_limit_ns: Some(1_000_000_000),
            ..RecordRequest::new(simulator, subject, bundle.clone())
        });
        let recorded = recorded(&bundle, format!("{home}/y was slow"));
        let found = Found {
            machine: Some(crate::surroundings::of_a_test()),
            ..Found::default()
        };
        write((&plan.asked, &plan.request), &recorded, found).unwrap();

        let text = std::fs::read_to_string(beside(&bundle)).unwrap();
        for secret in ["one", "two", "three"] {
            assert!(!text.contains(&format!("{secret}\"")), "{secret}: {text}");
        }
        for name in [home.as_str(), host.as_str()] {
            assert!(name.len() < 3 || !text.contains(name), "{name}: {text}");
        }
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let validator = jsonschema::validator_for(&json_schema()).unwrap();
        assert!(validator.is_valid(&value), "{text}");
        let machine = &value["machine"];
        assert_eq!(machine["chip"], "Apple M3 Max");
        assert_eq!(machine["thermal_pressure"]["before"], "nominal");
        assert_eq!(machine["thermal_pressure"]["after"], "moderate");
        assert_eq!(machine["power"]["after"], "mains");
        assert!(machine["model"].is_null() && machine["low_power_mode"]["before"].is_null());
        assert_eq!(value["environment"][0], "TOKEN");
        assert_eq!(value["ended_by"], "time-limit");
    }

    /// The JSON Schema that is shipped is the one the code makes.
    #[test]
    fn the_schema_is_up_to_date() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recording.schema.json");
        let schema = format!(
            "{}\n",
            serde_json::to_string_pretty(&json_schema()).unwrap()
        );
        if std::env::var_os("METALENS_BLESS").is_some() {
            std::fs::write(&file, &schema).unwrap();
        }
        let shipped = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            shipped == schema,
            "docs/recording.schema.json is old: scripts/bless renews it"
        );
    }
}
