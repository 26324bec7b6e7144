//! Writes `form.template`: the archive about the document and its runs. It has all facts of a table
//! of contents, the instruments, and all fields of `XRRunInfo`; what no reader looks at is left out.

use std::path::Path;

use super::archive::{self, Node};
use super::file::write_file;
use crate::error::Error;
use crate::export::dates;
use crate::export::toc::{self, Contents};
use crate::plan::PlannedProcess;
use crate::scenario::Scenario;
use crate::scenario::recording::Recording;
use crate::values::kinds::TargetKind;

/// Id of the device, as in our tables of contents.
const DEVICE: &str = "00000000-0000-0000-0000-000000000000";

/// Writes `form.template` into a bundle.
pub(super) fn write(bundle: &Path, scenario: &Scenario, runs: &[Contents]) -> Result<(), Error> {
    let roots = vec![
        ("stubInfoByUUID", instruments()),
        (
            "com.apple.xray.run.data",
            run_list(&scenario.recording, runs),
        ),
    ];
    write_file(&bundle.join("form.template"), |out| {
        archive::write_all(roots, out)
    })
}

/// Returns the instruments of the template, by name.
fn instruments() -> Node {
    let identifier = "com.apple.xray.instrument-type.metal-application";
    let stub = Node::mutable_dict([
        ("name", Node::text("Metal Application")),
        ("identifier", Node::text(identifier)),
        ("uuid", Node::text(identifier)),
    ]);
    Node::mutable_dict([(identifier, stub)])
}

/// Returns the list of runs, with the facts of each.
fn run_list(recording: &Recording, runs: &[Contents]) -> Node {
    let number = |contents: &Contents| Node::int(u64::from(contents.run));
    let by_number = runs
        .iter()
        .map(|contents| (number(contents), run(recording, contents)));
    Node::numbered(
        &["XRRunListData", "NSObject"],
        [
            Node::mutable_array(runs.iter().map(number)),
            Node::mutable_map(by_number.collect()),
            Node::int(runs.len() as u64 + 1),
        ],
    )
}

/// Returns the facts of one run.
fn run(recording: &Recording, contents: &Contents) -> Node {
    let start_ns = dates::start_ns_since_1970(contents.run);
    let target = contents.target();
    let mut facts = vec![
        ("runInfo", run_info(recording, contents)),
        (
            "processDatas",
            Node::mutable_array(
                contents
                    .processes
                    .iter()
                    .map(|listed| process(recording, listed)),
            ),
        ),
        ("startTime", Node::int(start_ns)),
        ("runningTime", Node::int(contents.wall_ns)),
    ];
    facts.extend(target.map(|target| ("target", process(recording, target))));
    Node::mutable_dict(facts)
}

/// Returns `XRRunInfo` with the fields of Instruments 26.0.
fn run_info(recording: &Recording, contents: &Contents) -> Node {
    let target = contents.target();
    let target_text = |text: Option<String>| Node::text_if(text.as_deref());
    let text = |text: &str| Node::text(text);
    let (start, end) = (start_s(contents), end_s(contents));
    let facts = [
        ("_targetTerminationInformation", termination(recording)),
        ("_targetOperatingSystem", text(&recording.os)),
        (
            "_targetExitStatus",
            text(&recording.exit_status.to_string()),
        ),
        ("_rawDuration", Node::inline(duration_s(contents))),
        ("_targetName", text(&recording.device)),
        ("_rawEndTime", Node::inline(end)),
        (
            "_targetProcessName",
            target_text(target.map(|target| target.name.clone())),
        ),
        ("_recordingSettings", settings(recording)),
        ("_targetModel", text(&recording.model)),
        ("_targetPlatform", text("macOS")),
        ("_arguments", target_text(recording.arguments.clone())),
        ("_rawStartTime", Node::inline(start)),
        ("_endReason", text(&recording.end_reason)),
        ("_rawWindowStartTime", Node::inline(start)),
        (
            "_targetProcessPid",
            target_text(target.map(|target| target.pid.to_string())),
        ),
        ("_instrumentSettings", Node::array([])),
        ("_recordingMode", text(&recording.mode)),
        ("_timeLimit", Node::mutable_text(&recording.time_limit)),
        ("targetType", Node::inline(target_type(recording.target))),
        ("_targetTimeZone", local_time_zone()),
        ("_targetUUID", text(DEVICE)),
        ("_instrumentVersion", text(&recording.instruments)),
        ("_templateName", text(&recording.template)),
        ("_environment", Node::dict([])),
    ];

    let absent = ABSENT.map(|key| (key, Node::Null));
    Node::object(&["XRRunInfo", "NSObject"], facts.into_iter().chain(absent))
}

/// Fields that are nil unless a run was imported, relayed by a host or paired with a watch.
const ABSENT: [&str; 13] = [
    "_importedFrom",
    "_importedFileRecordingPlanJSON",
    "_importedFileCreationCommand",
    "_pairedOperatingSystem",
    "_pairedPlatform",
    "_pairedUUID",
    "_pairedName",
    "_pairedModel",
    "_hostUUID",
    "_hostName",
    "_hostPlatform",
    "_hostModel",
    "_hostOperatingSystem",
];

const fn target_type(target: TargetKind) -> u64 {
    match target {
        TargetKind::AllProcesses => 0,
        TargetKind::Launched => 1,
        TargetKind::Attached => 2,
    }
}

/// Returns the exit code 4 for `exit(4)`. The known real bundles have only 0. Any other text is
/// stored as it is.
fn termination(recording: &Recording) -> Node {
    let text = &recording.termination;
    text.strip_prefix("exit(")
        .and_then(|rest| rest.strip_suffix(')'))
        .and_then(|code| code.parse().ok())
        .map_or_else(|| Node::text(text), Node::int)
}

/// Returns the settings of the recording, as in our tables of contents.
fn settings(recording: &Recording) -> Node {
    let gpu = Node::array(toc::gpu_settings(recording).map(Node::text));
    let settings = Node::mutable_array([Node::dict([("GPU", gpu)])]);
    Node::dict([("Metal Application", settings)])
}

/// Returns a time zone without fields. The name of the zone is beside the clocks.
fn local_time_zone() -> Node {
    Node::object(&["NSLocalTimeZone"], [])
}

/// Returns the start in seconds since 1970, which is exact: runs start on the hour.
fn start_s(contents: &Contents) -> f64 {
    (dates::start_ns_since_1970(contents.run) / 1_000_000_000) as f64
}

/// Returns the end in seconds since 1970: the millisecond of the table of contents plus 0.1 ms, so
/// that readers that cut and readers that round get the same millisecond.
fn end_s(contents: &Contents) -> f64 {
    start_s(contents) + (contents.wall_ns / 1_000_000) as f64 / 1e3 + 1e-4
}

/// Returns the duration in seconds. Real durations have fractions of nanoseconds. The fraction here
/// makes halves of microseconds round up.
fn duration_s(contents: &Contents) -> f64 {
    (contents.wall_ns as f64 + 0.25) / 1e9
}

fn process(recording: &Recording, process: &PlannedProcess) -> Node {
    let pid = || Node::int(u64::from(process.pid));
    Node::dict([
        ("displayName", Node::text(process.name.as_str())),
        ("processID", pid()),
        ("_pid", pid()),
        ("_execname", Node::text(toc::path(recording, process))),
    ])
}
