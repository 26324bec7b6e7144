//! `compare` and `baseline`: sides in; sentences, files and exit codes out.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;
use tempfile::TempDir;

use super::folder::{check_manifest, files_of};
use super::{metalens, stderr, stdout, transcript};

/// `bench` with a seed, kernels of so many µs, and whatever else.
fn scenario(seed: u32, kernel_us: u32, more: &str) -> String {
    format!(
        "seed = {seed}\n{more}\n[[process]]\nname = \"bench\"\npid = 4101\nrole = \"target\"\n\
         [[process.stream]]\ncount = 40\nsubmit = \"sync\"\nencoder-label = [\"matmul\", \"a | `b` <img> *\"]\n\
         duration = [\"{kernel_us}us\", \"{}us\"]\nlaunch = [\"80us\", \"84us\"]\n",
        kernel_us + 1
    )
}

/// Exports by these names.
fn with(runs: &[(&str, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, toml) in runs {
        let file = format!("{name}.toml");
        fs::write(folder.path().join(&file), toml).unwrap();
        run(folder.path(), &["synth", &file, "-o", name], 0);
    }
    folder
}

/// Three runs, three like them, and three of which the kernels are slower.
fn nine() -> TempDir {
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

fn run(folder: &Path, arguments: &[&str], code: i32) -> String {
    let output = metalens(folder, arguments);
    let said = transcript(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{said}");
    stdout(&output)
}

fn check_schema(name: &str, document: &Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name);
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|one| one.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn eager_against_fused() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["eager", "fused", "batched"] {
        run(folder.path(), &["synth", name, "-o", name], 0);
    }
    let arguments = ["compare", "eager", "fused", "--preset", "fusion"];
    assert_snapshot!("screen-fusion", run(folder.path(), &arguments, 0));
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
    let many = ["compare", "eager", "fused", "batched"];
    assert_snapshot!("screen-many", run(folder.path(), &many, 0));
    let json = run(folder.path(), &[&many[..], &["--json"]].concat(), 0);
    let all: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 2);
    for one in all.as_array().unwrap() {
        check_schema("comparison.schema.json", one);
    }
}

#[test]
fn several_runs_a_side_and_the_gate() {
    let folder = nine();
    let against = |new: &[&'static str]| {
        [
            &["compare", "--base", "a1", "a2", "a3", "--new"],
            new,
            &["--gate"],
        ]
        .concat()
    };
    let equal = run(folder.path(), &against(&["b1", "b2", "b3"]), 0);
    assert!(equal.contains("KEPT"), "{equal}");
    assert!(equal.contains("90 % confidence"), "{equal}");
    let slower = run(folder.path(), &against(&["c1", "c2", "c3"]), 5);
    assert_snapshot!("screen-gate", slower);
    // Without --gate a difference is no failure.
    run(folder.path(), &["compare", "a1", "c1"], 0);
    run(folder.path(), &["compare", "a1", "c1", "--gate"], 5);
    let limits = "[gate.metrics]\n\"gaps.median_ns\" = { max = \"1us\", severity = \"warn\" }\n\
                  [gate.kernels]\n\"mat*\" = { max = \"2ms\" }\n";
    fs::write(folder.path().join("metalens.toml"), limits).unwrap();
    let warned = run(folder.path(), &against(&["c1", "c2", "c3"]), 0);
    assert!(warned.contains("WARNING"), "{warned}");
    let strict = limits.replace("2ms", "0.5ms");
    fs::write(folder.path().join("strict.toml"), strict).unwrap();
    let arguments = ["compare", "a1", "c1", "--gate", "strict.toml", "--json"];
    let json: Value = serde_json::from_str(&run(folder.path(), &arguments, 5)).unwrap();
    check_schema("comparison.schema.json", &json);
    assert_eq!(json["gate"]["rows"][0]["what"], "matmul");
    assert_eq!(json["gate"]["rows"][0]["verdict"], "miss");
    fs::write(folder.path().join("none.toml"), "[gate]\n").unwrap();
    run(
        folder.path(),
        &["compare", "a1", "c1", "--gate", "none.toml"],
        1,
    );
    // Other commands read the same file.
    run(folder.path(), &["analyze", "a1"], 0);
}

#[test]
fn what_is_not_alike_is_refused() {
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
    let forced = run(folder.path(), &["compare", "a", "b", "--force"], 0);
    assert!(
        forced.contains("FORCED: the sides are not comparable"),
        "{forced}"
    );
    let json = run(
        folder.path(),
        &["compare", "a", "b", "--force", "--json"],
        0,
    );
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["comparable"]["forced"], true);
}

/// A report that was written before is as good as its recording.
#[test]
fn reports_are_inputs() {
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
fn the_folder() {
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
        "comparison.json",
        "comparison.md",
        "manifest.json",
    ];
    assert_eq!(names, expected);
    check_manifest(&files);
    let manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    check_schema("manifest.schema.json", &manifest);
    assert_eq!(manifest["report_schema"], "metalens.comparison/1");
    let page = String::from_utf8(files["comparison.md"].clone()).unwrap();
    assert!(page.contains("](charts/compare.png)"), "{page}");
    // A label stays a label.
    assert!(page.contains(r"a \| \`b\` &lt;img&gt; \*"), "{page}");
    write("out", 1, &[]);
    assert_eq!(
        write("out", 0, &["--force"]),
        files,
        "same input, same bytes"
    );
    // Of reports there is nothing to draw.
    let json = run(folder.path(), &["analyze", "a1", "--json"], 0);
    fs::write(folder.path().join("a1.json"), json).unwrap();
    run(
        folder.path(),
        &["compare", "a1.json", "a1", "-q", "-o", "plain"],
        0,
    );
    let files = files_of(&folder.path().join("plain"));
    check_manifest(&files);
    assert_eq!(files.len(), 3);
}

#[test]
fn baselines() {
    let folder = nine();
    let save = ["baseline", "save", "a1", "a2", "a3", "-o", "base.json"];
    run(folder.path(), &save, 0);
    let text = fs::read_to_string(folder.path().join("base.json")).unwrap();
    check_schema(
        "baseline.schema.json",
        &serde_json::from_str(&text).unwrap(),
    );
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
    let broken = metalens(folder.path(), &["compare", "--baseline", "a1.toml", "b1"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(
        stderr(&broken).contains("a1.toml: is no baseline"),
        "{}",
        stderr(&broken)
    );
}
