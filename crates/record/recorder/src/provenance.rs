//! Writes `X.recording.json`, which describes how a bundle was made, so that two bundles can be
//! compared and a recording can be repeated. Private names are left out.

use std::path::{Path, PathBuf};

use metalens_text::{Redactor, in_json};
use metalens_xctrace::command::Target;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, file};
use crate::machine::MachineFacts;
use crate::other_work::OtherWork;
use crate::program_end::ProgramEnd;
use crate::record_request::{RecordRequest, RecordingSubject};
use crate::request::{Recording, StoppedBy, XctraceRequest};
use crate::shaders::ShaderOutcome;
use crate::traced::{Programs, TracedProgram};

/// Name of the document's schema.
const SCHEMA: &str = "metalens.recording/1";

/// Description of how a bundle was made. The home folder is `~`; the names of the user and the
/// machine, and texts that look like secrets, are replaced.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Provenance<'a> {
    /// Name of this schema: `metalens.recording/1`.
    schema: &'static str,
    /// Version of metalens that made the recording.
    metalens: &'static str,
    /// True if a simulator ran in place of `xctrace`.
    synthetic: bool,
    /// The `xctrace` that made the recording.
    xctrace: Xctrace<'a>,
    /// Facts about the Mac. Null off macOS, and for a simulator.
    machine: Option<MachineFacts>,
    /// Name of the template, or path of its file.
    template: String,
    /// Names of the instruments that were added to the template.
    instruments: &'a [String],
    /// Effect of `--shader-timeline`. Null if it was not requested.
    shader_timeline: Option<&'a ShaderOutcome>,
    /// Command or process that was recorded, as the user gave it.
    command: Vec<String>,
    /// The program that was started, as asked for and as the recording names it. Null if none was
    /// started, or if the recording does not name one that exists.
    program: Option<Programs>,
    /// GPU work of another process, which started during the recording. Null if the recorded program
    /// has GPU work.
    other_work: Option<OtherWork>,
    /// Names of the environment variables that were set. Their values may be secrets.
    environment: Vec<String>,
    /// Duration after which the recording was to stop, in nanoseconds. Null if there was no limit.
    time_limit_ns: Option<u64>,
    /// Duration at the end that was to be kept, in nanoseconds. Null if all was kept.
    window_ns: Option<u64>,
    /// Reason for the end of the recording.
    ended_by: StoppedBy,
    /// End of the program that the recording started, as its bundle describes it: `exit(0)`, `SIGKILL` or
    /// `status 4`. Null if the bundle does not, and for a process that was attached to.
    target_ended: Option<&'a str>,
    /// Exit code of `xctrace`: 0 and 54 are usual. Null if a signal ended it.
    exit_code: Option<i32>,
    /// Warnings for the reader of the recording.
    warnings: Vec<String>,
}

/// The `xctrace` that made a recording.
#[derive(Debug, Serialize, JsonSchema)]
struct Xctrace<'a> {
    /// Version that it prints, which differs from that of Xcode.
    version: &'a str,
    /// Build number of its Xcode.
    build: &'a str,
}

/// Returns a redactor for the current user and machine.
pub fn redactor() -> Redactor {
    let system = rustix::system::uname();
    Redactor::for_current_user(system.nodename().to_string_lossy().into_owned())
}

/// Facts about a recording besides the messages of `xctrace`.
#[derive(Debug, Default)]
pub(crate) struct ObservedFacts<'a> {
    /// The Mac that it was made on.
    pub(crate) machine: Option<MachineFacts>,
    /// Effect of `--shader-timeline`, if it was requested.
    pub(crate) shaders: Option<&'a ShaderOutcome>,
    /// End of the recorded program.
    pub(crate) program_end: Option<&'a ProgramEnd>,
    /// The recorded program.
    pub(crate) traced: Option<&'a TracedProgram>,
}

/// Returns the names of the variables that the program gets.
fn environment(target: &Target, request: &RecordRequest) -> Vec<String> {
    match target {
        Target::Launch(launch) => {
            let names = launch.environment.iter();
            names.map(|(name, _)| name.display().to_string()).collect()
        }
        Target::Attach(_) | Target::AllProcesses => {
            let names = request.environment.iter();
            names.map(|(name, _)| name.clone()).collect()
        }
    }
}

/// Returns the redacted command. A bundled workload and a program that cargo built are given by name.
fn command(request: &RecordRequest, redactor: &Redactor) -> Vec<String> {
    let subject = &request.subject;
    let words = request.published_command.clone();
    let words = words.unwrap_or_else(|| redactor.redact_command(subject.words()));
    let is_named = matches!(subject, RecordingSubject::Cargo { .. }) || words.is_empty();
    let name = is_named.then(|| redactor.redact(&subject.name()));
    name.into_iter().chain(words).collect()
}

/// Returns the path of the file that belongs to a bundle.
pub(crate) fn beside(bundle: &Path) -> PathBuf {
    bundle.with_extension("recording.json")
}

/// Writes the file beside the bundle.
pub(crate) fn write(
    request: &RecordRequest,
    xctrace_request: &XctraceRequest,
    recording: &Recording,
    facts: ObservedFacts<'_>,
) -> Result<()> {
    let redactor = redactor();
    let version = &xctrace_request.version;
    let provenance = Provenance {
        schema: SCHEMA,
        metalens: env!("CARGO_PKG_VERSION"),
        synthetic: request.is_synthetic(),
        xctrace: Xctrace {
            version: &version.dotted,
            build: &version.build,
        },
        machine: facts.machine,
        template: redactor.redact(&request.template),
        instruments: &xctrace_request.record.instruments,
        shader_timeline: facts.shaders,
        command: command(request, &redactor),
        program: facts.traced.map(|traced| traced.redacted(&redactor)),
        other_work: recording
            .other_work
            .as_ref()
            .map(|work| work.redacted(&redactor)),
        environment: environment(&xctrace_request.record.target, request),
        time_limit_ns: request.time_limit_ns,
        window_ns: request.window_ns,
        ended_by: recording.stopped_by,
        target_ended: facts.program_end.map(|end| end.description.as_str()),
        exit_code: recording.code,
        warnings: recording
            .warnings
            .iter()
            .map(|warning| redactor.redact(warning))
            .collect(),
    };

    let path = beside(&recording.bundle);
    let text = serde_json::to_string_pretty(&provenance)
        .map_err(|error| file("write", &path)(error.into()))?;
    let text = in_json(&text).into_owned() + "\n";
    // A file that appeared during the recording is replaced only if the request allows it.
    let may_replace = request.force;
    Ok(metalens_files::write_bytes(
        &path,
        may_replace,
        text.as_bytes(),
    )?)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use metalens_xctrace::{Tool, Transcript};

    use super::*;
    use crate::plan::RecordingPlan;
    use crate::record_request::Recorder;

    fn recording(bundle: &Path, warning: String) -> Recording {
        Recording {
            bundle: bundle.to_owned(),
            transcript: Transcript::default(),
            code: Some(54),
            stopped_by: StoppedBy::TimeLimit,
            warnings: vec![warning],
            given: None,
            not_given: None,
            other_work: None,
            is_output_cut: false,
        }
    }

    /// The file contains nothing about the user who runs this test, and matches its schema.
    #[test]
    fn private_data_is_left_out() {
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
        let subject = RecordingSubject::Program(words.map(Into::into).to_vec());
        let simulator = Recorder::Simulator {
            tool: Tool::at("xctrace".into()),
            scenario: None,
        };
        let plan = RecordingPlan::for_test(RecordRequest {
            environment: vec![("TOKEN".to_owned(), "one".to_owned())],
            time_limit_ns: Some(1_000_000_000),
            ..RecordRequest::new(simulator, subject, bundle.clone())
        });

        let recording = recording(&bundle, format!("{home}/y was slow"));
        let facts = ObservedFacts {
            machine: Some(crate::machine::facts_for_test()),
            ..ObservedFacts::default()
        };
        write(&plan.request, &plan.xctrace_request, &recording, facts).unwrap();

        let text = std::fs::read_to_string(beside(&bundle)).unwrap();
        for secret in ["one", "two", "three"] {
            assert!(!text.contains(&format!("{secret}\"")), "{secret}: {text}");
        }
        for name in [home.as_str(), host.as_str()] {
            assert!(name.len() < 3 || !text.contains(name), "{name}: {text}");
        }
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let schema = include_str!("../../../../docs/recording.schema.json");
        let schema = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
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
}
