//! Reads the issues that Instruments wrote into a bundle.

use super::files::{Files, SMALL};
use super::sqlite::{Database, Fault, Value};
use crate::error::Result;
use crate::note::TraceNote;
use crate::run_issue::{IssueSeverity, RunIssue};

/// Maximum number of issues. Real recordings have at most three.
const MAX_ISSUES: usize = 10;
/// Maximum length of a message, in characters. Real ones have at most 150.
const MAX_LENGTH: usize = 300;

/// Returns the issues of a run that good recordings do not have, the errors first. Adds a note if
/// they cannot be read, because the recording can be.
pub(crate) fn read(files: &Files, run: u64, notes: &mut Vec<TraceNote>) -> Vec<RunIssue> {
    let issues = read_stored(files, run);
    issues.unwrap_or_else(|error| {
        notes.push(files.unreadable(&error));
        Vec::new()
    })
}

fn read_stored(files: &Files, run: u64) -> Result<Vec<RunIssue>> {
    let path = format!("Trace{run}.run/RunIssues.storedata");
    let log = format!("{path}-wal");
    let refused = |path: &str, detail: Fault| files.unsupported(path, detail);

    // Instruments moves the changes of this file into the database when it saves the recording.
    if files.try_exists(&log)? && !files.read_up_to(&log, 1, SMALL)?.is_empty() {
        return Err(refused(
            &log,
            "it has changes of a database that was not closed",
        ));
    }
    if !files.try_exists(&path)? {
        return Ok(Vec::new());
    }

    let bytes = files.read(&path, SMALL)?;
    let rows = Database::open(&bytes).and_then(|database| database.rows("ZISSUE", COLUMNS));
    let rows = rows.map_err(|fault| refused(&path, fault))?;
    let rows = rows.ok_or_else(|| refused(&path, "it has no table ZISSUE"))?;
    let mut issues: Vec<RunIssue> = Vec::new();
    for issue in rows.into_iter().filter_map(parse) {
        if !issues.contains(&issue) {
            issues.push(issue);
        }
    }
    issues.sort_by_key(|issue| issue.severity);
    issues.truncate(MAX_ISSUES);
    Ok(issues)
}

const COLUMNS: [&str; 2] = ["ZTYPE", "ZMESSAGE"];

/// Returns an error or a warning. Other rows are information.
fn parse([kind, message]: [Value; 2]) -> Option<RunIssue> {
    let (Value::Integer(kind), Value::Text(message)) = (kind, message) else {
        return None;
    };
    let severity = match kind {
        0 => IssueSeverity::Error,
        1 => IssueSeverity::Warning,
        _ => return None,
    };
    let words: Vec<&str> = message.split_whitespace().collect();
    let message: String = words.join(" ").chars().take(MAX_LENGTH).collect();
    let issue = RunIssue { severity, message };
    (!issue.is_harmless() && !issue.message.is_empty()).then_some(issue)
}
