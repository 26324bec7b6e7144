//! Chooses the path at which a recording is saved.

use std::path::{Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use time::{Duration, UtcDateTime};

use super::arguments::{AttachTo, RecordOrder, RecordTarget};
use super::misbehavior::Misbehavior;
use super::session::Session;
use super::settings::{Exit, USAGE};

/// Returns the path of the bundle. It must not exist, unless a run is appended.
pub(super) fn find(order: &RecordOrder, session: &mut Session<'_>) -> Result<PathBuf, Exit> {
    let path = requested(order, session)?;
    let is_taken = path.symlink_metadata().is_ok() && !order.append_run;
    if is_taken || session.misbehaves(Misbehavior::OutputExists) {
        session.print_error(&format!("Trace file already exists: {}", path.display()));
        return Err(Exit::Code(1));
    }
    Ok(path)
}

/// Returns the path of the bundle: the requested one, or a unique name in the requested folder.
fn requested(order: &RecordOrder, session: &mut Session<'_>) -> Result<PathBuf, Exit> {
    match &order.output {
        None => Ok(unique(order).into()),
        Some(output) if is_bundle(output) => match output.file_name() {
            Some(name) if session.misbehaves(Misbehavior::BasenameInCwd) => Ok(name.into()),
            _ => Ok(output.clone()),
        },
        Some(output) if output.is_dir() => Ok(output.join(unique(order))),
        Some(output) => {
            // No source says what the real tool does with any other name.
            let problem = format!("Neither a folder nor a .trace: {}", output.display());
            session.print_error(&problem);
            Err(Exit::Code(USAGE))
        }
    }
}

fn is_bundle(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "trace")
}

/// Returns `Launch_<name>_<date>_<8 hex>.trace`. The form of the date is a guess.
fn unique(order: &RecordOrder) -> String {
    let prefix = match &order.target {
        RecordTarget::AllProcesses => "AllProcesses".to_owned(),
        RecordTarget::Attach(AttachTo::Pid(pid)) => format!("Attach_{pid}"),
        RecordTarget::Attach(AttachTo::Name(name)) => format!("Attach_{name}"),
        RecordTarget::Launch { program, .. } => {
            let name = program.file_name().unwrap_or_default();
            format!("Launch_{}", name.to_string_lossy())
        }
    };

    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let unique = process::id() ^ now.subsec_nanos();
    format!("{prefix}_{}_{unique:08X}.trace", date(now.as_secs()))
}

/// Returns a moment as `2026-01-31_08.15.00`, in UTC.
fn date(since_1970_s: u64) -> String {
    let seconds = i64::try_from(since_1970_s).unwrap_or(i64::MAX);
    let moment = UtcDateTime::UNIX_EPOCH.saturating_add(Duration::seconds(seconds));
    let (year, month, day) = moment.date().to_calendar_date();
    let (hour, minute, second) = moment.time().as_hms();
    format!(
        "{year}-{:02}-{day:02}_{hour:02}.{minute:02}.{second:02}",
        u8::from(month)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_in_utc() {
        // The expected texts come from `date -u -d @N`.
        let cases = [
            (0, "1970-01-01_00.00.00"),
            (951_782_399, "2000-02-28_23.59.59"),
            (951_782_400, "2000-02-29_00.00.00"),
            (1_767_225_599, "2025-12-31_23.59.59"),
            (1_772_323_200, "2026-03-01_00.00.00"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(date(seconds), expected);
        }
    }
}
