//! Where a recording is saved.

use std::path::{Path, PathBuf};
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use time::{Duration, UtcDateTime};

use super::arguments::{RecordOrder, Subject, Whom};
use super::stage::Stage;
use super::{Ending, Misbehaviour, USAGE};

/// The bundle to write, which does not exist unless a run is appended.
pub(super) fn find(order: &RecordOrder, stage: &mut Stage<'_>) -> Result<PathBuf, Ending> {
    let place = asked(order, stage)?;
    let taken = place.symlink_metadata().is_ok() && !order.append_run;
    if taken || stage.does(Misbehaviour::OutputExists) {
        stage.complain(&format!("Trace file already exists: {}", place.display()));
        return Err(Ending::Code(1));
    }
    Ok(place)
}

fn asked(order: &RecordOrder, stage: &mut Stage<'_>) -> Result<PathBuf, Ending> {
    let is_bundle = |path: &Path| {
        path.extension()
            .is_some_and(|extension| extension == "trace")
    };
    match &order.output {
        None => Ok(unique(order).into()),
        Some(output) if is_bundle(output) => match output.file_name() {
            Some(name) if stage.does(Misbehaviour::BasenameInCwd) => Ok(name.into()),
            _ => Ok(output.clone()),
        },
        Some(output) if output.is_dir() => Ok(output.join(unique(order))),
        Some(output) => {
            // What becomes of any other name no source tells.
            let problem = format!("Neither a folder nor a .trace: {}", output.display());
            stage.complain(&problem);
            Err(Ending::Code(USAGE))
        }
    }
}

/// `Launch_<name>_<date>_<8 hex>.trace`; how the date is written is a guess.
fn unique(order: &RecordOrder) -> String {
    let what = match &order.subject {
        Subject::AllProcesses => "AllProcesses".to_owned(),
        Subject::Attach(Whom::Pid(pid)) => format!("Attach_{pid}"),
        Subject::Attach(Whom::Name(name)) => format!("Attach_{name}"),
        Subject::Launch { program, .. } => {
            let name = program.file_name().unwrap_or_default();
            format!("Launch_{}", name.to_string_lossy())
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let unique = process::id() ^ now.subsec_nanos();
    format!("{what}_{}_{unique:08X}.trace", date(now.as_secs()))
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
    fn dates() {
        // From `date -u -d @N`.
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
