//! Tests `metalens batch`: an index, a folder for each recording, and nothing done twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use metalens_simulator::{Scenario, write_export};
use serde_json::Value;
use tempfile::TempDir;

use crate::{metalens, stderr, stdout};
#[cfg(unix)]
use crate::{signal, until};

/// Writes a small export, recorded on a day of January that `seed` gives. The length of a kernel is
/// `duration`.
fn trace(folder: &Path, seed: u32, duration: &str, name: &str) {
    let scenario = format!(
        "seed = {seed}\n[[process]]\nname = \"bench\"\npid = 4321\nrole = \"target\"\n\
         [[process.stream]]\ncount = 12\nduration = \"{duration}\"\nencoder-label = \"sin\"\n\
         completion = \"20us\"\nhost = [\"20us\", \"22us\"]\nencode = \"5us\"\nlaunch = \"20us\"\n\
         [[process]]\nname = \"Secret Browser\"\npid = 77\n[[process.stream]]\n\
         channel = \"Fragment\"\ncount = 2\nstart = \"690ms\"\nduration = \"10us\"\n"
    );
    let export = folder.join(name);
    write_export(&Scenario::from_toml(&scenario).unwrap(), &export, false).unwrap();
    let toc = export.join("toc.xml");
    let text = fs::read_to_string(&toc).unwrap();
    let day = seed % 28 + 1;
    fs::write(
        toc,
        text.replace("2026-01-01T", &format!("2026-01-{day:02}T")),
    )
    .unwrap();
}

/// Creates a folder with `count` of these exports in `runs`.
pub(crate) fn traces(count: u32) -> TempDir {
    let folder = metalens_testing::scratch();
    for seed in 0..count {
        trace(folder.path(), seed, "200us", &format!("runs/t{seed}"));
    }
    folder
}

/// Returns every file of a folder, with its bytes and the time of its last change.
fn tree(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(one) = folders.pop() {
        for entry in fs::read_dir(&one).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let changed = entry.metadata().unwrap().modified().unwrap();
                let name = path.strip_prefix(folder).unwrap().to_path_buf();
                files.insert(name, (fs::read(&path).unwrap(), changed));
            }
        }
    }
    files
}

/// Returns the folders in which files changed between two calls of `tree`.
fn written(
    before: &BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)>,
    after: &BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)>,
) -> Vec<String> {
    let changed = after
        .iter()
        .filter(|(path, file)| before.get(*path) != Some(*file));
    let top = changed.filter_map(|(path, _)| path.iter().next());
    let mut top: Vec<String> = top
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    top.dedup();
    top
}

fn index(folder: &Path) -> Value {
    let index: Value =
        serde_json::from_slice(&fs::read(folder.join("index.json")).unwrap()).unwrap();
    let schema = metalens(folder, &["schema", "index"]);
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let found = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = found
        .iter_errors(&index)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    index
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|row| row["name"].as_str().unwrap()).collect()
}

/// Checks that a report is complete: each file that its manifest lists has its length.
fn check_whole(folder: &Path) {
    let manifest: Value =
        serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    for file in manifest["files"].as_array().unwrap() {
        let path = folder.join(file["path"].as_str().unwrap());
        let length = fs::metadata(&path).unwrap().len();
        assert_eq!(Some(length), file["bytes"].as_u64(), "{}", path.display());
    }
}

const ALL: [&str; 7] = [
    "batch",
    "runs",
    "broken.zip",
    "empty",
    "notes.txt",
    "-o",
    "out",
];

/// The second run with the same inputs writes nothing.
#[test]
fn good_inputs_are_reported_and_bad_ones_named() {
    let folder = traces(3);
    let at = |path: &str| folder.path().join(path);
    trace(folder.path(), 5, "200us", "runs/deep/er/t5.export");
    fs::write(at("broken.zip"), "PK\u{3}\u{4}broken").unwrap();
    fs::write(at("notes.txt"), "words").unwrap();
    fs::write(at("runs/readme.md"), "words").unwrap();
    fs::create_dir_all(at("runs/odd.trace")).unwrap();
    fs::create_dir(at("empty")).unwrap();
    let first = metalens(folder.path(), &ALL);
    let told = stderr(&first);
    assert_eq!(first.status.code(), Some(1), "{told}");
    let found = index(&at("out"));
    assert_eq!(
        names(&found["rows"]),
        ["deep/er/t5.export", "t0", "t1", "t2"]
    );
    let failed = ["broken.zip", "empty", "notes.txt", "odd.trace"];
    assert_eq!(names(&found["failed"]), failed);
    for name in failed {
        assert!(told.contains(&format!("{name}: ")), "{name}: {told}");
    }
    let count = "4 of 8 inputs failed; the others succeeded\n";
    assert!(told.contains(count), "{told}");
    assert!(
        told.contains("empty: no recording in this folder"),
        "{told}"
    );
    assert!(
        told.contains("note: files skipped because they are not recordings: 1"),
        "{told}"
    );

    // A report of a batch is, to the byte, what `analyze -o` writes; the charts are on request.
    metalens(folder.path(), &["analyze", "runs/t1", "-o", "alone"]);
    for name in ["report.json", "report.html"] {
        let [alone, in_batch] = ["alone", "out/t1"].map(|path| fs::read(at(path).join(name)));
        assert!(alone.unwrap() == in_batch.unwrap(), "{name}");
    }
    assert!(!at("out/t1/charts").exists());
    let page = fs::read_to_string(at("out/t1/report.md")).unwrap();
    assert!(!page.contains("charts/"), "{page}");
    let drawn = ["batch", "runs/t1", "--charts", "-o", "drawn"];
    assert!(metalens(folder.path(), &drawn).status.success());
    let (alone, mut in_batch) = (tree(&at("alone")), tree(&at("drawn/t1")));
    assert!(in_batch.remove(Path::new("batch.json")).is_some());
    let bytes = |files: BTreeMap<PathBuf, (Vec<u8>, _)>| -> Vec<(PathBuf, Vec<u8>)> {
        files
            .into_iter()
            .map(|(path, (bytes, _))| (path, bytes))
            .collect()
    };

    assert!(bytes(alone) == bytes(in_batch));

    let before = tree(&at("out"));
    let second = metalens(folder.path(), &ALL);
    assert_eq!(stdout(&second), stdout(&first));
    assert!(
        stderr(&second).contains("4 recordings up to date, 3 to analyze"),
        "{}",
        stderr(&second)
    );
    assert_eq!(written(&before, &tree(&at("out"))), [""; 0]);

    // Other options: all reports are written again.
    let limits = "[gate.metrics]\n\"busy.ratio\" = { min = \"80%\" }\n";
    fs::write(at("limits.toml"), limits).unwrap();
    let checked = metalens(
        folder.path(),
        &["batch", "runs/t?", "-o", "out", "--gate=limits.toml", "-q"],
    );
    assert_eq!(checked.status.code(), Some(5), "{}", stderr(&checked));
    let told = stderr(&checked);
    for name in ["t0", "t1", "t2"] {
        let missed = format!("{name}: failed: busy.ratio at least 80.0 %: it is ");
        let lines = told.lines().filter(|line| line.starts_with(&missed));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), 1, "{told}");
    }
    let found = index(&at("out"));
    assert_eq!(names(&found["rows"]), ["t0", "t1", "t2"]);
    let note = found["notes"][0].as_str().unwrap();
    assert!(
        note.ends_with("not named this time: deep-er-t5.export"),
        "{note}"
    );
    check_whole(&at("out/deep-er-t5.export"));
}

/// A hint for each of many failed inputs hides which ones failed; the page has them.
#[test]
fn hints_of_many_failures_are_on_the_page() {
    let hints = |failures: u32| {
        let folder = traces(1);
        for number in 0..failures {
            fs::create_dir(folder.path().join(format!("runs/x{number}.trace"))).unwrap();
        }
        let output = metalens(folder.path(), &["batch", "runs", "-o", "out"]);
        let told = stderr(&output);
        assert_eq!(told.matches("error:").count(), failures as usize, "{told}");
        let page = fs::read_to_string(folder.path().join("out/index.html")).unwrap();
        assert_eq!(page.matches(" → ").count(), failures as usize, "{page}");
        let sends_there = told.contains("index.html says what to do about each");
        (told.matches("hint:").count(), sends_there)
    };
    assert_eq!(hints(5), (5, false));
    assert_eq!(hints(6), (0, true));
}

/// A caveat does not stand before the finding about speed, and the words below the table are a sentence.
#[test]
fn rows_show_speed_beside_a_caveat() {
    let folder = traces(2);
    let scenario = Scenario::preset("awkward").unwrap();
    write_export(&scenario, &folder.path().join("odd"), false).unwrap();
    let batch = |input: &str| {
        let limits = "[gate.metrics]\n\"busy.ratio\" = { min = \"99%\", severity = \"warn\" }\n";
        fs::write(folder.path().join("limits.toml"), limits).unwrap();
        let arguments = ["batch", input, "-o", "out", "--gate=limits.toml"];
        let output = metalens(folder.path(), &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };

    let screen = batch("odd");
    assert!(screen.contains("  HIGH outliers  "), "{screen}");
    let html = fs::read_to_string(folder.path().join("out/index.html")).unwrap();
    metalens_testing::check_policy(&html);
    assert!(html.contains("odd/report.html#finding-outliers"), "{html}");

    let screen = batch("runs");
    let same = screen.split("The same in all: ").nth(1).unwrap();
    let same = same.split("\n\n").next().unwrap().replace("\n  ", " ");
    assert!(
        same.contains("limits missed 1 of 1; missed busy.ratio; "),
        "{same}"
    );
    assert!(!same.contains("title"), "{same}");
}

/// The index of the last batch stays, and with it the history of the folder; a new folder gets none.
#[test]
fn a_batch_that_reads_nothing_writes_no_index() {
    let folder = traces(2);
    let at = |path: &str| folder.path().join(path);
    let out = at("out");
    let made = metalens(folder.path(), &["batch", "runs", "-o", "out"]);
    assert!(made.status.success(), "{}", stderr(&made));
    let before = tree(&out);
    fs::create_dir(at("empty.trace")).unwrap();
    fs::write(at("broken.zip"), "PK\u{3}\u{4}broken").unwrap();

    let kept = "note: no recording was read, so out/index.html stays as it was\n";
    let check = |inputs: &[&str], output: &str, said: &[&str]| {
        let arguments = [&["batch"], inputs, &["-o", output]].concat();
        let output = metalens(folder.path(), &arguments);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{inputs:?}: {told}");
        assert_eq!(stdout(&output), "", "{inputs:?}");
        for said in said {
            assert!(told.contains(said), "{inputs:?}: {told}");
        }
        assert!(!told.contains("wrote"), "{inputs:?}: {told}");
    };

    let no_file = "error: typo: No such file or directory\n";
    check(&["typo"], "out", &[no_file, "1 of 1 input failed\n", kept]);
    check(
        &["ru*x", "typo"],
        "out",
        &["no file matches", no_file, kept],
    );
    let damaged = ["broken.zip", "empty.trace"];
    check(&damaged, "out", &["2 of 2 inputs failed\n", kept]);
    assert!(tree(&out) == before);

    check(&["typo"], "new", &[no_file]);
    assert!(!at("new").exists());
    check(&damaged, "new", &["2 of 2 inputs failed\n"]);
    assert!(tree(&at("new")).is_empty());

    // A program that asked for JSON gets the failures.
    let arguments = ["batch", "typo", "-o", "out", "--json", "-q"];
    let output = metalens(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(names(&found["failed"]), ["typo"]);
    assert!(tree(&out) == before);
}

#[test]
fn a_second_run_analyzes_only_what_changed() {
    let folder = traces(3);
    let at = |path: &str| folder.path().join(path);
    let run = |more: &[&str]| -> (Vec<String>, Output) {
        let before = if at("out").is_dir() {
            tree(&at("out"))
        } else {
            BTreeMap::new()
        };
        let output = metalens(
            folder.path(),
            &[&["batch", "runs", "-o", "out"], more].concat(),
        );
        (written(&before, &tree(&at("out"))), output)
    };

    // With charts first, so that the next run takes them away.
    run(&["--charts"]);
    assert!(at("out/t1/charts/idle.png").exists());
    run(&[]);
    assert!(!at("out/t1/charts/idle.png").exists());

    let toc = at("runs/t1/toc.xml");
    let text = fs::read_to_string(&toc).unwrap();
    let (changed, output) = run(&[]);
    assert!(
        stderr(&output).contains("3 recordings, all up to date"),
        "{}",
        stderr(&output)
    );
    assert_eq!(changed, [""; 0]);

    // Changed.
    fs::write(&toc, text.replace("Synthetic Mac", "Synthetic Max")).unwrap();
    let (changed, output) = run(&[]);
    assert!(
        stderr(&output).contains("2 recordings up to date, 1 to analyze"),
        "{}",
        stderr(&output)
    );
    assert!(
        changed.contains(&"t1".to_owned()) && !changed.contains(&"t0".to_owned()),
        "{changed:?}"
    );

    // New.
    trace(folder.path(), 9, "200us", "runs/t9");
    let (_, output) = run(&[]);
    assert!(
        stderr(&output).contains("3 recordings up to date, 1 to analyze"),
        "{}",
        stderr(&output)
    );

    // A file of a report is gone: the report is written again.
    fs::remove_file(at("out/t2/report.html")).unwrap();
    let (_, output) = run(&[]);
    assert!(
        stderr(&output).contains("3 recordings up to date, 1 to analyze"),
        "{}",
        stderr(&output)
    );
    check_whole(&at("out/t2"));

    // Other options: all reports are written again, except one that the user changed.
    fs::write(at("out/t0/report.md"), "my words").unwrap();
    let (_, output) = run(&["--step", "2"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        told.contains("report.md changed after metalens wrote it; --force"),
        "{told}"
    );
    assert_eq!(
        fs::read_to_string(at("out/t0/report.md")).unwrap(),
        "my words"
    );
    let (_, output) = run(&["--step", "2", "--force"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn the_index_has_outliers_and_trends_and_no_private_names() {
    let folder = metalens_testing::scratch();
    for seed in 0..9_u32 {
        let duration = match seed {
            7 => "20us".to_owned(),
            _ => format!("{}us", 400 - 20 * seed),
        };
        trace(
            folder.path(),
            seed,
            &duration,
            &format!("private/place/t{seed}"),
        );
    }
    let none = folder.path().join("private/place/none.export");
    trace(folder.path(), 1, "9us", "private/place/none.export");

    // The recorded process has no GPU interval.
    let toc = fs::read_to_string(none.join("toc.xml")).unwrap();
    fs::write(none.join("toc.xml"), toc.replace("4321", "4322")).unwrap();
    let inputs = folder.path().join("private");
    let inputs = inputs.to_str().unwrap();
    let arguments = ["batch", inputs, "-o", "out", "--json"];
    let output = metalens(folder.path(), &arguments);
    let out = folder.path().join("out");
    assert_eq!(
        stdout(&output).into_bytes(),
        fs::read(out.join("index.json")).unwrap()
    );
    let found = index(&out);
    assert_eq!(names(&found["rows"]).len(), 9, "{}", stderr(&output));
    let far: Vec<&str> = found["outliers"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|limit| limit["figure"] == "busy.ratio")
        .map(|limit| limit["report"].as_str().unwrap())
        .collect();
    assert_eq!(far, ["place-t7"]);
    // A page has a line for each recording, with all figures, and no column in which all is well.
    let markdown = fs::read_to_string(out.join("index.md")).unwrap();
    let items = markdown.lines().filter(|line| line.starts_with("- "));
    let lines: Vec<&str> = items.filter(|line| line.contains("(median ")).collect();
    let all = found["outliers"].as_array().unwrap();
    let recordings: BTreeSet<&str> = all
        .iter()
        .map(|limit| limit["report"].as_str().unwrap())
        .collect();
    assert!(recordings.len() < all.len(), "{all:?}");
    assert_eq!(lines.len(), recordings.len(), "{markdown}");
    let slow = lines
        .iter()
        .find(|line| line.contains("place/t7: busy share "));
    assert!(
        slow.is_some_and(|line| line.contains(", first to last GPU work ")),
        "{lines:?}"
    );
    assert!(!markdown.contains("problems 0"), "{markdown}");
    let trend = &found["trends"][0];
    assert_eq!(trend["is_trend"], true, "{trend}");
    assert!(
        trend["says"]["text"]
            .as_str()
            .unwrap()
            .contains("busy share fell from about"),
        "{trend}"
    );
    for page in ["index.html", "index.md", "index.csv"] {
        let text = fs::read_to_string(out.join(page)).unwrap();
        assert!(text.contains("place-t7"), "{page}");
        assert!(!text.contains(inputs), "{page}");
        assert!(!text.contains("Secret Browser"), "{page}");
    }
    assert!(stdout(&output).contains(inputs));
    let html = fs::read_to_string(out.join("index.html")).unwrap();
    assert!(html.contains("href=\"place-t7/report.html\"") && html.contains("class=\"thumb\""));
    let csv = fs::read_to_string(out.join("index.csv")).unwrap();
    let fields = |line: &str| line.matches(',').count();
    let mut lines = csv.lines();
    let heading = fields(lines.next().unwrap());
    assert!(
        lines.by_ref().take(9).all(|line| fields(line) == heading),
        "{csv}"
    );
}

/// Returns the members of each group that has several.
fn compared(found: &Value) -> Vec<Vec<&str>> {
    let groups = found["groups"].as_array().unwrap().iter();
    let members = groups.map(|group| {
        let reports = group["reports"].as_array().unwrap().iter();
        reports.map(|report| report.as_str().unwrap()).collect()
    });
    members
        .filter(|members: &Vec<&str>| members.len() > 1)
        .collect()
}

/// Runs of several programs, or of one with other amounts of work, are not compared with each
/// other, and a bundle, its export and its archive are one run.
#[test]
fn only_the_same_work_is_compared_and_a_run_counts_once() {
    let folder = metalens_testing::scratch();
    let scenario = |seed: u32, count: u32| {
        let text = format!(
            "seed = {seed}\n[[process]]\nname = \"bench\"\npid = 4321\nrole = \"target\"\n\
             [[process.stream]]\ncount = {count}\nduration = \"200us\"\nencoder-label = \"sin\"\n\
             completion = \"20us\"\nhost = [\"20us\", \"90us\"]\nencode = \"5us\"\nlaunch = \"20us\"\n"
        );
        Scenario::from_toml(&text).unwrap()
    };
    let at = |name: &str| folder.path().join("runs").join(name);
    fs::create_dir(folder.path().join("runs")).unwrap();

    // As many recordings of each amount as a trend needs, and longer with each.
    for (seed, count) in (0..8).map(|seed| (seed, 12)).chain([(8, 40), (9, 60)]) {
        write_export(&scenario(seed, count), &at(&format!("t{seed}")), false).unwrap();
    }
    metalens_simulator::write_bundle(&scenario(3, 12), &at("again.trace"), false).unwrap();
    let other = Scenario::preset("fused").unwrap();
    write_export(&other, &at("other"), false).unwrap();

    let output = metalens(folder.path(), &["batch", "runs", "-o", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let out = folder.path().join("out");
    let found = index(&out);
    let same = ["again", "t0", "t1", "t2", "t4", "t5", "t6", "t7"];
    assert_eq!(compared(&found), [same]);
    let group = found["outliers"].as_array().unwrap().iter();
    let group = group.chain(found["trends"].as_array().unwrap());
    for group in group {
        let name = group["group"].as_str().unwrap();
        assert!(
            name.contains("12 GPU intervals in 12 command buffers"),
            "{name}"
        );
    }
    let rows = found["rows"].as_array().unwrap().iter();
    let repeated = rows.filter(|row| !row["same_as"].is_null());
    let repeated: Vec<_> = repeated
        .map(|row| (&row["report"], &row["same_as"]))
        .collect();
    assert_eq!(repeated, [(&Value::from("t3"), &Value::from("again"))]);

    let page = fs::read_to_string(out.join("index.md")).unwrap();
    let screen = stdout(&output);
    for said in [
        "3 recordings did work that no other one did",
        "The same in all: ",
    ] {
        assert!(page.contains(said), "{said}: {page}");
        assert!(screen.contains(said), "{said}: {screen}");
    }
    assert!(page.contains("**11 recordings analyzed.**"), "{page}");
    assert!(page.contains("t3 is the recording again.trace"), "{page}");

    // A column that says the same in every row is not there; a finding leads to its place.
    let headings = page
        .lines()
        .find(|line| line.starts_with("| Recording"))
        .unwrap();
    let headings: Vec<&str> = headings.split('|').map(str::trim).collect();
    for hidden in ["GPU", "Problems", "P95 gap", "Top kernel", "Title"] {
        assert!(!headings.contains(&hidden), "{hidden}: {headings:?}");
    }
    assert!(page.contains("](other/report.md#findings)"), "{page}");
    let html = fs::read_to_string(out.join("index.html")).unwrap();
    let place = "other/report.html#finding-serialized";
    assert!(html.contains(place), "{html}");
    let report = fs::read_to_string(out.join("other/report.html")).unwrap();
    assert!(report.contains("id=\"finding-serialized\""));
    let csv = fs::read_to_string(out.join("index.csv")).unwrap();
    assert!(csv.lines().next().unwrap().contains("busy.machine_busy_ns"));
}

/// Folders that cannot be written, or have files that metalens did not write, are refused.
#[test]
fn outputs_that_are_not_ours_are_refused() {
    let folder = traces(1);
    let at = |path: &str| folder.path().join(path);
    let check = |output: &str, code: i32, said: &str| {
        let output = metalens(folder.path(), &["batch", "runs", "-o", output]);
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(said), "{told}");
    };

    check(
        "runs/t0",
        2,
        "runs/t0 is a recording: choose another folder",
    );
    assert!(!at("runs/t0/index.json").exists());
    fs::write(at("file"), "").unwrap();
    check("file", 1, "cannot write into file");
    fs::create_dir(at("site")).unwrap();
    fs::write(at("site/index.html"), "mine").unwrap();
    check("site", 1, "site/index.html exists; --force replaces it");
    assert_eq!(fs::read_to_string(at("site/index.html")).unwrap(), "mine");
    metalens(folder.path(), &["analyze", "runs/t0", "-o", "report", "-q"]);
    check(
        "report",
        1,
        "report has the report of one recording: choose another folder",
    );
    fs::create_dir_all(at("taken/t0")).unwrap();
    fs::write(at("taken/t0/report.md"), "mine").unwrap();
    check("taken", 1, "taken/t0/report.md exists; --force replaces it");

    // The output folder may be inside a searched folder.
    check("runs/reports", 0, "1 recording\n");
    check("runs/reports", 0, "1 recording, all up to date");

    // Nothing is written into an input.
    check("runs", 0, "1 recording\n");
    assert!(!at("runs/t0/report.md").exists());
    check("runs", 0, "1 recording, all up to date");
    let usage = metalens(folder.path(), &["batch", "-", "-o", "out"]);
    assert_eq!(usage.status.code(), Some(2));
}

/// Starts a batch, and returns while it runs.
#[cfg(unix)]
fn start(folder: &Path) -> Child {
    let program = assert_cmd::cargo::cargo_bin("metalens");
    let mut command = Command::new(program);
    command
        .current_dir(folder)
        .env_clear()
        .args(["batch", "runs", "-o", "out", "--jobs", "2"]);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until `count` reports are complete.
#[cfg(unix)]
fn until_reports(out: &Path, count: usize) {
    let whole = || {
        let folders = fs::read_dir(out).into_iter().flatten().flatten();
        let whole = folders.filter(|folder| folder.path().join("manifest.json").is_file());
        whole.count()
    };

    until(
        Duration::from_secs(120),
        &format!("{count} reports"),
        || whole() >= count,
    );
}

/// Reports are complete or absent after a kill, an interrupt and a second batch at the same time;
/// the next run continues.
#[cfg(unix)]
#[test]
fn killed_and_stopped_batches_leave_complete_reports_and_go_on() {
    let folder = traces(24);
    let out = folder.path().join("out");
    let mut killed = start(folder.path());
    until_reports(&out, 2);

    // A second batch cannot write into the same folder at the same time.
    let other = metalens(folder.path(), &["batch", "runs", "-o", "out"]);
    let told = stderr(&other);
    assert_eq!(other.status.code(), Some(1), "{told}");
    let locked = "another metalens process is writing to out: ";
    assert!(told.contains(locked), "{told}");
    until_reports(&out, 4);
    signal(killed.id(), "KILL");
    killed.wait().unwrap();
    let whole = |path: &Path| path.join("manifest.json").is_file();
    let mut count = 0;
    for folder in fs::read_dir(&out)
        .unwrap()
        .flatten()
        .filter(|folder| whole(&folder.path()))
    {
        check_whole(&folder.path());
        count += 1;
    }
    assert!((4..24).contains(&count), "{count}");

    let stopped = start(folder.path());
    until_reports(&out, count + 3);
    signal(stopped.id(), "INT");
    let output = stopped.wait_with_output().unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(
        told.contains("stopping after the reports in progress"),
        "{told}"
    );
    let found = index(&out);
    let (done, left) = (
        names(&found["rows"]).len(),
        found["unfinished"].as_u64().unwrap(),
    );
    assert_eq!(done as u64 + left, 24);
    assert!(left > 0 && done >= count + 3, "{done} done");
    for name in names(&found["rows"]) {
        check_whole(&out.join(name));
    }

    let last = metalens(folder.path(), &["batch", "runs", "-o", "out"]);
    let told = stderr(&last);
    assert_eq!(last.status.code(), Some(0), "{told}");
    assert!(
        told.contains(&format!("{done} recordings up to date, {left} to analyze")),
        "{told}"
    );
    let found = index(&out);
    assert_eq!(
        (names(&found["rows"]).len(), &found["unfinished"]),
        (24, &Value::from(0))
    );

    // The killed batch left no temporary files.
    let litter = tree(&out).into_keys().filter(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(".metalens-"))
    });
    assert_eq!(litter.collect::<Vec<_>>(), Vec::<PathBuf>::new());
}

#[test]
fn every_real_recording_is_reported_or_named() {
    let Some(real) = metalens_testing::real_recordings() else {
        return;
    };
    let folder = metalens_testing::scratch();
    let output = metalens(
        folder.path(),
        &["batch", real.to_str().unwrap(), "-o", "out"],
    );
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let found = index(&folder.path().join("out"));
    for expected in [
        "m1-bundle-and-export/export",
        "m1-bundle-and-export/gpu_baseline.trace",
        "m1-launched-1000",
    ] {
        let names = names(&found["rows"]);
        assert!(names.contains(&expected), "{names:?}");
    }

    // The bundle and its export are one run, and no two runs are compared that did other work.
    let rows = found["rows"].as_array().unwrap();
    let same: Vec<&Value> = rows.iter().map(|row| &row["same_as"]).collect();
    let expected = rows.iter().map(|row| match row["name"].as_str().unwrap() {
        "m1-bundle-and-export/export" => "m1-bundle-and-export-gpu_baseline".into(),
        _ => Value::Null,
    });
    assert_eq!(
        same,
        expected.collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    assert_eq!(found["outliers"], Value::Array(Vec::new()));
    assert_eq!(found["trends"], Value::Array(Vec::new()));

    let launched = found["rows"].as_array().unwrap().iter();
    let mut launched = launched.filter(|row| row["name"] == "m1-launched-1000");
    let row = launched.next().unwrap();
    assert_eq!(
        (
            &row["figures"]["busy.busy_ns"],
            &row["figures"]["window.span_ns"]
        ),
        (&6_698_335.into(), &200_189_875.into())
    );
    let failed = names(&found["failed"]);
    assert!(
        failed.contains(&"m1-every-table-no-target-rows"),
        "{failed:?}"
    );
    for refusal in found["failed"].as_array().unwrap() {
        assert!(!refusal["why"].as_str().unwrap().is_empty());
    }
}

/// A run that is missing in the dataset is added again.
#[test]
fn each_run_is_in_the_dataset_once() {
    let folder = traces(3);
    let runs = || {
        metalens_dataset::run_names(&folder.path().join("fleet"))
            .unwrap()
            .len()
    };

    let batch = |more: &[&str]| {
        let arguments = [&["batch", "-q", "runs", "-o", "out"], more].concat();
        let output = metalens(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        tree(&folder.path().join("out"))
    };

    // Reports that are up to date still have to be added to a new dataset.
    let first = batch(&[]);
    let parquet = ["--parquet", "fleet"];
    let second = batch(&parquet);
    assert_eq!(runs(), 3);
    let names = |tree: &BTreeMap<PathBuf, _>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&first), names(&second));
    let fleet = tree(&folder.path().join("fleet"));
    let third = batch(&parquet);
    assert_eq!(written(&second, &third), Vec::<String>::new());
    assert_eq!(tree(&folder.path().join("fleet")), fleet);

    fs::remove_dir_all(folder.path().join("fleet")).unwrap();
    batch(&parquet);
    assert_eq!(runs(), 3);
}
