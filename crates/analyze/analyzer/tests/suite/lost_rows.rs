//! Tests recordings that lost rows, or have rows with impossible times: nothing becomes better by it, and
//! the report says so.

use std::path::Path;

use metalens_analyzer::{Report, Request, distrust};
use metalens_simulator::{Scenario, presets, random_scenario, write_export};

use super::findings::fixtures;
use super::real::recordings;
use super::{report, report_of};

const SCENARIO: &str = r#"
[[process]]
name = "bench"
pid = 12
role = "target"

[[process.stream]]
count = 40
duration = "20us"
"#;

const INTERVALS: &str = "metal-gpu-intervals";
const ENCODERS: &str = "metal-application-encoders-list";
const COMPLETIONS: &str = "metal-command-buffer-completed";
const DRIVER: &str = "metal-driver-intervals";

/// A change of the rows of a table.
type Edit<'a> = (&'a str, fn(&mut Vec<String>));

/// Returns the report of the scenario after changes of its tables.
fn edited(edits: &[Edit<'_>], to_ns: Option<u64>) -> Report {
    let folder = metalens_testing::scratch();
    let export = folder.path().join("export");
    let scenario = Scenario::from_toml(SCENARIO).unwrap();
    write_export(&scenario, &export, false).unwrap();
    for &(table, edit) in edits {
        edit_table(&export.join(format!("{table}.xml")), edit);
    }
    let request = Request {
        to_ns,
        ..Request::default()
    };
    report(&export, None, &request).unwrap()
}

fn edit_table(path: &Path, edit: fn(&mut Vec<String>)) {
    let document = std::fs::read_to_string(path).unwrap();
    let (head, rest) = document.split_once("<row>").unwrap();
    let (rows, tail) = rest.split_once("</node>").unwrap();
    let mut rows: Vec<String> = rows.split("<row>").map(str::to_owned).collect();
    edit(&mut rows);
    let rows: String = rows.iter().map(|row| format!("<row>{row}")).collect();
    std::fs::write(path, format!("{head}{rows}</node>{tail}")).unwrap();
}

/// Sets a number in the last row: the element with this tag, counted from 0.
fn set(rows: &mut [String], tag: &str, at: usize, number: u64) {
    let row = rows.last_mut().unwrap();
    let open = format!("<{tag} ");
    let mut starts = row.match_indices(&open).map(|(at, _)| at);
    let start = starts.nth(at).unwrap();
    let rest = &row[start..];
    let open = rest.find('>').unwrap();
    let end = if rest[..open].ends_with('/') {
        open + 1
    } else {
        let close = format!("</{tag}>");
        rest.find(&close).unwrap() + close.len()
    };
    let cell = format!("<{tag} id=\"9999999\" fmt=\"?\">{number}</{tag}>");
    row.replace_range(start..start + end, &cell);
}

/// Returns the loud notes, without the one that a simulator wrote the recording.
fn loud(report: &Report) -> Vec<String> {
    let loud = report.loud_notes().map(|note| note.id.clone());
    loud.filter(|id| id != "synthetic").collect()
}

fn is_ok(report: &Report, check: &str) -> Option<bool> {
    let mut checks = report.sanity.checks.iter();
    checks.find(|found| found.id == check).map(|check| check.ok)
}

/// Checks that nothing follows from a report but that it cannot be trusted.
fn assert_undecided(report: &Report, why: &str) {
    assert_eq!(report.verdict.bound, None);
    assert_eq!(report.verdict.why.text, format!("No verdict: {why}"));
    assert!(report.findings.iter().all(|finding| finding.gain.is_none()));
    assert!(
        !report.summary.advice.text.contains("faster"),
        "{:?}",
        report.summary
    );
    assert_eq!(
        distrust(report).map(|reason| reason.text),
        Some(why.to_owned())
    );
}

#[test]
fn command_buffers_without_an_interval_are_counted() {
    let check = |edits: &[Edit<'_>], to_ns, (without, all): (u64, u64), is_decided: bool| {
        let report = edited(edits, to_ns);
        let sanity = &report.sanity;
        let found = (sanity.buffers_without_interval, sanity.buffers_finished);
        assert_eq!(found, (Some(without), Some(all)));
        let is_lost = without > 0;
        assert_eq!(is_ok(&report, "command-buffers-ran"), Some(!is_lost));
        let expected: &[&str] = if is_lost { &["intervals-missing"] } else { &[] };
        assert_eq!(loud(&report), expected);
        assert_eq!(distrust(&report).is_none(), is_decided);
        if !is_decided {
            let lost = format!("{without} of {all} command buffers that completed");
            assert_undecided(&report, &format!("{lost} have no GPU interval"));
            assert_eq!(report.findings[0].id, "incomplete-recording");
        }
    };
    check(&[], None, (0, 40), true);
    let half: Edit<'_> = (INTERVALS, |rows| rows.truncate(20));
    check(&[half], None, (20, 40), false);
    // The first ten intervals end before 702 ms; what came after the window is not its matter.
    check(&[half], Some(701_780_000), (0, 10), true);
    // A single one may have had no work for the GPU.
    check(
        &[(INTERVALS, |rows| rows.truncate(39))],
        None,
        (1, 40),
        true,
    );
    // The recording ended before the work did.
    let completions: Edit<'_> = (COMPLETIONS, |rows| rows.truncate(20));
    check(&[half, completions], None, (0, 20), true);
    // Work that began before the recording has no encoding in it.
    check(
        &[half, (ENCODERS, |rows| rows.truncate(20))],
        None,
        (0, 20),
        true,
    );
}

/// Takes the process from GPU intervals, all but the first of which refer to one before.
fn without_processes(rows: &mut [String]) {
    for row in rows.iter_mut().skip(1).step_by(2) {
        while let Some(start) = row.find("<process ref=") {
            let end = start + row[start..].find("/>").unwrap() + 2;
            row.replace_range(start..end, "<sentinel/>");
        }
    }
}

#[test]
fn intervals_without_a_process_get_that_of_their_command_buffer() {
    let nameless: Edit<'_> = (INTERVALS, |rows| without_processes(rows));
    let [found, whole] = [&[nameless][..], &[]].map(|edits| edited(edits, None));
    assert_eq!(
        (&found.counts, &found.idle, &found.sanity, &found.verdict),
        (&whole.counts, &whole.idle, &whole.sanity, &whole.verdict)
    );

    // Nothing tells whose they are.
    let unlisted: Edit<'_> = (ENCODERS, |rows| rows.truncate(1));
    let report = edited(&[nameless, unlisted], None);
    assert_eq!(loud(&report), ["intervals-without-process"]);
    assert_undecided(
        &report,
        // The last one is after the window.
        "19 of 39 GPU intervals name no process, and may be of this one",
    );
}

/// Without one of the two tables nothing is claimed.
#[test]
fn buffers_without_an_interval_need_both_tables() {
    for table in [ENCODERS, COMPLETIONS] {
        let folder = metalens_testing::scratch();
        let scenario = Scenario::from_toml(SCENARIO).unwrap();
        write_export(&scenario, folder.path().join("export").as_path(), false).unwrap();
        let export = folder.path().join("export");
        std::fs::remove_file(export.join(format!("{table}.xml"))).unwrap();
        edit_table(&export.join(format!("{INTERVALS}.xml")), |rows| {
            rows.truncate(20);
        });
        let report = report(&export, None, &Request::default()).unwrap();
        assert_eq!(report.sanity.buffers_finished, None);
        assert_eq!(is_ok(&report, "command-buffers-ran"), None);
    }
}

#[test]
fn times_outside_of_the_recording_are_left_out() {
    let sound = edited(&[], None);
    let check = |edit: Edit<'_>| {
        let report = edited(&[edit], None);
        let (table, _) = edit;
        assert_eq!(report.sanity.rows_outside, Some(1), "{table}");
        assert_eq!(is_ok(&report, "rows-inside-recording"), Some(false));
        assert_undecided(&report, "1 row is outside of the recording");
        assert!(loud(&report).contains(&"rows-outside-recording".to_owned()));
        let start = format!("1 row of {table}: times outside of the recording");
        assert!(
            report
                .notes
                .iter()
                .any(|note| note.text().starts_with(&start)),
            "{:?}",
            report.notes
        );
        let reused = "committed several times";
        assert!(!report.notes.iter().any(|note| note.text().contains(reused)));
        assert_eq!(report.counts.reused_command_buffers, 0);
        report
    };

    let late = check((INTERVALS, |rows| set(rows, "start-time", 0, 99_999_000_000)));
    assert_eq!(late.counts.intervals, 39);
    assert!(late.window.end_ns < sound.window.end_ns);
    assert_eq!(late.sanity.buffers_without_interval, Some(1));

    let early = check((INTERVALS, |rows| {
        set(rows, "duration", 1, 1_000_000_000_000);
    }));
    assert_eq!(early.window, sound.window);
    let [found, expected] = [&early, &sound].map(|report| report.latency.submission.unwrap());
    assert_eq!((found.count, found.mean_ns), (39, expected.mean_ns));

    let long = check((ENCODERS, |rows| {
        set(rows, "duration", 0, 17_592_000_000_000);
    }));
    let [found, expected] = [&long, &sound].map(|report| report.latency.encoding.unwrap());
    assert_eq!(
        (found.count + 1, found.mean_ns),
        (expected.count, expected.mean_ns)
    );

    let completed = check((COMPLETIONS, |rows| {
        set(rows, "start-time", 0, 100_000_000_000);
    }));
    assert_eq!(completed.efficiency.program_ns, None);
    assert_eq!(completed.latency.completion.unwrap().count, 39);

    check((DRIVER, |rows| set(rows, "start-time", 0, 100_000_000_000)));
}

/// A few milliseconds after the end are no damage: the table of contents rounds the length, and some
/// tables end later.
#[test]
fn times_shortly_after_the_recording_are_kept() {
    let report = edited(
        &[(COMPLETIONS, |rows| {
            set(rows, "start-time", 0, 1_040_000_000);
        })],
        None,
    );
    assert_eq!(report.sanity.rows_outside, Some(0));
    assert_eq!(distrust(&report), None);
    assert_eq!(report.latency.completion.unwrap().count, 40);
}

/// One row with a wrong time in the recording is not a second commit.
#[test]
fn a_single_wrong_row_is_no_second_commit() {
    let check = |edit: Edit<'_>| {
        let report = edited(&[edit], None);
        assert_eq!(report.counts.reused_command_buffers, 0);
        assert!(report.latency.queue.is_some());
        assert_eq!(report.latency.completion.unwrap().count, 39);
        let contradiction = "metal-command-buffer-completed has times that contradict the commits \
                             of 1 command buffer, or each other; these completions are unknown";
        assert!(
            report.notes.iter().any(|note| note.text() == contradiction),
            "{:?}",
            report.notes
        );
    };
    check((INTERVALS, |rows| set(rows, "start-time", 0, 900_000_000)));
    check((COMPLETIONS, |rows| set(rows, "start-time", 0, 600_000_000)));
}

/// No sound recording is distrusted, whatever its program does.
#[test]
fn sound_recordings_are_not_distrusted() {
    let check = |name: &str, report: &Report| {
        let sanity = &report.sanity;
        // Of an interval that names nothing, the command buffer has none.
        let without = sanity.buffers_without_interval.unwrap_or(0);
        assert!(without <= sanity.rows_without_process, "{name}");
        assert_eq!(sanity.rows_outside.unwrap_or(0), 0, "{name}");
        let mut doubtful = sanity.doubtful.iter();
        assert!(
            doubtful.all(|rows| rows.rows <= sanity.rows_without_process),
            "{name}"
        );
        let mut notes = report.notes.iter();
        assert!(
            notes.all(|note| note.id != "several-tables"),
            "{name}: {:?}",
            report.notes
        );
    };

    let named = presets().iter().filter(|preset| preset.name != "million");
    let named = named.map(|preset| {
        (
            preset.name.to_owned(),
            Scenario::preset(preset.name).unwrap(),
        )
    });
    let random = (0..40).map(|seed| (format!("random {seed}"), random_scenario(seed)));
    let mut scenarios: Vec<(String, Scenario)> = named.chain(random).collect();
    for folder in std::fs::read_dir(fixtures()).unwrap() {
        let path = folder.unwrap().path().join("fires.toml");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let scenario = Scenario::from_toml(&text).ok();
        scenarios.extend(scenario.map(|scenario| (path.display().to_string(), scenario)));
    }
    let mut checked = 0;
    for (name, scenario) in &scenarios {
        if let Ok(report) = report_of(scenario, &Request::default()) {
            check(name, &report);
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");

    let Some(recordings) = recordings() else {
        return;
    };
    for folder in [
        "m1-launched-1000",
        "m1-bundle-and-export/export",
        "m1-bundle-and-export/gpu_baseline.trace",
        "m1-metal-with-cpu-samples",
        "m2-counters-bundle/julia_1.trace",
    ] {
        let report = report(&recordings.join(folder), None, &Request::default()).unwrap();
        check(folder, &report);
    }
}
