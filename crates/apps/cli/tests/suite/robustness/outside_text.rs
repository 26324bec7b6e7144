//! Tests that text from outside stays text: names in recordings, names of files and output of other
//! programs cannot control a terminal or a spreadsheet.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use metalens_text::{HOSTILE, csv::defused, in_json, is_hidden};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::verbs::record::Bench;
use crate::verbs::stacks::with_samples;
use crate::{add_two_runs, metalens, stderr, stdout, with_scenario};

const METALENS: &str = env!("CARGO_BIN_EXE_metalens");

/// Names that the scenario `awkward` gives to things; each becomes hostile.
const NAMES: [&str; 10] = [
    "prefill",
    "mlp.up",
    "mlp.down",
    "decode",
    "graph:main",
    "lane-filler",
    "Compositor",
    "Synthetic GPU",
    "Synthetic Mac",
    "Metal System Trace",
];

/// The styles that metalens itself prints.
const STYLES: [&str; 17] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[1;31m",
    "\u{1b}[1;32m",
    "\u{1b}[1;33m",
    "\u{1b}[1;36m",
    "\u{1b}[38;5;178m",
    "\u{1b}[38;5;166m",
    "\u{1b}[38;5;175m",
    "\u{1b}[38;5;184m",
    "\u{1b}[38;5;99m",
    "\u{1b}[38;5;86m",
    "\u{1b}[38;5;36m",
    "\u{1b}[38;5;74m",
    "\u{1b}[38;5;243m",
    "\u{1b}[38;5;249m",
];

/// Assigns hostile texts to the names, in as many rounds as use all texts.
fn rounds(texts: &[&'static str]) -> Vec<Vec<(&'static str, &'static str)>> {
    let rounds = texts.chunks(NAMES.len());
    rounds
        .map(|some| {
            NAMES
                .into_iter()
                .zip(some.iter().copied().cycle())
                .collect()
        })
        .collect()
}

/// Returns the hostile texts that XML can have.
fn legal_in_xml() -> Vec<&'static str> {
    let is_legal = |letter: char| letter >= ' ' || matches!(letter, '\t' | '\n' | '\r');
    let texts = HOSTILE.into_iter();
    texts.filter(|text| text.chars().all(is_legal)).collect()
}

/// Replaces names in every file of a folder; `spelled` escapes a text for the file's format.
fn replace_names(folder: &Path, pairs: &[(&str, &str)], spelled: impl Fn(&str) -> String) {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if file
            .extension()
            .is_some_and(|is| is == "xml" || is == "json")
        {
            let mut text = fs::read_to_string(&file).unwrap();
            for (name, hostile) in pairs {
                text = text.replace(name, &spelled(hostile));
            }
            fs::write(&file, text).unwrap();
        }
    }
}

fn in_xml(text: &str) -> String {
    let spelled = text
        .chars()
        .map(|letter| format!("&#{};", u32::from(letter)));
    spelled.collect()
}

fn in_json_string(text: &str) -> String {
    let spelled = serde_json::to_string(text).unwrap();
    spelled[1..spelled.len() - 1].to_owned()
}

/// Runs a command on a pseudo-terminal, and returns all that the terminal gets.
fn on_terminal(mut command: Command) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();

    // It must not become the controlling terminal, whose end would kill this process.
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let terminal = rustix::fs::open(name, flags, Mode::empty()).unwrap();
    let mut child = command
        .env("TERM", "dumb")
        .stdin(Stdio::null())
        .stdout(terminal.try_clone().unwrap())
        .stderr(terminal)
        .spawn()
        .unwrap();
    // Closes the command's copies of the terminal, so that reading can end.
    drop(command);

    let mut seen = Vec::new();
    let mut master = fs::File::from(master);
    let mut some = [0; 4096];

    // Linux returns an error once the other end is closed.
    while let Ok(length @ 1..) = master.read(&mut some) {
        seen.extend_from_slice(&some[..length]);
    }
    child.wait().unwrap();

    // The terminal itself adds the carriage returns.
    String::from_utf8(seen).unwrap().replace("\r\n", "\n")
}

/// Checks that a text has no control character and no hidden character.
fn check_harmless(text: &str, what: &str) {
    let is_odd = |letter: char| letter != '\n' && (letter.is_control() || is_hidden(letter));
    if let Some(at) = text.find(is_odd) {
        let before: Vec<char> = text[..at].chars().collect();
        let before: String = before[before.len().saturating_sub(60)..].iter().collect();
        let odd: String = text[at..].chars().take(20).collect();
        assert_eq!(odd, "", "{what}: after {before:?}");
    }
}

/// Checks that no name looks like an error or a hint of metalens.
fn check_unforged(text: &str, what: &str) {
    for forged in ["error: forged", "hint: forged"] {
        let is_forged = text.lines().any(|line| line.starts_with(forged));
        assert!(!is_forged, "{what}: {forged}\n{text}");
    }
}

/// Runs metalens on a terminal, and for a log in color, and checks both. If `is_data`, standard
/// output is for programs and may have any text.
fn check_run(folder: &Path, arguments: &[&str], is_data: bool) {
    let what = format!("{arguments:?}");
    let command = || {
        let mut command = Command::new(METALENS);
        command.current_dir(folder).env_clear().args(arguments);
        command.env("METALENS_XCTRACE", folder.join("no\u{1b}[31mne"));
        command
    };

    let seen = on_terminal(command());
    assert!(!seen.is_empty(), "{what}: nothing was shown");
    check_harmless(&seen, &what);
    if !is_data {
        check_unforged(&seen, &what);
    }

    let output = command().env("CLICOLOR_FORCE", "1").output().unwrap();
    let mut colored = vec![stderr(&output)];
    colored.extend((!is_data).then(|| stdout(&output)));
    for text in colored {
        let plain = STYLES
            .iter()
            .fold(text, |text, style| text.replace(style, ""));
        check_harmless(&plain, &what);
        check_unforged(&plain, &what);
    }
}

#[test]
fn names_in_recordings_cannot_control_a_terminal() {
    for round in rounds(&legal_in_xml()) {
        let folder = with_scenario("awkward");
        let folder = folder.path();
        replace_names(&folder.join("awkward"), &round, in_xml);
        let gaps = ["analyze", "awkward", "--gaps", "gaps.csv", "-o", "out"];
        assert!(metalens(folder, &gaps).status.success());
        let made = metalens(folder, &["synth", "awkward", "-o", "whole.trace"]);
        assert!(made.status.success(), "{}", stderr(&made));
        let samples = with_samples();
        let text = fs::read_to_string(samples.path().join("cpu/time-profile.xml")).unwrap();
        let text = text.replace("commit", &in_xml(round[0].1));
        fs::write(
            folder.join("samples.xml"),
            text.replace("spin", &in_xml(round[1].1)),
        )
        .unwrap();

        let rows = ["tables", "awkward", "--schema", "metal-gpu-intervals"];
        for arguments in [
            &["analyze", "awkward"][..],
            &["analyze", "awkward", "awkward"],
            &["analyze", "awkward", "--markdown", "--show-names"],
            &["analyze", "awkward", "--json"],
            &["analyze", "awkward", "--process", "nobody"],
            &["tables", "awkward"],
            &["tables", "awkward", "--json"],
            &["tables", "awkward", "--schema", "nothing"],
            &[&rows[..], &["--format", "jsonl"]].concat(),
            &["compare", "awkward", "out"],
            &["compare", "awkward", "out", "--json"],
            &["compare", "awkward", "out", "--markdown", "--show-names"],
            &["batch", "awkward", "samples.xml", "-o", "batch"],
            &["batch", "awkward", "samples.xml", "-o", "batch", "--json"],
            &["pr", "out", "--dry-run", "--show-names", "--repo", "o/r"],
            &["verify", "--compare", "whole.trace", "awkward"],
        ] {
            check_run(folder, arguments, false);
        }
        for arguments in [&rows[..], &["stacks", "samples.xml"]] {
            check_run(folder, arguments, true);
        }
    }
}

/// JSON can have characters that XML cannot.
#[test]
fn names_in_reports_cannot_control_a_terminal() {
    for round in rounds(&HOSTILE) {
        let folder = with_scenario("awkward");
        let folder = folder.path();
        add_two_runs(folder, "awkward");
        for (run, name) in [("awkward", "a"), ("awkward2", "b"), ("awkward3", "c")] {
            let written = metalens(folder, &["analyze", run, "-o", name]);
            assert!(written.status.success(), "{}", stderr(&written));
            fs::remove_file(folder.join(name).join("manifest.json")).unwrap();
            replace_names(&folder.join(name), &round, in_json_string);
        }
        let files = ["a/report.json", "b/report.json", "c/report.json"];
        let save = [
            &["baseline", "save", "--allow-spread", "-o", "base.json"],
            &files[..],
        ]
        .concat();
        let saved = metalens(folder, &save);
        assert!(saved.status.success(), "{}", stderr(&saved));
        for arguments in [
            &["compare", files[0], files[1]][..],
            &["compare", files[0], files[1], files[2]],
            &["compare", files[0], files[1], "--json"],
            &["compare", "--baseline", "base.json", files[0]],
            &["baseline", "show", "base.json"],
            &["baseline", "show", "base.json", "--json"],
        ] {
            check_run(folder, arguments, false);
        }
    }
}

/// Messages quote names of files, arguments and settings.
#[test]
fn names_of_files_and_arguments_cannot_control_a_terminal() {
    let folder = with_scenario("eager");
    let folder = folder.path();
    for some in HOSTILE.chunks(10) {
        let hostile = &some.concat().replace(['\0', '/'], "");
        let name = format!("x{hostile}x");
        fs::rename(folder.join("eager"), folder.join(&name)).unwrap();
        fs::write(folder.join("odd.toml"), format!("{hostile} = 1\n")).unwrap();
        fs::write(folder.join("bad.xml"), format!("<{hostile}>")).unwrap();
        let option = format!("--{hostile}");
        let output = format!("{name}.out");
        for arguments in [
            &["analyze", &name][..],
            &["analyze", &name, "--process", hostile],
            &["analyze", &name, "-o", "/dev/null"],
            &["analyze", &name, "--config", "odd.toml"],
            &["analyze", "eager"],
            &["analyze", "bad.xml"],
            &["tables", &name],
            &["tables", &name, "--schema", hostile],
            &["compare", &name, &output],
            &["compare", &name, &name],
            &["stacks", &name],
            &["batch", &name, &output, "-o", "batch"],
            &["synth", hostile, "-o", "made"],
            &["synth", "eager", "-o", &output, "--force"],
            &["synth", "odd.toml", "-o", "made"],
            &["baseline", "show", &name],
            &["pr", &name, "--dry-run"],
            &["export", &name],
            &["chart", &name, "-o", &name],
            &["record", "--", &name],
            &[&option],
            &["analyze", &option],
            &["schema", hostile],
        ] {
            check_run(folder, arguments, false);
        }
        fs::rename(folder.join(&name), folder.join("eager")).unwrap();
    }
}

/// metalens passes on lines of `xctrace` and of the program, and shows the program's name. What ends
/// a line is left out: a line of a program may begin with any words.
#[test]
fn output_of_xctrace_cannot_control_a_terminal() {
    let words: String = HOSTILE.concat().replace(['\0', '\'', '\n', '\r'], "");
    let bench = Bench::of(&format!(
        "case $1 in record) printf '%s\\n' '{words}' '[Error] {words}' >&2;; esac"
    ));
    let program = format!("bench{words}").replace('/', "");
    let program: String = program.chars().take(60).collect();
    fs::rename(bench.path("here/bench"), bench.path("here").join(&program)).unwrap();
    let command = format!("./{program}");
    let output = format!("{program}.trace");
    for arguments in [
        &["record", "--dry-run", "--", &command][..],
        &["record", "-o", &output, "--", &command, "-c", "true"],
        &["record-and-analyze", "--", &command, "-c", "true"],
        &["export", &output],
        &["tables", &output],
        &["doctor", "--", &command],
    ] {
        let seen = on_terminal(bench.command(&[], arguments));
        assert!(!seen.is_empty(), "{arguments:?}: nothing was shown");
        check_harmless(&seen, &format!("{arguments:?}"));
        check_unforged(&seen, &format!("{arguments:?}"));
    }
}

/// Programs get every text unchanged; JSON escapes control characters.
#[test]
fn programs_get_texts_unchanged() {
    for round in rounds(&legal_in_xml()) {
        let folder = with_scenario("awkward");
        let folder = folder.path();
        replace_names(&folder.join("awkward"), &round, in_xml);
        let output = metalens(folder, &["analyze", "awkward", "--json", "-o", "out"]);
        let report = stdout(&output);
        assert_eq!(in_json(&report), report);
        let file = fs::read_to_string(folder.join("out/report.json")).unwrap();
        assert_eq!(file, report);
        let report: Value = serde_json::from_str(&report).unwrap();
        let names: Vec<&str> = report["kernels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|kernel| kernel["name"].as_str().unwrap())
            .collect();
        let (_, kernel) = round[1];
        assert!(names.contains(&kernel), "{kernel:?} is none of {names:?}");
        let rows = ["tables", "awkward", "--schema", "metal-gpu-intervals"];
        let csv = stdout(&metalens(folder, &rows));
        assert!(
            csv.contains(&*defused(kernel).replace('"', "\"\"")),
            "{kernel:?}"
        );
    }
}

#[test]
fn csv_cells_cannot_run_in_a_spreadsheet() {
    let is_passed_over =
        |letter: char| letter.is_whitespace() || letter.is_control() || is_hidden(letter);
    let check = |csv: &str, what: &str| {
        let cells = cells(csv);
        assert!(cells.len() > 1, "{what}");
        for cell in cells
            .iter()
            .flatten()
            .filter(|cell| cell.parse::<f64>().is_err())
        {
            // Some spreadsheets split cells at these characters too.
            for part in cell.split([';', '\t', '\n', '\r']) {
                let begins = part.trim_start_matches(is_passed_over);
                let is_run = begins.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
                assert!(!is_run, "{what}: {cell:?}");
            }
            assert!(!cell.starts_with(['\t', '\n', '\r']), "{what}: {cell:?}");
        }
        let widths: Vec<usize> = cells.iter().map(Vec::len).collect();
        assert!(
            widths.iter().all(|&one| one == widths[0]),
            "{what}: {widths:?}"
        );
    };

    for round in rounds(&legal_in_xml()) {
        let folder = with_scenario("awkward");
        let folder = folder.path();
        replace_names(&folder.join("awkward"), &round, in_xml);
        let written = metalens(folder, &["analyze", "awkward", "--gaps", "gaps.csv"]);
        assert!(written.status.success(), "{}", stderr(&written));
        fs::rename(folder.join("awkward"), folder.join("=awkward")).unwrap();
        let written = metalens(folder, &["batch", "=awkward", "-o", "batch"]);
        assert!(written.status.success(), "{}", stderr(&written));
        for file in ["gaps.csv", "batch/index.csv"] {
            check(&fs::read_to_string(folder.join(file)).unwrap(), file);
        }
        let rows = ["tables", "=awkward", "--schema", "metal-gpu-intervals"];
        check(&stdout(&metalens(folder, &rows)), "rows");
    }
}

/// Parses a CSV document by the standard, RFC 4180.
fn cells(csv: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut letters = csv.chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            _ => cell.push(letter),
        }
    }
    rows
}

#[test]
fn pages_show_hidden_characters() {
    for round in rounds(&legal_in_xml()) {
        let folder = with_scenario("awkward");
        let folder = folder.path();
        replace_names(&folder.join("awkward"), &round, in_xml);
        let arguments = ["batch", "awkward", "-o", "batch", "--show-names"];
        let written = metalens(folder, &arguments);
        assert!(written.status.success(), "{}", stderr(&written));
        let arguments = ["analyze", "awkward", "-o", "out", "--show-names"];
        let written = metalens(folder, &arguments);
        assert!(written.status.success(), "{}", stderr(&written));
        for file in [
            "out/report.html",
            "out/report.md",
            "batch/index.html",
            "batch/index.md",
        ] {
            check_harmless(&fs::read_to_string(folder.join(file)).unwrap(), file);
        }
    }
}

/// On a runner of GitHub Actions no line of the output is a command to it.
#[test]
fn names_are_no_commands_to_a_runner() {
    const NAMES: &str = r###"["::set-output name=x::pwn", "##[error]pwn", " ::error::pwn"]"###;
    let folder = metalens_testing::scratch();
    let here = folder.path();
    let scenario =
        crate::SMALL.replace("count = 3", &format!("count = 9\nencoder-label = {NAMES}"));
    fs::write(here.join("x.toml"), scenario).unwrap();
    let written = metalens(here, &["synth", "x.toml", "-o", "x"]);
    assert!(written.status.success(), "{}", stderr(&written));

    let run = |arguments: &str, is_on_runner: bool| {
        let mut command = Command::new(METALENS);
        command
            .args(arguments.split(' '))
            .current_dir(here)
            .env_clear();
        if is_on_runner {
            command.env("GITHUB_ACTIONS", "true");
        }
        let output = command.output().unwrap();
        stdout(&output) + &stderr(&output)
    };
    let is_command = |line: &str| line.trim_start().starts_with("::") || line.contains("##[");
    let mut dangerous = 0;
    for arguments in [
        "analyze x --full",
        "analyze x --json",
        "analyze x --markdown",
        "analyze x --section kernels --format csv",
        "tables x --schema metal-application-encoders-list",
        "tables x --schema metal-application-encoders-list --format jsonl",
        "compare x x --full",
        "compare x x --json",
        "batch x -o out --json",
        "analyze ::error::x",
    ] {
        let text = run(arguments, true);
        let lines = text.split(['\n', '\r']);
        let found: Vec<&str> = lines.filter(|line| is_command(line)).collect();
        assert!(found.is_empty(), "{arguments}: {found:?}");
        let elsewhere = run(arguments, false);
        dangerous += elsewhere.lines().filter(|line| is_command(line)).count();
        assert!(
            text.contains("pwn") || text.contains("error::x"),
            "{arguments}: {text}"
        );
        if arguments.contains("json") {
            let value = |text: &str| -> Vec<Value> {
                let values = serde_json::Deserializer::from_str(text).into_iter();
                values.map_while(Result::ok).collect()
            };
            assert_eq!(value(&text), value(&elsewhere), "{arguments}");
        }
    }
    assert!(dangerous > 20, "{dangerous}");
}
