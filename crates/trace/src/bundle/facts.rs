//! What was recorded, of whom, on what: from `form.template`, which some
//! bundles lack; nothing is made up then.

use std::collections::BTreeMap;

use time::{Duration, UtcDateTime};

use super::files::{Files, SMALL, TEMPLATE, TEMPLATE_LIMIT};
use super::keyed::{Keyed, Object};
use super::xml_list;
use crate::error::{Problem, Result};
use crate::toc::{Device, ListedProcess, Run, Setting, Target, TargetProcess, Toc};

/// What a bundle says of its runs.
pub(crate) struct Facts {
    pub(crate) toc: Toc,
    /// Where that stands.
    pub(crate) template: Template,
}

/// `form.template`, as it was found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Template {
    Missing,
    /// Part of it cannot be read.
    Damaged,
    Sound,
}

/// The facts of each run of the bundle.
pub(crate) fn read(files: &Files, runs: &[u64]) -> Result<Facts> {
    let (known, template) = match files.exists(TEMPLATE) {
        true => from_template(files)?,
        false => (BTreeMap::new(), Template::Missing),
    };
    let run = |number: &u64| {
        known
            .get(number)
            .cloned()
            .unwrap_or_else(|| Run::unknown(*number))
    };
    let toc = Toc {
        runs: runs.iter().map(run).collect(),
    };
    Ok(Facts { toc, template })
}

/// Of what every recording has been seen to say of its run, what this one does not.
pub(crate) fn lacking(run: &Run) -> Vec<&'static str> {
    let without_pid = |process: &TargetProcess| process.pid.is_none();
    let lacks_pid = run.target.process().is_some_and(without_pid);
    let all = [
        (run.target == Target::Unknown, "the target"),
        (lacks_pid, "the target's pid"),
        (run.duration_ns.is_none(), "how long it was recorded"),
        (run.template.is_none(), "with which template"),
        (run.device.is_none(), "the device"),
    ];
    let lacking = all.into_iter().filter(|(is_lacking, _)| *is_lacking);
    lacking.map(|(_, fact)| fact).collect()
}

/// Tells whether a simulator wrote the bundle, and says so.
pub(crate) fn is_synthetic(files: &Files) -> Result<bool> {
    const MANIFEST: &str = "corespace/MANIFEST.plist";
    match files.exists(MANIFEST) {
        true => files.stream_up_to(MANIFEST, SMALL, |list| {
            xml_list::has_key(list, &files.shown(MANIFEST), "synthetic")
        }),
        false => Ok(false),
    }
}

/// Returns the version of the document's form that a program must know to open it;
/// `None` of a bundle that was never cleanly saved and does not say.
pub(crate) fn required_version(files: &Files) -> Result<Option<u64>> {
    const REQUIRED: &str = "open.creq";
    if !files.exists(REQUIRED) {
        return Ok(None);
    }
    let required = files.read(REQUIRED, SMALL)?;
    let required = String::from_utf8_lossy(&required);
    let behind = |text: &str, mark: &str| Some(text.split_once(mark)?.1.to_owned());
    let number = behind(&required, "<key>com.apple.dt.trace</key>");
    let number = number.and_then(|rest| behind(&rest, "<integer>"));
    let number = number.and_then(|rest| rest.split_once("</integer>")?.0.trim().parse().ok());
    let unknown = || {
        let detail = "it does not say which version it asks for".to_owned();
        files.error(REQUIRED, Problem::UnsupportedBundle { detail })
    };
    number.map(Some).ok_or_else(unknown)
}

fn from_template(files: &Files) -> Result<(BTreeMap<u64, Run>, Template)> {
    let unsupported = |detail: &str| {
        let detail = detail.to_owned();
        files.error(TEMPLATE, Problem::UnsupportedBundle { detail })
    };
    let bytes = files.read(TEMPLATE, TEMPLATE_LIMIT)?;
    let archive =
        Keyed::parse_damaged(bytes).ok_or_else(|| unsupported("it is no keyed archive"))?;
    let template = match archive.is_sound() {
        true => Template::Sound,
        false => Template::Damaged,
    };
    let Some(data) = archive.top("com.apple.xray.run.data") else {
        return Ok((BTreeMap::new(), template));
    };
    let runs = data
        .get("$1")
        .ok_or_else(|| unsupported("it lists no runs"))?;
    let runs = runs
        .entries()
        .filter_map(|(key, run)| Some((key.integer()?, run)));
    let runs = runs.map(|(number, run)| (number, run_of(number, run)));
    let runs = runs.collect();
    if archive.exhausted() {
        return Err(unsupported(Keyed::ENDLESS));
    }
    Ok((runs, template))
}

fn run_of(number: u64, run: Object<'_>) -> Run {
    let Some(info) = run.get("runInfo") else {
        return Run::unknown(number);
    };
    let text = |name: &str| info.get(name).and_then(Object::text).map(str::to_owned);
    let running = run.get("runningTime").and_then(Object::integer);
    Run {
        number,
        synthetic: false,
        target: target_of(info),
        device: device_of(info, "_target"),
        host_device: device_of(info, "_host"),
        start_date: info.get("_rawStartTime").and_then(Object::real).map(date),
        end_date: info.get("_rawEndTime").and_then(Object::real).map(date),
        // The table of contents shows whole microseconds.
        duration_ns: running.map(|ns| ns.saturating_add(500) / 1_000 * 1_000),
        end_reason: text("_endReason"),
        instruments_version: text("_instrumentVersion"),
        template: text("_templateName"),
        recording_mode: text("_recordingMode"),
        time_limit: text("_timeLimit"),
        settings: settings_of(info),
        processes: processes_of(run),
        tables: Vec::new(),
        tracks: Vec::new(),
    }
}

fn target_of(info: Object<'_>) -> Target {
    let text = |name: &str| info.get(name).and_then(Object::text).map(str::to_owned);
    let kind = info.get("targetType").and_then(Object::integer);
    if kind == Some(0) {
        return Target::AllProcesses;
    }
    let Some(name) = text("_targetProcessName") else {
        return Target::Unknown;
    };
    let number = |name: &str| {
        let object = info.get(name)?;
        object
            .text()
            .and_then(|text| text.parse().ok())
            .or_else(|| object.integer())
    };
    let environment = info
        .get("_environment")
        .into_iter()
        .flat_map(Object::entries);
    let environment = environment.filter_map(|(key, value)| {
        Some((
            key.text()?.to_owned(),
            value.text().unwrap_or("").to_owned(),
        ))
    });
    let exit_status =
        number("_targetExitStatus").and_then(|status: u64| i64::try_from(status).ok());
    let process = TargetProcess {
        name,
        pid: number("_targetProcessPid").and_then(|pid| u32::try_from(pid).ok()),
        arguments: text("_arguments").filter(|arguments| !arguments.is_empty()),
        exit_status,
        termination: termination(info, exit_status),
        environment: environment.collect(),
    };
    match kind {
        Some(1) => Target::Launched(process),
        Some(2) => Target::Attached(process),
        _ => Target::Recorded(process),
    }
}

/// `exit(0)` where the bundle has nothing special to say.
fn termination(info: Object<'_>, exit_status: Option<i64>) -> Option<String> {
    match info.get("_targetTerminationInformation") {
        Some(information) => match (information.text(), information.integer()) {
            (Some(text), _) => Some(text.to_owned()),
            (None, Some(0) | None) => exit_status.map(|status| format!("exit({status})")),
            (None, Some(other)) => Some(format!("termination {other}")),
        },
        None => exit_status.map(|status| format!("exit({status})")),
    }
}

fn device_of(info: Object<'_>, prefix: &str) -> Option<Device> {
    let text = |name: &str| {
        let text = info.get(&format!("{prefix}{name}")).and_then(Object::text);
        text.map(str::to_owned)
    };
    let device = Device {
        model: text("Model"),
        name: text("Name"),
        os_version: text("OperatingSystem"),
        platform: text("Platform"),
        uuid: text("UUID"),
    };
    (device != Device::default()).then_some(device)
}

fn settings_of(info: Object<'_>) -> Vec<Setting> {
    let mut settings = Vec::new();
    let instruments = info
        .get("_recordingSettings")
        .into_iter()
        .flat_map(Object::entries);
    for (instrument, dictionaries) in instruments {
        for (key, value) in dictionaries.items().flat_map(Object::entries) {
            let values = value.text().map(str::to_owned);
            let values = values
                .into_iter()
                .chain(value.items().filter_map(|v| v.text().map(str::to_owned)));
            settings.push(Setting {
                instrument: instrument.text().unwrap_or_default().to_owned(),
                key: key.text().unwrap_or_default().to_owned(),
                values: values.collect(),
            });
        }
    }
    settings.sort_by(|a, b| (&a.instrument, &a.key).cmp(&(&b.instrument, &b.key)));
    settings
}

/// The processes that were alive, and the target. A process is displayed by
/// the last part of its program's path.
fn processes_of(run: Object<'_>) -> Vec<ListedProcess> {
    let others = run.get("processDatas").into_iter().flat_map(Object::items);
    let target = run.get("target");
    let processes = target.into_iter().chain(others).filter_map(|process| {
        let text = |name: &str| process.get(name).and_then(Object::text);
        let path = text("_execname").or_else(|| text("displayName"))?;
        let number = |name: &str| process.get(name).and_then(Object::integer);
        let pid = number("processID").or_else(|| number("_pid"))?;
        Some(ListedProcess {
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            pid: Some(u32::try_from(pid).ok()?),
            path: Some(path.to_owned()),
        })
    });
    processes.collect()
}

/// Seconds since 1970 → `2026-03-30T21:37:20.646Z`.
fn date(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "`as` saturates, and no recording is from year 292 million"
    )]
    let milliseconds = (seconds * 1_000.0).round() as i64;
    date_of_milliseconds(milliseconds)
}

/// Nanoseconds since 1970 → `2026-03-30T21:37:20.646Z`.
pub(crate) fn date_of_ns(ns: u64) -> String {
    date_of_milliseconds(i64::try_from((ns + 500_000) / 1_000_000).unwrap_or(0))
}

fn date_of_milliseconds(milliseconds: i64) -> String {
    let since_1970 = Duration::milliseconds(milliseconds);
    let moment = UtcDateTime::UNIX_EPOCH.saturating_add(since_1970);
    let (year, month, day) = moment.date().to_calendar_date();
    let (hour, minute, second, millisecond) = moment.time().as_hms_milli();
    format!(
        "{year:04}-{:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millisecond:03}Z",
        u8::from(month)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(0.0), "1970-01-01T00:00:00.000Z");
        assert_eq!(date(951_782_400.5), "2000-02-29T00:00:00.500Z");
        assert_eq!(date(1_774_906_640.646), "2026-03-30T21:37:20.646Z");
    }
}
