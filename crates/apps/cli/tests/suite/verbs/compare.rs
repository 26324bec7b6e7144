//! Tests `metalens compare` and `metalens baseline`: screens, files and exit codes.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

use super::analyze::folder::{check_manifest, files_of};
use crate::{metalens, stderr, stdout, transcript};

/// Returns a scenario of `bench` with a seed, the length of a kernel in µs, and `more` settings.
pub(super) fn scenario(seed: u32, kernel_us: u32, more: &str) -> String {
    format!(
        "seed = {seed}\n{more}\n[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
         [[process.stream]]\ncount = 40\nsubmit = \"sync\"\nencoder-label = [\"matmul\", \"a | `b` <img> *\"]\n\
         duration = [\"{kernel_us}us\", \"{}us\"]\nlaunch = [\"80us\", \"84us\"]\n",
        kernel_us + 1
    )
}

/// Creates a folder with an export of each named scenario.
pub(super) fn with(runs: &[(&str, String)]) -> TempDir {
    let folder = metalens_testing::scratch();
    for (name, toml) in runs {
        let file = format!("{name}.toml");
        fs::write(folder.path().join(&file), toml).unwrap();
        run(folder.path(), &["synth", &file, "-o", name], 0);
    }
    folder
}

/// Creates three runs (a), three equal to them (b), and three with a slower kernel (c).
pub(super) fn nine() -> TempDir {
    let of = |name: &'static str, seed: u32, us: u32| (name, scenario(seed, us, ""));
    with(&[
        of("a1", 1, 30),
        of("a2", 2, 30),
        of("a3", 3, 30),
        of("b1", 4, 30),
        of("b2", 5, 30),
        of("b3", 6, 30),
        of("c1", 7, 40),
        of("c2", 8, 40),
        of("c3", 9, 40),
    ])
}

pub(super) fn run(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = metalens(folder, arguments);
    let said = transcript(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{said}");
    stdout(&output)
}

pub(crate) fn check_schema(name: &str, document: &Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../docs")
        .join(name);
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn two_sides_give_a_screen_and_valid_json() {
    let folder = metalens_testing::scratch();
    for name in ["eager", "fused"] {
        run(folder.path(), &["synth", name, "-o", name], 0);
    }
    let arguments = ["compare", "eager", "fused", "--preset", "fusion"];
    let full = |arguments: &[&str]| run(folder.path(), &[arguments, &["--full"]].concat(), 0);
    assert_snapshot!("screen-fusion", full(&arguments));
    assert_snapshot!("brief-fusion", run(folder.path(), &arguments, 0));
    let markdown = run(
        folder.path(),
        &[&arguments[..], &["--markdown"]].concat(),
        0,
    );
    assert_snapshot!("markdown-fusion", markdown);
    let json = run(folder.path(), &[&arguments[..], &["--json"]].concat(), 0);
    let comparison: Value = serde_json::from_str(&json).unwrap();
    check_schema("comparison.schema.json", &comparison);
    assert_eq!(comparison["schema"], "metalens.comparison/1");
    assert_eq!(comparison["fusion"]["verdict"], "consistent");
}

/// The first screen has at most forty lines, whatever is asked for beside it, and says what it leaves
/// out.
#[test]
fn the_first_screen_fits_forty_lines() {
    let folder = nine();
    for name in ["eager", "fused"] {
        run(folder.path(), &["synth", name, "-o", name], 0);
    }
    let check = |arguments: &str, code: i32| {
        let words: Vec<&str> = arguments.split(' ').collect();
        let screen = run(folder.path(), &words, code);
        let lines = screen.lines().count();
        assert!((5..=40).contains(&lines), "{arguments}: {lines}\n{screen}");
        assert!(screen.contains("Not shown: "), "{arguments}: {screen}");
        let full = run(folder.path(), &[&words[..], &["--full"]].concat(), code);
        assert!(full.lines().count() > lines, "{arguments}: {full}");
        let first = |text: &str| text.trim_start().lines().next().unwrap().to_owned();
        assert_eq!(first(&screen), first(&full), "{arguments}");
    };
    check("compare eager fused", 0);
    check("compare eager fused --preset fusion", 0);
    check("compare eager fused --gate", 5);
    check("compare eager fused --preset fusion --gate", 0);
    check("compare a1 b1", 0);
    check("compare --base a1 a2 a3 --new b1 b2 b3", 0);
    check("compare --base a1 a2 a3 --new c1 c2 c3 --gate", 5);
}

/// Parts of a comparison are chosen as those of a report.
#[test]
fn sections_and_rows_of_a_comparison_are_chosen() {
    let folder = nine();
    let sides = ["compare", "a1", "c1"];
    let of = |arguments: &[&str]| run(folder.path(), &[&sides[..], arguments].concat(), 0);
    let kernels = of(&["--section", "kernels", "--top", "1"]);
    assert!(
        kernels.contains("higher") && kernels.contains("… and 1 more\n"),
        "{kernels}"
    );
    assert!(!kernels.contains("Idle time by cause"), "{kernels}");
    let csv = of(&["--section", "kernels", "--format", "csv"]);
    let heading = "kernel,base (ns),new (ns),change (ns),share,instances,total,verdict,channel";
    assert_eq!(csv.lines().next(), Some(heading));
    let markdown = of(&["--section", "idle", "--markdown"]);
    assert!(markdown.contains("## Idle time by cause") && !markdown.contains("## Kernels"));

    let refused = |arguments: &[&str], expected: &str| {
        let output = metalens(folder.path(), &[&sides[..], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", transcript(&output));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    };
    let unknown = "the comparison has no section kernel; did you mean `kernels`?";
    refused(&["--section", "kernel"], unknown);
    refused(&["--format", "csv"], "choose it with --section and one of ");
    refused(&["--full", "--section", "kernels"], "cannot be used with");
    refused(&["--full", "--json"], "cannot be used with");
    refused(&["--markdown", "--format", "csv"], "cannot be used with");
}

#[test]
fn the_gate_decides_between_several_runs_per_side() {
    let folder = nine();
    let against = |new: &[&'static str]| {
        [
            &["compare", "--base", "a1", "a2", "a3", "--new"],
            new,
            &["--gate", "--full"],
        ]
        .concat()
    };

    let equal = run(folder.path(), &against(&["b1", "b2", "b3"]), 0);
    assert!(equal.contains("PASSED"), "{equal}");
    assert!(equal.contains("(90 %)"), "{equal}");
    let slower = run(folder.path(), &against(&["c1", "c2", "c3"]), 5);
    assert_snapshot!("screen-gate", slower);

    // Without --gate, a difference is not a failure.
    run(folder.path(), &["compare", "a1", "c1"], 0);
    run(folder.path(), &["compare", "a1", "c1", "--gate"], 5);
    let limits = "[gate.metrics]\n\"gaps.median_ns\" = { max = \"1us\", severity = \"warn\" }\n\
                  [gate.kernels]\n\"mat*\" = { max = \"2ms\" }\n";
    fs::write(folder.path().join("metalens.toml"), limits).unwrap();
    let warned = run(folder.path(), &against(&["c1", "c2", "c3"]), 0);
    assert!(warned.contains("WARNING"), "{warned}");
    let strict = limits.replace("2ms", "0.5ms");
    fs::write(folder.path().join("strict.toml"), strict).unwrap();
    let arguments = ["compare", "a1", "c1", "--gate=strict.toml", "--json"];
    let json: Value = serde_json::from_str(&run(folder.path(), &arguments, 5)).unwrap();
    check_schema("comparison.schema.json", &json);
    assert_eq!(json["gate"]["rows"][0]["what"], "matmul");
    assert_eq!(json["gate"]["rows"][0]["verdict"], "miss");
    fs::write(folder.path().join("none.toml"), "[gate]\n").unwrap();
    run(
        folder.path(),
        &["compare", "a1", "c1", "--gate=none.toml"],
        1,
    );

    // Other commands read the same file.
    run(folder.path(), &["analyze", "a1"], 0);
}

#[test]
fn different_machines_are_refused_unless_allowed() {
    let folder = with(&[
        ("a", scenario(1, 30, "")),
        (
            "b",
            scenario(2, 30, "[recording]\ngpu = \"Another GPU\"\nos = \"27.0\"\n"),
        ),
    ]);
    let refused = metalens(folder.path(), &["compare", "a", "b", "--json"]);
    assert_snapshot!("not-comparable", transcript(&refused));
    assert_eq!(refused.status.code(), Some(6));

    // What CI reads says why, and no figure.
    let arguments = "compare a b --gate -o page";
    let words: Vec<&str> = arguments.split(' ').collect();
    run(folder.path(), &words, 6);
    let page = fs::read_to_string(folder.path().join("page/comparison.md")).unwrap();
    let page = page.replace('\\', "");
    for (text, is_there) in [
        ("Not compared, because the sides were", true),
        ("--allow-different", true),
        ("times as", false),
        ("GPU busy", false),
    ] {
        assert_eq!(page.contains(text), is_there, "{text}: {page}");
    }

    // --force is for files, and does not allow it.
    run(folder.path(), &["compare", "a", "b", "--force"], 6);
    let arguments = ["compare", "a", "b", "--allow-different"];
    let forced = run(folder.path(), &arguments, 0);
    assert!(
        forced.contains("FORCED: the sides were recorded under different conditions"),
        "{forced}"
    );
    let json = run(
        folder.path(),
        &["compare", "a", "b", "--allow-different", "--json"],
        0,
    );
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["comparable"]["forced"], true);
}

#[test]
fn stored_reports_compare_like_their_recordings() {
    let folder = nine();
    run(folder.path(), &["analyze", "-q", "a1", "-o", "report"], 0);
    let json = run(folder.path(), &["analyze", "c1", "--json"], 0);
    fs::write(folder.path().join("c1.json"), json).unwrap();
    let compared = |base: &str, new: &str| {
        let text = run(folder.path(), &["compare", base, new, "--json"], 0);
        serde_json::from_str::<Value>(&text).unwrap()
    };

    let expected = compared("a1", "c1");
    for base in ["report", "report/report.json"] {
        assert_eq!(compared(base, "c1.json"), expected, "{base}");
    }
    fs::write(folder.path().join("other.json"), "{}").unwrap();
    run(folder.path(), &["compare", "a1", "other.json"], 1);
    run(folder.path(), &["compare", "a1"], 2);
    run(
        folder.path(),
        &["compare", "a1", "b1", "b2", "-o", "out"],
        2,
    );
}

#[test]
fn the_output_folder_has_every_form_and_a_manifest() {
    let folder = nine();
    let arguments = [
        "compare", "--base", "a1", "a2", "a3", "--new", "c1", "c2", "c3", "-q", "-o",
    ];
    let write = |to: &str, code: i32, more: &[&str]| {
        run(folder.path(), &[&arguments[..], &[to], more].concat(), code);
        files_of(&folder.path().join(to))
    };

    let files = write("out", 0, &[]);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let expected = [
        "charts/compare-dark.png",
        "charts/compare.png",
        "comparison.html",
        "comparison.json",
        "comparison.md",
        "manifest.json",
    ];
    assert_eq!(names, expected);
    check_manifest(&files);
    let manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    assert_eq!(manifest["report_schema"], "metalens.comparison/1");
    let page = String::from_utf8(files["comparison.md"].clone()).unwrap();
    assert!(page.contains("](charts/compare.png)"), "{page}");

    let html = String::from_utf8(files["comparison.html"].clone()).unwrap();
    metalens_testing::check_policy(&html);
    assert_eq!(
        html.matches("<svg").count(),
        2,
        "for light and dark screens"
    );
    assert!(
        html.contains("<i class=\"swatch kernel-0\"></i><bdi>"),
        "{html}"
    );
    assert!(html.contains("<a href=\"#kernels\">"), "{html}");
    assert!(
        !html.contains("a | `b` <img>") && !html.contains("http://") && !html.contains("https://"),
        "{html}"
    );

    // Markup in a label is escaped.
    assert!(page.contains(r"a \| \`b\` &lt;img&gt; \*"), "{page}");
    write("out", 1, &[]);
    assert_eq!(
        write("out", 0, &["--force"]),
        files,
        "same input, same bytes"
    );

    // A stored report has no intervals, so there is no chart.
    let json = run(folder.path(), &["analyze", "a1", "--json"], 0);
    fs::write(folder.path().join("a1.json"), json).unwrap();
    run(
        folder.path(),
        &["compare", "a1.json", "a1", "-q", "-o", "plain"],
        0,
    );
    let files = files_of(&folder.path().join("plain"));
    check_manifest(&files);
    assert_eq!(files.len(), 4);
}

#[test]
fn a_saved_baseline_can_be_shown_and_compared_with() {
    let folder = nine();
    let save = ["baseline", "save", "a1", "a2", "a3", "-o", "base.json"];
    run(folder.path(), &save, 0);
    let text = fs::read_to_string(folder.path().join("base.json")).unwrap();
    assert_eq!(
        run(
            folder.path(),
            &["baseline", "show", "base.json", "--json"],
            0
        ),
        text
    );
    assert_snapshot!(
        "baseline",
        run(folder.path(), &["baseline", "show", "base.json"], 0)
    );
    run(folder.path(), &save, 1);
    run(
        folder.path(),
        &["baseline", "save", "a1", "a2", "-o", "two.json"],
        2,
    );
    let against = |new: [&'static str; 3]| {
        [
            &["compare", "--baseline", "base.json", "--gate"][..],
            &["--new"],
            &new,
        ]
        .concat()
    };

    run(folder.path(), &against(["b1", "b2", "b3"]), 0);
    run(folder.path(), &against(["c1", "c2", "c3"]), 5);
    let plain = ["compare", "--baseline", "base.json", "b1", "b2", "b3"];
    run(folder.path(), &plain, 0);
    let added = ["baseline", "save", "b1", "-o", "base.json", "--add"];
    run(folder.path(), &added, 0);
    let shown = run(folder.path(), &["baseline", "show", "base.json"], 0);
    assert!(shown.contains("4 runs"), "{shown}");
    let broken = metalens(folder.path(), &["compare", "--baseline", "a1.toml", "b1"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(
        stderr(&broken).contains("a1.toml: not a baseline"),
        "{}",
        stderr(&broken)
    );
}

/// Creates three runs (a), and three with a slower kernel and a longer submission latency (c).
fn six() -> TempDir {
    let base = |seed| scenario(seed, 30, "");
    let slower =
        |seed| scenario(seed, 40, "").replace("\"80us\", \"84us\"", "\"160us\", \"164us\"");
    with(&[
        ("a1", base(1)),
        ("a2", base(2)),
        ("a3", base(3)),
        ("c1", slower(7)),
        ("c2", slower(8)),
        ("c3", slower(9)),
    ])
}

fn sides() -> Vec<&'static str> {
    "compare --base a1 a2 a3 --new c1 c2 c3"
        .split(' ')
        .collect()
}

/// A limit that a side misses is also missed if the data for it is not there.
#[test]
fn a_missing_table_or_kernel_does_not_meet_a_limit() {
    const ENCODERS: &str = "metal-application-encoders-list.xml";
    const COMPLETIONS: &str = "metal-command-buffer-completed.xml";
    let folder = six();
    let gated = |limits: &str, code: i32, expected: &str| {
        fs::write(folder.path().join("gate.toml"), limits).unwrap();
        let arguments = [&sides()[..], &["--gate=gate.toml", "--full"]].concat();
        let said = run(folder.path(), &arguments, code);
        assert!(said.contains(expected), "{limits}\n{said}");
        said
    };

    let submission = "[gate.metrics]\n\"idle.start_latency_ns\" = { grow = \"5%\" }\n\
                  \"idle.completion_ns\" = { max = \"1ns\" }\n";
    let latency = "[gate.metrics]\n\"latency.completion.median_ns\" = { max = \"1ns\" }\n";
    let unknown = "[gate.metrics]\n\"idle.unknown_ns\" = { grow = \"5%\" }\n";
    let kernel = "[gate.kernels]\n\"matmul\" = { grow = \"5%\" }\n";
    let median = "[gate.kernels]\n\"*\" = { grow = \"5%\", of = \"median\" }\n";
    let misspelled = "[gate.kernels]\n\"matmull\" = { grow = \"5%\" }\n";
    let optional = "[gate.kernels]\n\"matmull\" = { grow = \"5%\", optional = true }\n";
    gated(submission, 5, "2 failed");
    gated(latency, 5, "1 failed");
    gated(unknown, 0, "1 limit passed");
    gated(kernel, 5, "1 failed");
    gated(median, 5, "2 failed");
    gated(misspelled, 5, "no kernel has a matching");
    gated(optional, 5, "no limit was measurable");
    gated(
        &format!("{unknown}{optional}"),
        0,
        "1 limit passed, 1 not measurable",
    );

    let new = ["c1", "c2", "c3"].map(|run| folder.path().join(run));
    for run in &new {
        fs::remove_file(run.join(ENCODERS)).unwrap();
    }
    let said = gated(submission, 5, "not recorded in new, but");
    let line = said.lines().find(|line| {
        line.trim_start().starts_with("GPU start latency ") && line.contains("unknown")
    });
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();

    // A value that is not known is not an improvement.
    let cells = ["unknown", "–", "–", "not", "recorded"];
    assert!(words.windows(5).any(|found| found == cells), "{words:?}");
    assert!(
        said.contains("the cause of 100 % of the idle time of new is unknown"),
        "{said}"
    );
    let said = gated(unknown, 5, "1 failed");
    assert!(said.contains("0 ns → "), "{said}");
    for run in &new {
        fs::remove_file(run.join(COMPLETIONS)).unwrap();
    }
    gated(latency, 5, "not recorded in new, but");

    let renamed = |seed| scenario(seed, 40, "").replace("matmul", "product");
    for (name, seed) in [("c1", 7), ("c2", 8), ("c3", 9)] {
        fs::remove_dir_all(folder.path().join(name)).unwrap();
        fs::write(folder.path().join("c.toml"), renamed(seed)).unwrap();
        run(folder.path(), &["synth", "c.toml", "-o", name], 0);
    }
    let gone = "not in new: the kernel is gone";
    gated(kernel, 5, gone);
    let said = gated(median, 5, gone);
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let names_both =
        words.contains("only in base: matmul (") && words.contains("only in new: product");
    assert!(names_both, "{said}");
    assert_snapshot!("screen-renamed", said);
    let default = [&sides()[..], &["--gate", "--json"]].concat();
    fs::remove_file(folder.path().join("gate.toml")).unwrap();
    let json: Value = serde_json::from_str(&run(folder.path(), &default, 5)).unwrap();
    check_schema("comparison.schema.json", &json);
    let kernels = json["kernels"].as_array().unwrap();
    let matmul = kernels
        .iter()
        .find(|kernel| kernel["name"] == "matmul")
        .unwrap();
    assert_eq!(matmul["class"], "removed");
    assert_eq!(
        matmul["total_ns"]["new"]["values"],
        serde_json::json!([null, null, null])
    );
}

#[test]
fn a_run_that_is_named_twice_is_refused_or_noted() {
    let folder = with(&[
        ("a1", scenario(1, 30, "")),
        ("a2", scenario(2, 30, "")),
        ("a3", scenario(3, 30, "")),
        ("other", scenario(4, 30, "").replace("bench", "other")),
    ]);
    run(folder.path(), &["analyze", "-q", "a1", "-o", "report"], 0);
    let check = |arguments: &str, code: i32, expected: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = metalens(folder.path(), &arguments);
        let said = transcript(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}");
    };

    check(
        "baseline save a1 a1 a1 -o b.json",
        2,
        "a1 is given twice: a baseline needs different runs",
    );
    check(
        "baseline save a1 a2 report -o b.json",
        2,
        "a1 is given twice",
    );
    check(
        "baseline save a1 a2 other -o b.json",
        1,
        "program bench and other",
    );
    check(
        "compare --base a1 a1 --new a2 a3",
        2,
        "a1 is given twice: name each run of a side once",
    );
    check(
        "compare --base a2 a3 --new a1 report",
        2,
        "a1 is given twice",
    );
    check("compare a1 report", 0, "the same run is on both sides (a1)");
    check(
        "compare --base a1 a2 --new a2 a3",
        0,
        "some of them the same run",
    );
    check("baseline save a1 a2 a3 -o b.json", 0, "");
    check(
        "compare --baseline b.json a1",
        0,
        "the same run is on both sides (a1)",
    );
    check(
        "baseline save a1 -o b.json --add",
        2,
        "a baseline needs different runs",
    );
    check(
        "baseline save b1 -o none.json --add",
        1,
        "cannot read none.json",
    );

    // A baseline with missing parts is refused.
    let text = fs::read_to_string(folder.path().join("b.json")).unwrap();
    let mut stripped: Value = serde_json::from_str(&text).unwrap();
    stripped["kernels"] = serde_json::json!([]);
    fs::write(folder.path().join("b.json"), stripped.to_string()).unwrap();
    check("compare --baseline b.json a1", 1, "kernels are missing");
    stripped["metrics"] = serde_json::json!({});
    fs::write(folder.path().join("b.json"), stripped.to_string()).unwrap();
    check(
        "compare --baseline b.json a1",
        1,
        "metrics are missing: window.span_ns, ",
    );
}
