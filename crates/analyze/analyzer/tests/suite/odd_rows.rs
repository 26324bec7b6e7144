//! Tests of rows that no recording should have: notes about them, and rejected tables.

use metalens_analyzer::{Error, Request};
use metalens_message::{Ns, SignedNs};

use super::report;
use super::windows::tables::{ANALYZED, Interval, Tables};
use super::write_table;
use metalens_testing::table_document;

/// Returns an interval of the process from 100 to 110 ns, of command buffer 1 and encoder 1.
fn plain_interval() -> Interval {
    Interval {
        start: 100,
        duration: 10,
        process: ANALYZED,
        buffer: 1,
        encoder: 1,
        latency: Some(30),
    }
}

/// A program that the recorder attached to may have committed work before.
#[test]
fn a_commit_before_the_recording_counts() {
    let tables = Tables {
        intervals: vec![Interval {
            latency: Some(5_000),
            ..plain_interval()
        }],
        ..Tables::default()
    };
    let report = tables.report(None, None).unwrap();
    assert_eq!(report.latency.submission.unwrap().max_ns, SignedNs(5_000));
    assert_eq!(report.latency.queue.unwrap().mean_depth, 1.0);
}

/// Returns the notes on contradictions in a recording with these completions and encodings.
fn notes(completions: &[(u64, u64)], encodings: &[(u64, u64, u64)]) -> Vec<String> {
    let tables = Tables {
        intervals: vec![plain_interval()],
        completions: completions.to_vec(),
        encodings: encodings.to_vec(),
        ..Tables::default()
    };
    let notes = tables.report(None, None).unwrap().notes;
    let about = ["different time", "several times", "contradict"];
    let contradictions = notes.into_iter();
    let contradictions = contradictions.map(|note| note.message.text);
    let contradictions = contradictions.filter(|note| about.iter().any(|it| note.contains(it)));
    contradictions.collect()
}

#[test]
fn contradicting_rows_make_notes() {
    assert!(notes(&[(1, 130), (1, 130), (2, 5)], &[(1, 50, 4), (1, 50, 4)]).is_empty());
    // Command buffer 2 is not of the process.
    assert!(notes(&[(1, 130), (2, 5), (2, 6)], &[(1, 50, 4)]).is_empty());
    let found = notes(&[(1, 130), (1, 131), (1, 129)], &[(1, 50, 4), (1, 50, 5)]);
    let expected = [
        "metal-command-buffer-completed has times that contradict the commits of 1 command buffer, \
         or each other; these completions are unknown",
        "metal-application-encoders-list has a second, different time for the same encoder in 1 \
         row; these encodings are unknown",
    ];
    assert_eq!(found, expected);
}

#[test]
fn buffers_without_a_commit_make_a_note() {
    let queue_and_notes = |latencies: [Option<u64>; 2]| {
        let interval = |(latency, buffer)| Interval {
            latency,
            buffer,
            ..plain_interval()
        };
        let tables = Tables {
            intervals: latencies.into_iter().zip(1..).map(interval).collect(),
            ..Tables::default()
        };
        let report = tables.report(None, None).unwrap();
        let notes = report.notes.into_iter().map(|note| note.message.text);
        let notes = notes.filter(|note| note.contains("the commits of"));
        (report.latency.queue.is_some(), notes.collect::<Vec<_>>())
    };
    assert_eq!(queue_and_notes([Some(3), Some(4)]), (true, vec![]));
    // Without any commit there is no queue depth, and no note about it.
    assert_eq!(queue_and_notes([None, None]), (false, vec![]));
    let note = "the commits of 1 of 2 command buffers are not recorded; submission latency, commit \
                interval and queue depth leave these buffers out";
    assert_eq!(
        queue_and_notes([Some(3), None]),
        (true, vec![note.to_owned()])
    );
}

/// Sums never saturate: a table with longer times is rejected, or left out if the report does not
/// require it.
#[test]
fn impossible_times_are_rejected() {
    const LONGEST: u64 = 1 << 53;
    let report_of = |start: u64, duration: u64, rows: usize| {
        let row = Interval {
            start,
            duration,
            ..plain_interval()
        };
        let tables = Tables {
            intervals: vec![row; rows],
            ..Tables::default()
        };
        tables.report(None, None)
    };
    let fine = report_of(LONGEST, LONGEST, 1_023).unwrap();
    assert_eq!(fine.busy.sum_ns, Ns(LONGEST * 1_023));
    assert_eq!(
        (fine.busy.busy_ns, fine.window.end_ns),
        (Ns(LONGEST), Ns(LONGEST * 2))
    );
    for (start, duration, rows) in [
        (LONGEST + 1, 1, 1),
        (1, LONGEST + 1, 1),
        (1, LONGEST, 1_024),
    ] {
        let error = report_of(start, duration, rows).unwrap_err();
        assert!(matches!(error, Error::ImpossibleTimes { .. }), "{error}");
        assert!(
            error.to_string().starts_with("metal-gpu-intervals: "),
            "{error}"
        );
    }

    let folder = metalens_testing::scratch();
    let tables = Tables {
        intervals: vec![plain_interval()],
        ..Tables::default()
    };
    tables.write(folder.path());
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("process", "process"),
    ];
    let row = |duration: u64| vec!["1".to_owned(), duration.to_string(), ANALYZED.to_owned()];
    let request = Request {
        processes: vec!["bench".to_owned()],
        ..Request::default()
    };
    for (duration, is_known) in [(5, true), (LONGEST + 1, false)] {
        write_table(folder.path(), "potential-hangs", &columns, &[row(duration)]);
        let report = report(folder.path(), None, &request).unwrap();
        assert_eq!(report.machine.hangs.is_some(), is_known);
        let note = report
            .notes
            .iter()
            .find(|note| note.text().contains("104 days"));
        assert_eq!(note.is_none(), is_known, "{:?}", report.notes);
        let mut not_recorded = report.not_recorded.iter();
        let why = not_recorded.find(|part| part.what == "machine.hangs");
        assert_eq!(why.is_none(), is_known);
        assert!(
            why.is_none_or(|part| part.why.text.contains("104 days")),
            "{why:?}"
        );
    }
}

/// A table that takes the place of another of its name is said, whichever it is.
#[test]
fn a_table_beside_another_of_its_name_makes_a_note() {
    let folder = metalens_testing::scratch();
    let tables = Tables {
        intervals: vec![plain_interval()],
        ..Tables::default()
    };
    tables.write(folder.path());
    let request = Request {
        processes: vec!["bench".to_owned()],
        ..Request::default()
    };
    let columns = [("time", "sample-time"), ("process", "process")];
    let note_with = |rows: [usize; 2]| {
        for (position, rows) in (300..).zip(rows) {
            let rows = vec![["105".to_owned(), ANALYZED.to_owned()]; rows];
            let document = table_document(position, "time-profile", &columns, &rows);
            let file = format!("time-profile.table-{position}.xml");
            std::fs::write(folder.path().join(file), document).unwrap();
        }
        let notes = report(folder.path(), None, &request).unwrap().notes;
        notes
            .into_iter()
            .find(|note| note.text().contains("time-profile"))
    };
    assert_eq!(note_with([1, 0]), None, "an empty one takes nothing away");
    let note = "the run has 2 tables named time-profile; the largest, with 3 rows, was used";
    assert_eq!(
        note_with([1, 3])
            .as_ref()
            .map(metalens_analyzer::Note::text),
        Some(note)
    );
}

/// A recording with more channels than any GPU has is refused: some steps look at each of them.
#[test]
fn too_many_channels_are_refused() {
    let columns = [
        ("start", "start-time"),
        ("duration", "duration"),
        ("process", "process"),
        ("channel-name", "string"),
    ];
    let check = |channels: usize, expected: Option<&str>| {
        let folder = metalens_testing::scratch();
        let row = |at: usize| {
            let texts = [
                &(10 * at).to_string(),
                "5",
                ANALYZED,
                &format!("channel {at}"),
            ];
            texts.map(str::to_owned).to_vec()
        };
        let rows: Vec<_> = (0..channels).map(row).collect();
        write_table(folder.path(), "metal-gpu-intervals", &columns, &rows);
        let error = report(folder.path(), None, &Request::default()).err();
        assert_eq!(error.map(|error| error.to_string()).as_deref(), expected);
    };
    check(64, None);
    check(65, Some("table metal-gpu-intervals: more than 64 channels"));
}
