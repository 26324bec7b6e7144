//! Reads the process, the device and the settings of a recording from `form.template`. Some bundles
//! have none; then these facts are unknown.

use std::collections::BTreeMap;

use time::{Duration, UtcDateTime};

use super::files::{Files, SMALL, TEMPLATE, TEMPLATE_LIMIT};
use super::keyed::{Keyed, Object};
use super::xml_list;
use crate::error::Result;
use crate::toc::{Device, ListedProcess, Run, Setting, Target, TargetProcess, Toc};

/// The state of `form.template`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemplateState {
    Missing,
    /// A part of the file cannot be read.
    Damaged,
    Sound,
}

/// Reads the facts about each run of the bundle.
pub(crate) fn read(files: &Files, runs: &[u64]) -> Result<(Toc, TemplateState)> {
    let (known, template) = if files.exists(TEMPLATE) {
        read_template(files)?
    } else {
        (BTreeMap::new(), TemplateState::Missing)
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
    Ok((toc, template))
}

/// Returns the facts that a run lacks although all known recordings have them.
pub(crate) fn missing_facts(run: &Run) -> Vec<&'static str> {
    let without_pid = |process: &TargetProcess| process.pid.is_none();
    let lacks_pid = run.target.process().is_some_and(without_pid);
    let all = [
        (run.target == Target::Unknown, "the process"),
        (lacks_pid, "the process id"),
        (run.duration_ns.is_none(), "the duration"),
        (run.template.is_none(), "the template"),
        (run.device.is_none(), "the device"),
    ];
    all.into_iter()
        .filter(|(is_missing, _)| *is_missing)
        .map(|(_, fact)| fact)
        .collect()
}

/// Returns true if the bundle says that a simulator wrote it.
pub(crate) fn is_synthetic(files: &Files) -> Result<bool> {
    const MANIFEST: &str = "corespace/MANIFEST.plist";
    if !files.exists(MANIFEST) {
        return Ok(false);
    }

    files.stream_up_to(MANIFEST, SMALL, |list| {
        xml_list::has_key(list, &files.shown(MANIFEST), "synthetic")
    })
}

/// Returns the format version that a program must know to open the bundle. `None` for a bundle that
/// was never saved cleanly and does not contain it.
pub(crate) fn required_version(files: &Files) -> Result<Option<u64>> {
    const REQUIRED: &str = "open.creq";
    if !files.exists(REQUIRED) {
        return Ok(None);
    }
    let required = files.read(REQUIRED, SMALL)?;
    let required = String::from_utf8_lossy(&required);
    let after = |text: &str, mark: &str| Some(text.split_once(mark)?.1.to_owned());
    let number = after(&required, "<key>com.apple.dt.trace</key>");
    let number = number.and_then(|rest| after(&rest, "<integer>"));
    let number = number.and_then(|rest| rest.split_once("</integer>")?.0.trim().parse().ok());
    number
        .map(Some)
        .ok_or_else(|| files.unsupported(REQUIRED, "it does not contain the required version"))
}

/// Returns whether a bundle was saved by Instruments older than 12. Instruments 8 to 11 require version
/// 0, and older ones require none: Instruments 7 has no list of types, and has a folder that later ones
/// lack; Instruments 4 to 6 have the data of their instruments only, and lack a file that later ones have.
pub(crate) fn is_old(files: &Files) -> bool {
    let has = |folder| files.names(folder).is_ok_and(|names| !names.is_empty());
    match required_version(files) {
        Ok(Some(version)) => version == 0,
        Ok(None) if has("corespace") => {
            !files.exists("corespace/run1/core/uniquing/EngineeringTypes.etypes")
                && has("shared_data")
        }
        Ok(None) => {
            files.exists(TEMPLATE)
                && has("instrument_data")
                && !files.exists("UI_state_metadata.bin")
        }
        Err(_) => false,
    }
}

/// Reads the facts of all runs from `form.template`, also if it is damaged in part.
fn read_template(files: &Files) -> Result<(BTreeMap<u64, Run>, TemplateState)> {
    let unsupported = |detail: &str| files.unsupported(TEMPLATE, detail);

    let bytes = files.read(TEMPLATE, TEMPLATE_LIMIT)?;
    let archive =
        Keyed::parse_damaged(bytes).ok_or_else(|| unsupported("it is not a keyed archive"))?;
    let template = if archive.is_sound() {
        TemplateState::Sound
    } else {
        TemplateState::Damaged
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
    let runs = runs.map(|(number, run)| (number, parse_run(number, run)));
    let runs = runs.collect();
    if archive.exhausted() {
        return Err(unsupported(Keyed::EXHAUSTED));
    }

    Ok((runs, template))
}

/// Parses the facts of a run. Facts that are absent stay unknown.
fn parse_run(number: u64, run: Object<'_>) -> Run {
    let Some(info) = run.get("runInfo") else {
        return Run::unknown(number);
    };
    let text = |name: &str| info.get(name).and_then(Object::text).map(str::to_owned);
    let running = run.get("runningTime").and_then(Object::integer);
    Run {
        number,
        synthetic: false,
        target: parse_target(info),
        device: parse_device(info),
        start_date: info.get("_rawStartTime").and_then(Object::real).map(date),
        // The table of contents shows whole microseconds.
        duration_ns: running.map(|ns| ns.saturating_add(500) / 1_000 * 1_000),
        end_reason: text("_endReason"),
        instruments_version: text("_instrumentVersion"),
        template: text("_templateName"),
        recording_mode: text("_recordingMode"),
        settings: parse_settings(info),
        processes: parse_processes(run),
        tables: Vec::new(),
        issues: Vec::new(),
    }
}

/// Parses the recorded process, or that all processes were recorded.
fn parse_target(info: Object<'_>) -> Target {
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

    let exit_status =
        number("_targetExitStatus").and_then(|status: u64| i64::try_from(status).ok());
    let process = TargetProcess {
        name,
        pid: number("_targetProcessPid").and_then(|pid| u32::try_from(pid).ok()),
        arguments: text("_arguments").filter(|arguments| !arguments.is_empty()),
        exit_status,
        termination: termination(info, exit_status),
    };

    match kind {
        Some(1) => Target::Launched(process),
        Some(2) => Target::Attached(process),
        _ => Target::Recorded(process),
    }
}

/// Returns the reason of the end, or `exit(0)` if the bundle has no special one.
fn termination(info: Object<'_>, exit_status: Option<i64>) -> Option<String> {
    let information = info.get("_targetTerminationInformation");
    let number = information.and_then(Object::integer);
    match (information.and_then(Object::text), number) {
        (Some(text), _) => Some(text.to_owned()),
        (None, Some(other @ 1..)) => Some(format!("termination {other}")),
        (None, _) => exit_status.map(|status| format!("exit({status})")),
    }
}

fn parse_device(info: Object<'_>) -> Option<Device> {
    let text = |name: &str| info.get(name).and_then(Object::text).map(str::to_owned);
    let device = Device {
        model: text("_targetModel"),
        os_version: text("_targetOperatingSystem"),
        platform: text("_targetPlatform"),
    };
    (device != Device::default()).then_some(device)
}

/// Parses the settings of all instruments.
fn parse_settings(info: Object<'_>) -> Vec<Setting> {
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

/// Returns the processes that ran, and the recorded one. The name of a process is the last part of
/// the path of its program.
fn parse_processes(run: Object<'_>) -> Vec<ListedProcess> {
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

/// Formats seconds since 1970 as `2026-03-30T21:37:20.646Z`.
fn date(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "`as` saturates, and no recording is from year 292 million"
    )]
    let milliseconds = (seconds * 1_000.0).round() as i64;
    date_of_milliseconds(milliseconds)
}

/// Formats nanoseconds since 1970 as `2026-03-30T21:37:20.646Z`.
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
    fn dates_are_formatted() {
        assert_eq!(date(0.0), "1970-01-01T00:00:00.000Z");
        assert_eq!(date(951_782_400.5), "2000-02-29T00:00:00.500Z");
        assert_eq!(date(1_774_906_640.646), "2026-03-30T21:37:20.646Z");
    }
}
