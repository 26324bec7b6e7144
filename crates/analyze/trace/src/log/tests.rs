use std::fmt::Write as _;

use super::*;
use crate::table::Table;

const HEADER: &str =
    r#"{"format":"command-buffer-log/1","program":"engine","pid":7,"device":"Apple M3"}"#;

/// Returns a command buffer with the keys that it needs, and more.
fn buffer(number: u64, more: &str) -> String {
    let start = number * 100;
    format!(
        r#"{{"command_buffer":{number},"commit":{start},"gpu_start":{},"gpu_end":{}{more}}}"#,
        start + 10,
        start + 50
    )
}

fn load(log: &str) -> Result<PartialTrace> {
    let mut trace = PartialTrace::default();
    let everything = Selection::everything();
    read(log.as_bytes(), "run.jsonl", &everything, true, &mut trace)?;
    Ok(trace)
}

/// Draws the tables, a line for each row.
fn drawn(trace: &PartialTrace) -> String {
    let mut text = String::new();
    for table in &trace.tables {
        writeln!(text, "{}", table.schema.name).unwrap();
        for row in 0..table.rows() {
            writeln!(text, "  {}", cells(table, row, &trace.names)).unwrap();
        }
    }
    text
}

fn cells(table: &Table, row: usize, names: &Names) -> String {
    use crate::table::Column;
    let cell = |column: &Column| match column {
        Column::Integers(values) => values.get(row).map(|number| number.to_string()),
        Column::Texts(values) => values[row].map(|text| names.text(text).to_owned()),
        Column::Threads(values) => values[row]
            .and_then(|id| names.thread(id))
            .map(|thread| names.text(thread.display).to_owned()),
        _ => Some("…".to_owned()),
    };
    let shown = table
        .columns()
        .filter(|(spec, _)| spec.mnemonic != "process");
    let shown = shown.map(|(spec, column)| {
        let value = cell(column).unwrap_or_else(|| "–".to_owned());
        format!("{} {value}", spec.mnemonic)
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn check(lines: &[&str], tables: &str, notes: &[&str]) {
    let trace = load(&format!("{HEADER}\n{}", lines.join("\n"))).unwrap();
    let expected: String = tables
        .lines()
        .map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)))
        .collect();
    assert_eq!(drawn(&trace), expected.trim_start_matches('\n'));
    let found: Vec<&str> = trace.notes.iter().map(|note| note.kind().id).collect();
    assert_eq!(found, notes);
}

#[test]
fn a_command_buffer_without_times_of_its_encoders_is_one_interval() {
    check(
        &[
            r#"{"command_buffer":1,"queue":1,"thread":259,"label":"step","encode":1000,"commit":2000,"scheduled":2100,"gpu_start":3000,"gpu_end":9000,"completed":9500,"encoders":[{"kind":"compute","kernels":{"gemm":12,"softmax":1}},{"kind":"compute","label":"tail","kernels":{"gemm":1}}]}"#,
            r#"{"phase":"decode","start":900,"end":9600}"#,
            r#"{"wait":1,"start":2050,"end":9550,"thread":259}"#,
            r#"{"end":9700,"command_buffers":1}"#,
        ],
        "
    metal-gpu-intervals
      start 2100, duration 6000, cmdbuffer-id 1, encoder-id 1, channel-name Compute, event-label step:tail, start-latency 1000, gpu Apple M3
    metal-application-encoders-list
      start 100, duration 1000, thread Thread 0x103, cmdbuffer-id 1, encoder-id 1, cmdbuffer-label step, encoder-label tail
    metal-command-buffer-completed
      timestamp 8600, cmdbuffer-id 1
    OSSignpostIntervals
      start 0, duration 8700, name decode
    command-buffer-log-dispatches
      encoder-id 1, function gemm, kind Compute, dispatches 12
      encoder-id 1, function softmax, kind Compute, dispatches 1
      encoder-id 1, function gemm, kind Compute, dispatches 1
    command-buffer-log-waits
      start 1150, duration 7500, cmdbuffer-id 1, thread Thread 0x103
",
        &[],
    );
}

#[test]
fn sampled_times_of_encoders_are_intervals_if_they_lie_in_their_command_buffer() {
    let encoders = |first: u64, last: u64| {
        format!(
            r#","encoders":[{{"kind":"compute","gpu_start":{first},"gpu_end":130}},{{"kind":"blit","gpu_start":135,"gpu_end":{last}}}]"#
        )
    };
    let end = r#"{"end":300,"command_buffers":1}"#;
    check(
        &[&buffer(1, &encoders(112, 149)), end],
        "
    metal-gpu-intervals
      start 12, duration 18, cmdbuffer-id 1, encoder-id 1, channel-name Compute, event-label :, start-latency 12, gpu Apple M3
      start 35, duration 14, cmdbuffer-id 1, encoder-id 2, channel-name Compute, event-label :Blit Command 0, start-latency 35, gpu Apple M3
",
        &[],
    );
    // Four nanoseconds are a tenth of the command buffer: five are more.
    check(
        &[&buffer(1, &encoders(105, 149)), end],
        "
    metal-gpu-intervals
      start 10, duration 40, cmdbuffer-id 1, encoder-id 1, channel-name Compute, event-label :, start-latency 10, gpu Apple M3
",
        &["sampled-times-outside"],
    );
}

/// The clocks of an encoder and of its command buffer differ a little: the first time of the log may be
/// that of an encoder.
#[test]
fn a_sampled_time_may_be_the_first_of_a_log() {
    check(
        &[
            r#"{"command_buffer":1,"commit":1000,"gpu_start":1001,"gpu_end":2001,"encoders":[{"kind":"compute","gpu_start":950,"gpu_end":1901}]}"#,
            r#"{"end":3000,"command_buffers":1}"#,
        ],
        "
    metal-gpu-intervals
      start 0, duration 951, cmdbuffer-id 1, encoder-id 1, channel-name Compute, event-label :, start-latency –, gpu Apple M3
",
        &[],
    );
}

#[test]
fn what_a_log_lacks_is_said() {
    let interval = "
    metal-gpu-intervals
      start 10, duration 40, cmdbuffer-id 1, encoder-id 1, channel-name Compute, event-label :, start-latency 10, gpu Apple M3
";
    let whole = buffer(1, "");
    check(&[&whole], interval, &["truncated"]);
    check(
        &[&whole, r#"{"command_buffer":2,"com"#],
        interval,
        &["truncated"],
    );
    check(
        &[
            &whole,
            r#"{"note":"class X is not known"}"#,
            r#"{"end":400,"command_buffers":1,"lost":2}"#,
        ],
        interval,
        &["note-of-the-writer", "command-buffers-lost"],
    );
    // Its number is missing.
    check(
        &[&buffer(2, ""), r#"{"end":400,"command_buffers":1}"#],
        &interval.replace("cmdbuffer-id 1", "cmdbuffer-id 2"),
        &["command-buffers-lost"],
    );
    check(
        &[
            r#"{"command_buffer":1,"commit":100,"error":"out of memory"}"#,
            r#"{"end":300,"command_buffers":1}"#,
        ],
        "
    metal-gpu-intervals
    metal-command-buffer-error
      timestamp 0, cmdbuffer-id 1, error out of memory
",
        &[],
    );
    check(
        &[
            &buffer(1, r#","encoders":[{"kind":"compute","upper_bound":true}]"#),
            r#"{"end":300,"command_buffers":1,"cost_ns_per_command_buffer":900}"#,
        ],
        interval,
        &["times-are-upper-bounds"],
    );
}

/// Cut in a line, at its end, without its end, or as compressed content: a cut log needs permission.
#[test]
fn a_cut_log_is_refused() {
    let log = format!(
        "{HEADER}\n{}\n{}\n{{\"end\":900,\"command_buffers\":2}}\n",
        buffer(1, ""),
        buffer(2, "")
    );
    let read = |log: &[u8], allow_truncated| {
        let mut trace = PartialTrace::default();
        let everything = Selection::everything();
        read(log, "run.jsonl", &everything, allow_truncated, &mut trace).map(|()| trace)
    };
    assert!(read(log.as_bytes(), false).is_ok());
    for end in HEADER.len() + 1..log.len() - 1 {
        let cut = &log.as_bytes()[..end];
        let error = read(cut, false).err().expect("refused");
        assert!(
            matches!(error.problem(), Problem::Truncated { .. }),
            "{end}"
        );
        let trace = read(cut, true).unwrap();
        let rows = trace.tables[0].rows();
        let [note] = &trace.notes[..] else {
            panic!("{end}: {:?}", trace.notes)
        };
        assert!(matches!(note, TraceNote::Truncated { rows: read, .. } if *read == rows));
    }
    let error = read(&log.as_bytes()[..log.len() - 3], false).err().unwrap();
    assert_eq!(
        error.to_string(),
        "run.jsonl, table command-buffer log: the document is cut off after 2 complete rows"
    );
}

/// Lost command buffers are those that the end counts, or whose numbers are missing.
#[test]
fn lost_command_buffers_are_counted_once() {
    let check = |numbers: &[u64], lost: u64, expected: Option<(u64, u64)>| {
        let buffers: String = numbers
            .iter()
            .map(|&number| buffer(number, "") + "\n")
            .collect();
        let count = numbers.len();
        let end = format!(r#"{{"end":9999,"command_buffers":{count},"lost":{lost}}}"#);
        let trace = load(&format!("{HEADER}\n{buffers}{end}\n")).unwrap();
        let found = trace.notes.iter().find_map(|note| match note {
            TraceNote::LogLost { lost, all } => Some((*lost, *all)),
            _ => None,
        });
        assert_eq!(found, expected, "{numbers:?} {lost}");
    };
    check(&[2, 1, 3], 0, None);
    check(&[1, 3, 5], 0, Some((2, 5)));
    check(&[1, 3, 5], 2, Some((2, 5)));
    check(&[1, 3, 5], 4, Some((4, 7)));
    check(&[1, 2], 198, Some((198, 200)));
    check(&[], 3, Some((3, 3)));
    check(&[1], u64::MAX, Some((u64::MAX, u64::MAX)));
}

#[test]
fn facts_of_the_header_are_facts_of_the_run() {
    let header = r#"{"program":"engine","pid":7,"format":"command-buffer-log/1","writer":"engine 2","arguments":["-m","x"],"os":"26.1 (25B78)","started":"2026-11-24T10:00:00Z","synthetic":true}"#;
    let run = load(header).unwrap().run.unwrap();
    let target = run.target.process().unwrap();
    assert_eq!((target.name.as_str(), target.pid), ("engine", Some(7)));
    assert_eq!(target.arguments.as_deref(), Some("-m x"));
    assert_eq!(
        run.template.as_deref(),
        Some("command-buffer log of engine 2")
    );
    assert_eq!(run.start_date.as_deref(), Some("2026-11-24T10:00:00Z"));
    assert!(run.synthetic);
}

#[test]
fn logs_are_recognized_whatever_their_version_is() {
    assert!(is_log(HEADER.as_bytes()));
    assert!(is_log(HEADER.replace("log/1", "log/2").as_bytes()));
    assert!(!is_log(
        b"{\"note\":1}\n{\"format\":\"command-buffer-log/1\"}"
    ));
    assert!(!is_log(b"{\"schema\":\"metalens.report/1\"}"));
    assert!(is_log(buffer(1, "").as_bytes()), "its header is missing");
}

/// The commits of a log and its GPU times may be of two clocks, which no single command buffer shows.
#[test]
fn two_clocks_are_refused() {
    let load_late = |late: &[u64]| {
        let buffers = (1..).zip(late).map(|(number, late)| {
            let start = 1_000 + late * 1_000_000_000;
            format!(r#"{{"command_buffer":{number},"commit":1000,"gpu_start":{start},"gpu_end":{start}}}"#)
        });
        let buffers: Vec<String> = buffers.collect();
        load(&format!("{HEADER}\n{}\n", buffers.join("\n")))
    };
    let error = load_late(&[601, 7_200]).err().unwrap().to_string();
    assert!(error.contains("all times are of one clock"), "{error}");
    assert!(load_late(&[601, 600]).is_ok());
}

/// Times in milliseconds would give a report with a verdict.
#[test]
fn times_of_another_unit_are_refused() {
    let load_each = |length: u64| {
        let buffers = (1..=30).map(|number| {
            let at = 1_000_000 + number * 2 * length;
            let end = at + length;
            format!(
                r#"{{"command_buffer":{number},"commit":{at},"gpu_start":{at},"gpu_end":{end}}}"#
            )
        });
        let buffers: Vec<String> = buffers.collect();
        let end = r#"{"end":9000000,"command_buffers":30}"#;
        load(&format!("{HEADER}\n{}\n{end}\n", buffers.join("\n")))
    };
    assert!(load_each(1_000).is_ok());
    let error = load_each(15).err().unwrap().to_string();
    let said = "no GPU work of 30 command buffers takes more than 15 ns: times are nanoseconds";
    assert!(error.contains(said), "{error}");
}

#[test]
fn the_documented_log_is_read() {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/command-buffer-log.md"
    );
    let page = std::fs::read_to_string(page).unwrap();
    let log = page
        .split("```json\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let trace = load(log).unwrap();
    assert_eq!(trace.notes, []);
    assert_eq!(trace.run.unwrap().duration_ns, Some(8700));
}

#[test]
fn damaged_logs_are_refused_with_line_and_key() {
    let end = r#"{"end":900,"command_buffers":1}"#;
    let whole = buffer(1, "");
    let cases: &[(&[&str], &str)] = &[
        (&[], "line 1: the line ends before its object does"),
        (&[&whole], ""),
        (
            &[HEADER, &whole, &whole],
            "line 3: command_buffer 1 is in the log twice",
        ),
        (
            &[HEADER, &buffer(0, "")],
            "line 2: commit: the time is 0: leave out a time that is unknown",
        ),
        (
            &[HEADER, &buffer(1, r#","labl":"x""#)],
            "line 2: labl: unknown field `labl`",
        ),
        (
            &[HEADER, &buffer(1, r#","queue":0"#)],
            "line 2: queue: numbers begin at 1",
        ),
        (
            &[HEADER, &buffer(1, r#","queue":"a""#)],
            "line 2: queue: invalid type: string \"a\", expected a whole number",
        ),
        (
            &[HEADER, &buffer(1, r#","encode":101"#)],
            "line 2: commit (100) is before encode (101)",
        ),
        (
            &[HEADER, &buffer(1, r#","completed":149"#)],
            "line 2: completed (149) is before gpu_end (150)",
        ),
        (
            &[HEADER, &buffer(1, r#","scheduled":99"#)],
            "line 2: scheduled (99) is before commit (100)",
        ),
        (
            &[HEADER, &buffer(1, r#","completed":1.5"#)],
            "line 2: completed: invalid type: floating point `1.5`, expected a whole number",
        ),
        (
            &[HEADER, &buffer(1, r#","completed":-5"#)],
            "line 2: completed: invalid value: integer `-5`, expected a whole number",
        ),
        (
            &[HEADER, &buffer(1, r#","completed":9000000000000000000"#)],
            "line 2: completed: the time 9000000000000000000 is later than",
        ),
        (
            &[HEADER, r#"{"command_buffer":1,"commit":1}"#],
            "line 2: gpu_start and gpu_end are missing, and there is no error",
        ),
        (
            &[
                HEADER,
                r#"{"command_buffer":1,"commit":1,"gpu_end":2,"error":"x"}"#,
            ],
            "line 2: only one of gpu_start and gpu_end is there",
        ),
        (
            &[
                HEADER,
                &buffer(1, r#","encoders":[{"kind":"compute"},{"kind":"ray"}]"#),
            ],
            "line 2: encoders[1].kind: unknown variant `ray`",
        ),
        (
            &[
                HEADER,
                &buffer(1, r#","encoders":[{"kind":"compute","gpu_end":120}]"#),
            ],
            "line 2: encoders[0]: only one of gpu_start and gpu_end is there",
        ),
        (
            &[
                HEADER,
                &buffer(
                    1,
                    r#","encoders":[{"kind":"compute","kernels":{"a":1,"a":2}}]"#,
                ),
            ],
            "line 2: encoders[0].kernels: \"a\" is there twice",
        ),
        (
            &[
                HEADER,
                &buffer(1, r#","encoders":[{"kind":"compute","kernels":["a"]}]"#),
            ],
            "line 2: encoders[0].kernels: invalid type: sequence, expected an object of functions",
        ),
        (
            &[HEADER, r#"{"phase":"a","start":5,"end":4}"#],
            "line 2: end (4) is before start (5)",
        ),
        (
            &[HEADER, r#"{"wait":1,"start":5}"#],
            "line 2: missing field `end`",
        ),
        (
            &[HEADER, r#"{"kernel":"a"}"#],
            "line 2: the object has none of the keys",
        ),
        (&[HEADER, HEADER], "line 2: there is a second header"),
        (
            &[HEADER, "", &whole],
            "line 2: the line is empty: each is a JSON object",
        ),
        (
            &[HEADER, &whole, r#"{"end":149,"command_buffers":1}"#],
            "line 3: end (149) is before the last time of the log (150)",
        ),
        (
            &[
                HEADER,
                &whole,
                r#"{"command_buffer":2,"commit":1700000000000000000,"gpu_start":1700000000000000001,"gpu_end":1700000000000000002}"#,
            ],
            "line 3: its times are more than a hundred days from others of the log",
        ),
        (
            &[&whole, HEADER],
            "line 1: the first line is the header, an object with format, program and pid",
        ),
        (
            &[HEADER, &whole, end, &buffer(2, "")],
            "line 4: there is a line after the end of the log",
        ),
        (
            &[HEADER, end],
            "line 2: the end counts 1 command buffers, but the log has 0",
        ),
        (&[HEADER, "[1]"], "line 2: a line is a JSON object"),
        (
            &[HEADER, r#"{"command_buffer":1,"com"#, &whole],
            "line 2: the line ends before its object does",
        ),
        (
            &[&HEADER.replace("log/1", "log/2"), &whole],
            "line 1: the format is \"command-buffer-log/2\"; metalens reads \"command-buffer-log/1\"",
        ),
    ];
    for (lines, expected) in cases {
        let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let error = load(&log).err().expect(expected).to_string();
        let expected = format!("run.jsonl, {expected}");
        assert!(
            error.starts_with(&expected) || expected == "run.jsonl, ",
            "{error}\n{expected}"
        );
    }
}

/// Cuts a log at every byte, and changes each byte in several ways: nothing of that is a panic, and a cut
/// loses the last line alone.
#[test]
fn damage_of_any_kind_is_an_error_or_a_note() {
    let log = format!(
        "{HEADER}\n{}\n{}\n{{\"phase\":\"a\",\"start\":1,\"end\":2}}\n{{\"end\":900,\"command_buffers\":2}}\n",
        buffer(
            1,
            r#","encoders":[{"kind":"compute","label":"x","kernels":{"a":1},"gpu_start":111,"gpu_end":130}]"#
        ),
        buffer(2, r#","completed":400,"error":"late""#),
    );
    let first = HEADER.len() + 1;
    for end in first..log.len() {
        let trace = load(&log[..end]).unwrap();
        let whole = log[first..end].matches("gpu_end\":").count();
        let rows = trace.tables[0].rows();
        assert!(rows <= whole && rows + 2 >= whole, "{end}: {rows} {whole}");
    }
    for place in 0..log.len() {
        for byte in [0, b'0', b'"', b'}', b'\n', 0xff] {
            let mut bytes = log.clone().into_bytes();
            bytes[place] = byte;
            let mut trace = PartialTrace::default();
            let everything = Selection::everything();
            drop(read(&bytes[..], "x", &everything, true, &mut trace));
        }
    }
}
