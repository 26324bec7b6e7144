//! Tests of findings: each has a scenario that fires it and one that nearly does.
//!
//! A folder of `fixtures/findings` has `fires.toml` and `nearly.toml`, further cases such as
//! `nearly-unknown.toml`, and files for data that a scenario cannot describe: `fires.work.json`, the amounts of work, and `fires.<schema>.xml`,
//! which replaces that table.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use metalens_analyzer::{Finding, ReplayAction, Report, Request, Severity, WorkFile, finding_ids};
use metalens_message::{Ns, Quantity};
use metalens_simulator::{Scenario, write_export};

use super::real::recordings;
use super::{report, report_of};

pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/findings")
}

/// Returns the report on `<case>.toml` in a rule's folder: scenario, export, analysis.
pub(super) fn report_of_case(folder: &Path, case: &str) -> Report {
    let toml = folder.join(format!("{case}.toml"));
    let text = std::fs::read_to_string(&toml).unwrap_or_else(|error| {
        panic!("{}: {error}: every finding needs both", toml.display());
    });
    let scenario = Scenario::from_toml(&text).unwrap();
    let export = metalens_testing::scratch();
    write_export(&scenario, export.path(), false).unwrap();
    let mut request = Request::default();
    for (name, path) in files_of_case(folder, case) {
        match name.as_str() {
            "toml" => {}
            "work.json" => {
                let text = std::fs::read_to_string(path).unwrap();
                request.work = Some(WorkFile::parse(&text, "work.json").unwrap());
            }
            table => {
                std::fs::copy(path, export.path().join(table)).unwrap();
            }
        }
    }
    report(export.path(), None, &request).unwrap()
}

/// Returns the names of the scenarios in a rule's folder.
fn cases(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names
        .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
        .collect()
}

/// Returns the files of a case, with the rest of their names.
fn files_of_case(folder: &Path, case: &str) -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.filter_map(|file| {
        let path = file.unwrap().path();
        let name = path.file_name()?.to_str()?.to_owned();
        let rest = name.strip_prefix(case)?.strip_prefix('.')?.to_owned();
        Some((rest, path))
    });
    files.collect()
}

fn ids(report: &Report) -> Vec<&str> {
    report
        .findings
        .iter()
        .map(|finding| finding.id.as_str())
        .collect()
}

#[test]
fn each_finding_fires_and_nearly_fires() {
    let mut wrong = Vec::new();
    for id in finding_ids() {
        let folder = fixtures().join(id);
        let cases = cases(&folder);
        for needed in ["fires", "nearly"] {
            assert!(cases.iter().any(|case| case == needed), "{id}/{needed}");
        }
        for case in cases {
            let wanted = case.starts_with("fires");
            let report = report_of_case(&folder, &case);
            if ids(&report).contains(&id) != wanted {
                wrong.push(format!("{id}/{case}: {:?}", ids(&report)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// docs/findings.md says of each rule what fires it, and has the advice for each framework.
#[test]
fn the_docs_have_every_rule() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/findings.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let listed = |id: &str| docs.contains(&format!("\n* `{id}` ("));
    let missing: Vec<_> = finding_ids().into_iter().filter(|id| !listed(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// A folder without a rule would test nothing.
#[test]
fn each_folder_belongs_to_a_finding() {
    for folder in std::fs::read_dir(fixtures()).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(
            name == "all-well" || finding_ids().contains(&name.as_str()),
            "{name}"
        );
    }
}

#[test]
fn a_good_scenario_has_no_findings() {
    let report = report_of_case(&fixtures().join("all-well"), "scenario");
    assert_eq!(report.findings, []);
    assert_eq!(report.summary.advice.text, "No finding");
}

/// Compares the text of each finding with its file: `scripts/bless` renews it, and reviewers see
/// the changes.
#[test]
fn texts_are_as_expected() {
    let mut old = Vec::new();
    for id in finding_ids() {
        let folder = fixtures().join(id);
        let report = report_of_case(&folder, "fires");
        let found = report.findings.iter().find(|finding| finding.id == id);
        let text = found.map_or_else(String::new, |found| page(found, &report));
        let file = folder.join("expected.txt");
        if std::env::var_os("METALENS_BLESS").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        if std::fs::read_to_string(&file).unwrap_or_default() != text {
            old.push(format!("{id}:\n{text}"));
        }
    }
    assert!(
        old.is_empty(),
        "these texts changed (scripts/bless renews them):\n{}",
        old.join("\n")
    );
}

/// Returns the text of a finding, with the ids of the others that the scenario fires.
fn page(found: &Finding, report: &Report) -> String {
    let mut page = format!(
        "{} ({:?})\n{}\n{}.\n",
        found.id, found.severity, found.title, found.evidence
    );
    for place in &found.look_at {
        writeln!(page, "  look at: {place}").unwrap();
    }
    match found.gain {
        Some(gain) => writeln!(
            page,
            "  gain: {} {} ns, {:.3} times as fast",
            gain.certainty.words(),
            gain.saves_ns.0,
            gain.speedup.0
        ),
        None => writeln!(page, "  gain: none is known"),
    }
    .unwrap();
    let others: Vec<&str> = ids(report)
        .into_iter()
        .filter(|&id| id != found.id)
        .collect();
    writeln!(page, "  beside it: {}", others.join(", ")).unwrap();
    page
}

/// Evidence is one clause: it is printed as it is, and in Markdown with a capital letter and a full
/// stop.
#[test]
fn evidence_is_a_clause() {
    for id in finding_ids() {
        let report = report_of_case(&fixtures().join(id), "fires");
        for found in &report.findings {
            let text = &found.evidence;
            assert!(
                text.text.contains(|letter: char| letter.is_ascii_digit())
                    || text.text.contains("all ")
                    || found.id == "thermal",
                "{id}: {} has no number: {text}",
                found.id
            );
            for wrong in ["  ", "None", "NaN", "inf ", "?"] {
                assert!(!text.text.contains(wrong), "{id}: {}: {text:?}", found.id);
            }
            assert!(!text.text.ends_with(['.', ' ', ';', ':']), "{id}: {text:?}");
            assert!(
                !found.look_at.iter().any(|place| place.text.is_empty()),
                "{id}"
            );
        }
    }
}

/// Findings that say that results may be wrong, then those on numbers that may be.
const CONCERNS: [&[&str]; 2] = [
    &["command-buffer-errors"],
    &[
        "low-performance-state",
        "thermal",
        "tables-disagree",
        "incomplete-recording",
        "unknown-causes",
        "little-work",
    ],
];

/// The most important findings come first, and none gains more than the window.
#[test]
fn findings_are_in_order() {
    let check = |report: &Report, name: &str| {
        let order: Vec<_> = report
            .findings
            .iter()
            .map(|finding| {
                let gain = finding.gain.map_or(Ns(0), |gain| gain.saves_ns);
                let concern = CONCERNS
                    .iter()
                    .position(|ids| ids.contains(&finding.id.as_str()));
                let concern = concern.unwrap_or(CONCERNS.len());
                (concern, finding.severity, std::cmp::Reverse(gain))
            })
            .collect();
        assert!(order.is_sorted(), "{name}: {order:?}");
        for found in &report.findings {
            let Some(gain) = found.gain else { continue };
            let replay = report.replay.as_ref().filter(|_| gain.change.is_some());
            let judged_ns = replay.map_or(report.judged().span_ns, |replay| replay.span_ns);
            assert!(gain.saves_ns < judged_ns, "{name}");
            let left = (judged_ns - gain.saves_ns).number();
            let speedup = judged_ns.number() / left;
            assert!((gain.speedup.0 - speedup).abs() < 1e-9, "{name}");
        }
    };
    for id in finding_ids() {
        check(&report_of_case(&fixtures().join(id), "fires"), id);
    }
    for seed in 0..100 {
        let scenario = metalens_simulator::random_scenario(seed);
        if let Ok(report) = report_of(&scenario, &Request::default()) {
            check(&report, &format!("seed {seed}"));
        }
    }
}

/// An ignored finding is left out, and nothing else changes.
#[test]
fn ignored_findings_are_left_out() {
    let scenario = Scenario::preset("eager").unwrap();
    let whole = report_of(&scenario, &Request::default()).unwrap();
    let without = |id: &str| {
        let request = Request {
            ignored_findings: vec![id.to_owned()],
            ..Request::default()
        };
        report_of(&scenario, &request)
    };
    let less = without("serialized").unwrap();
    let mut expected = ids(&whole);
    assert!(expected.contains(&"serialized"));
    expected.retain(|&id| id != "serialized");
    assert_eq!(ids(&less), expected);
    let error = without("serialised").unwrap_err().to_string();
    assert!(error.contains("serialised"), "{error}");
}

/// Two recordings of one program, which waits for each of 1,000 buffers: completion and submission
/// latency cost the most, and batching could gain all of that.
#[test]
fn serialized_is_first_in_real_recordings() {
    let Some(recordings) = recordings() else {
        return;
    };
    // Completion latency, and all time from the commit to the start on the GPU, of the known figures.
    let cases = [
        ("m1-launched-1000", 74_243_711 + 92_569_753),
        ("m1-bundle-and-export/export", 68_235_324 + 88_011_705),
    ];
    for (folder, whole_ns) in cases {
        let report = report(&recordings.join(folder), None, &Request::default()).unwrap();
        let caveats = report
            .findings
            .iter()
            .take_while(|finding| finding.severity == Severity::Caveat);
        let caveats = caveats.count();
        let first = &report.findings[caveats];
        let parts = ["submission-latency", "completion-latency"];
        assert!(
            !ids(&report).iter().any(|id| parts.contains(id)),
            "told twice"
        );
        assert_eq!(
            (first.id.as_str(), first.severity),
            ("serialized", Severity::High)
        );
        let idle = &report.idle;
        assert_eq!(
            idle.round_trips_ns + idle.round_trips_contended_ns,
            Ns(whole_ns)
        );
        // Two in flight halve the round trips, and no more.
        let gain = first.gain.unwrap();
        assert!((1.85..2.1).contains(&gain.speedup.0), "{gain:?}");
        assert!(
            first.evidence.text.contains("999 of 999"),
            "{}",
            first.evidence
        );
        assert_eq!(report.work, None);
    }
}

/// Returns a scenario of one program, which ends with the fields of its only stream.
fn bench(fields: &str) -> String {
    format!(
        r#"
        seed = 1
        [[process]]
        name = "bench"
        pid = 4200
        role = "target"
        {fields}
        "#
    )
}

/// Returns the report of a scenario's text.
fn report_of_text(text: &str) -> Report {
    report_of(&Scenario::from_toml(text).unwrap(), &Request::default()).unwrap()
}

fn finding<'a>(report: &'a Report, id: &str) -> &'a Finding {
    let found = report.findings.iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("{id}: {:?}", ids(report)))
}

/// Compares the prediction for a program that never waits with the same program that has three command
/// buffers in flight, for the same CPU work. Another process may run all the time, whose work does not
/// delay this one.
#[test]
fn no_pipelining_saves_more_than_never_waiting() {
    let others = [
        "",
        r#"
        [[process]]
        name = "other"
        pid = 99
        [[process.stream]]
        channel = "Fragment"
        count = 1
        start = "690ms"
        duration = "60ms"
        "#,
    ];
    // Times of the GPU, the completion, the host and the encoding of each buffer. The CPU takes longer
    // in the second case; with eight encoders in a buffer, it would have less work than before.
    let times = [
        (
            "20us",
            r#"["38us", "42us"]"#,
            "10us",
            "10us",
            "in-flight = 3",
        ),
        (
            "20us",
            r#"["28us", "32us"]"#,
            "15us",
            "40us",
            "in-flight = 3",
        ),
        (
            "100us",
            r#"["38us", "42us"]"#,
            "10us",
            "10us",
            "in-flight = 3",
        ),
    ];
    for other in others {
        for (duration, completion, host, encode, ahead) in times {
            let program = |submit: &str| {
                let fields = format!(
                    r#"
                    [[process.stream]]
                    count = 50
                    duration = "{duration}"
                    completion = {completion}
                    host = "{host}"
                    encode = "{encode}"
                    launch = "40us"
                    encoder-label = ["a", "b"]
                    {submit}
                    {other}
                    "#
                );
                report_of_text(&bench(&fields))
            };
            let (waits, ahead) = (program(""), program(ahead));
            let saved_ns = waits.window.span_ns - ahead.window.span_ns;
            let replay = waits.replay.as_ref().unwrap();
            let never = replay.prediction(ReplayAction::NeverWait).unwrap();
            let predicted_ns = replay.span_ns - never.left_ns;
            assert!(
                predicted_ns.number() >= 0.98 * saved_ns.number(),
                "{duration} {other}: {} < {}",
                predicted_ns.0,
                saved_ns.0
            );
            assert!(finding(&waits, "serialized").gain.unwrap().saves_ns <= predicted_ns);
        }
    }

    // Of 100 us in each gap, the two latencies have 80 us; another process ran in 40 us of them.
    let waits = bench(&format!(
        r#"
        [[process.stream]]
        count = 51
        duration = "20us"
        completion = {{ cycle = ["39us", "41us"] }}
        host = "10us"
        encode = "10us"
        launch = "40us"
        encoder-label = ["a", "b"]
        {}
        "#,
        others[1]
    ));
    let report = report_of_text(&waits);
    let evidence = &finding(&report, "serialized").evidence;
    // The driver has 2.5 us of the way to the GPU, which another process does not delay.
    let expected = "took 80.00 µs each time on average, 37.50 µs of it while another process ran";
    assert!(evidence.text.contains(expected), "{evidence}");
}

/// Memory that falls at first and grows later: the sentence is about the growth.
#[test]
fn growth_of_memory_is_told_from_where_it_begins() {
    let report = report_of_text(&bench(
        r#"
        memory = [
            { at = "600ms", bytes = 104_857_600 },
            { at = "701ms", bytes = 31_457_280 },
            { at = "704ms", bytes = 36_700_160 },
            { at = "705ms", bytes = 41_943_040 },
            { at = "706ms", bytes = 47_185_920 },
            { at = "708ms", bytes = 57_671_680 },
            { at = "710ms", bytes = 62_914_560 },
        ]
        [[process.stream]]
        count = 100
        duration = "20us"
        completion = "40us"
        host = "10us"
        encode = "10us"
        launch = "40us"
        "#,
    ));
    let found = finding(&report, "memory-growing");
    let expected = "memory grew from 30.0 MiB to 60.0 MiB: it rose 5 times and never fell";
    assert!(
        found.evidence.text.ends_with(expected),
        "{}",
        found.evidence
    );
    // The peak of the window is before the growth.
    let [place] = found.look_at.as_slice() else {
        panic!("{:?}", found.look_at);
    };
    assert!(place.text.starts_with("the growth"), "{place}");
}

/// A kernel that takes little of the window cannot save much of it. The advice names it and its unit.
#[test]
fn a_finding_about_little_work_is_of_low_severity() {
    let check = |id: &str, kernel: &str, is_advice: bool| {
        let toml = fixtures().join(id).join("fires.toml");
        let text = std::fs::read_to_string(toml).unwrap();
        let report = report_of_text(&text);
        assert_eq!(finding(&report, id).severity, Severity::Medium, "{id}");
        let advice = &report.summary.advice;
        assert_eq!(advice.text.contains(kernel), is_advice, "{id}: {advice}");

        // Two more seconds with little GPU work make the same work a small part of the window.
        let later = r#"
            [[process.stream]]
            count = 200
            follows = true
            duration = "1us"
            host = "10ms"
            encoder-label = "last"
        "#;
        let report = report_of_text(&format!("{text}{later}"));
        assert_eq!(finding(&report, id).severity, Severity::Low, "{id}");
        assert!(!report.summary.advice.text.contains(kernel), "{id}");
    };
    check("limiter", "matmul: 10.0", true);
    check("no-limiter", "scan: ", true);
}

/// Nothing is called the biggest win, and nothing all well, if the causes of idle time are unknown.
#[test]
fn unknown_causes_are_said() {
    let check = |id: &str, case: &str, expected: &str| {
        let report = report_of_case(&fixtures().join(id), case);
        let advice = &report.summary.advice;
        assert!(advice.text.contains(expected), "{id}/{case}: {advice}");
    };
    check("unknown-causes", "fires", "No other finding");
    check("unknown-causes", "nearly", "No large bottleneck; 9.0 %");

    // Without encodings the same program has only its outliers to mend, which could save 760 us.
    let toml = fixtures().join("outliers/fires.toml");
    let text = std::fs::read_to_string(toml).unwrap();
    let lost = "[[process.stream]]\n\
                oddities = { lose-encoder-every = 1, lose-encoder-from = \"everywhere\" }";
    let report = report_of_text(&text.replace("[[process.stream]]", lost));
    let advice = &report.summary.advice;
    let is_partial = advice.text.starts_with("Biggest known win: ")
        && advice.text.contains("(saves 760")
        && advice
            .text
            .ends_with("; the cause of 100 % of the idle time is not recorded");
    assert!(is_partial, "{advice}");
}
