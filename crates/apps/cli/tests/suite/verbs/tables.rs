//! Tests `metalens tables`: the list of tables, and their rows.

use std::fs;

use insta::assert_snapshot;
use metalens_text::units;
use serde_json::Value;

use crate::{metalens, stderr, stdout, transcript, with_scenario};

#[test]
fn the_list_has_each_table_and_its_columns() {
    let folder = with_scenario("eager");
    assert_snapshot!(transcript(&metalens(folder.path(), &["tables", "eager"])));
    let json = metalens(folder.path(), &["tables", "eager", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let intervals = json.as_array().unwrap().iter();
    let mut intervals = intervals.filter(|table| table["schema"] == "metal-gpu-intervals");
    assert_eq!(
        intervals.next().unwrap()["columns"]
            .as_array()
            .unwrap()
            .len(),
        18
    );
}

#[test]
fn the_list_has_the_run_of_each_table() {
    let folder = with_scenario("two-runs");
    assert_snapshot!(transcript(&metalens(
        folder.path(),
        &["tables", "two-runs"]
    )));
    let listed = |run: &str| {
        metalens(
            folder.path(),
            &["tables", "two-runs", "--json", "--run", run],
        )
    };
    let of_one: Value = serde_json::from_str(&stdout(&listed("1"))).unwrap();
    let of_one = of_one.as_array().unwrap();
    assert!(!of_one.is_empty() && of_one.iter().all(|table| table["run"] == 1));
    let wrong = listed("19");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("the recording has no run 19"));
}

/// The exit code says that a table cannot be read.
#[test]
fn a_broken_table_is_listed_with_the_others() {
    let folder = with_scenario("eager");
    let file = folder.path().join("eager/metal-gpu-info.xml");
    fs::write(file, "<trace-query-result><node>").unwrap();
    let pointer = "version https://git-lfs.github.com/spec/v1\n";
    fs::write(folder.path().join("eager/tick.xml"), pointer).unwrap();
    let output = metalens(folder.path(), &["tables", "eager"]);
    assert_snapshot!(transcript(&output));
}

/// Each file of the list is there: its path is absolute, or begins at the input.
#[test]
fn files_of_an_absolute_input_are_found() {
    let folder = with_scenario("eager");
    let bundle = metalens(folder.path(), &["synth", "eager", "-o", "eager.trace"]);
    assert!(bundle.status.success(), "{}", stderr(&bundle));
    for name in ["eager", "eager.trace"] {
        let input = folder.path().join(name);
        for input in [input.to_str().unwrap(), name] {
            let json = metalens(folder.path(), &["tables", input, "--json"]);
            let list: Value = serde_json::from_str(&stdout(&json)).unwrap();
            let screen = stdout(&metalens(folder.path(), &["tables", input]));
            for table in list.as_array().unwrap() {
                let file = table["file"].as_str().unwrap();
                let place = folder.path().join(input).join(file);
                let named = folder.path().join(file);
                assert!(place.exists() || named.exists(), "{input}: {file}");
                assert!(screen.contains(file), "{input}: {file}: {screen}");
            }
        }
    }
}

#[test]
fn csv_and_json_lines_have_the_same_rows() {
    let folder = with_scenario("awkward");
    let rows = |arguments: &[&str]| {
        let first = ["tables", "awkward", "--schema", "metal-gpu-intervals"];
        let output = metalens(folder.path(), &[&first, arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };

    let first = |text: &str| text.lines().take(4).collect::<Vec<_>>().join("\n");
    assert_snapshot!("rows-csv", first(&rows(&[])));
    let json = rows(&["--format", "jsonl"]);
    assert_snapshot!("rows-jsonl", first(&json));
    assert_eq!(json.lines().count() + 1, rows(&[]).lines().count());
    json.lines()
        .for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap()));
}

#[test]
fn an_unknown_table_is_an_error_that_lists_the_tables() {
    let folder = with_scenario("eager");
    let output = metalens(folder.path(), &["tables", "eager", "--schema", "kdebug"]);
    assert_snapshot!(transcript(&output));
}

/// An absolute path stays absolute; files of an export are relative to its folder.
#[test]
fn files_are_listed_as_they_were_named() {
    let folder = with_scenario("eager");
    let files = |input: &str| -> Vec<String> {
        let output = metalens(folder.path(), &["tables", input, "--json"]);
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let listed = listed.as_array().unwrap().iter();
        listed
            .map(|listed| listed["file"].as_str().unwrap().to_owned())
            .collect()
    };

    let table = folder.path().join("eager/metal-gpu-intervals.xml");
    let table = table.to_str().unwrap();
    assert_eq!(files(table), [table]);
    assert_eq!(
        files("eager/metal-gpu-intervals.xml"),
        ["eager/metal-gpu-intervals.xml"]
    );

    // A bundle, with a slash at its end: its files are named from inside, sorted by table.
    let written = metalens(folder.path(), &["synth", "eager", "-o", "x.trace"]);
    assert!(written.status.success(), "{}", stderr(&written));
    for input in ["x.trace", "x.trace/"] {
        let found = files(input);
        let is_inside = |file: &String| file.starts_with("corespace/run1/");
        assert!(found.iter().all(is_inside), "{input}: {found:?}");
    }
    let output = metalens(folder.path(), &["tables", "x.trace"]);
    let names: Vec<String> = stdout(&output)
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect();
    assert!(names.len() > 20 && names.is_sorted(), "{names:?}");

    let whole = folder.path().join("eager");
    assert!(files(whole.to_str().unwrap()).contains(&"metal-gpu-intervals.xml".to_owned()));
}

/// All 7,050 values of the 30 hardware counters of a real bundle, in both formats, are those of its bytes.
#[test]
fn rows_have_every_value_of_real_counters() {
    let Some(recordings) = metalens_testing::real_recordings() else {
        return;
    };
    let raw = metalens_testing::raw_counters(&recordings);
    let mut expected: Vec<(u64, u64, String)> = raw
        .values
        .iter()
        .map(|&(time_ns, id, billionths)| {
            let (whole, part) = (billionths / 1_000_000_000, billionths % 1_000_000_000);
            (time_ns, u64::from(id), format!("{whole}.{part:09}"))
        })
        .collect();
    expected.sort();
    assert_eq!(expected.len(), 7_050);

    let folder = metalens_testing::scratch();
    let bundle = raw.bundle.to_str().unwrap();
    let rows = |format: &str| {
        let schema = "gpu-counter-value";
        let arguments = ["tables", bundle, "--schema", schema, "--format", format];
        let output = metalens(folder.path(), &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let json = rows("jsonl");
    let mut from_json: Vec<(u64, u64, String)> = json
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let number = |key: &str| row[key].as_u64().unwrap();
            let value = row["value"].as_str().unwrap().to_owned();
            (number("timestamp"), number("counter-id"), value)
        })
        .collect();
    from_json.sort();
    assert!(from_json == expected, "{:?}", from_json.first());

    let csv = rows("csv");
    let mut lines = csv.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut from_csv: Vec<(u64, u64, String)> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let cell =
                |name: &str| cells[header.iter().position(|header| *header == name).unwrap()];
            let number = |name: &str| cell(name).parse().unwrap();
            (
                number("timestamp"),
                number("counter-id"),
                cell("value").to_owned(),
            )
        })
        .collect();
    from_csv.sort();
    assert!(from_csv == expected, "{:?}", from_csv.first());
}

/// Each of several tables of one name can be printed; the largest is, without a number.
#[test]
fn tables_of_one_name_are_numbered() {
    let folder = with_scenario("eager");
    let file = folder.path().join("eager/metal-gpu-state-intervals.xml");
    let table = fs::read_to_string(&file).unwrap();
    let (rows, _) = table.rsplit_once("<row>").unwrap();
    let (_, end) = table.rsplit_once("</row>").unwrap();
    let shorter = format!("{rows}{end}").replacen("/table[", "/table[9", 1);
    fs::write(folder.path().join("eager/another.xml"), shorter).unwrap();

    let print = |arguments: &[&str]| {
        let first = ["tables", "eager", "--schema", "metal-gpu-state-intervals"];
        metalens(folder.path(), &[&first, arguments].concat())
    };
    let rows = table.matches("<row>").count();
    let note = |number: usize| {
        format!(
            "note: the run has 2 tables named metal-gpu-state-intervals; this is number {number} \
             (--number N prints another): number 1 has {} rows, number 2 has {} rows\n",
            units::count(rows as u64 - 1),
            units::count(rows as u64)
        )
    };
    let check = |arguments: &[&str], number: usize, rows: usize| {
        let output = print(arguments);
        assert_eq!(stdout(&output).lines().count(), rows + 1);
        assert!(
            stderr(&output).ends_with(&note(number)),
            "{}",
            stderr(&output)
        );
        assert_eq!(stderr(&output).matches("tables named").count(), 1);
    };
    check(&[], 2, rows);
    check(&["--number", "2"], 2, rows);
    check(&["--number", "1"], 1, rows - 1);

    let refused = print(&["--number", "3"]);
    assert_eq!(refused.status.code(), Some(2));
    let expected = "there is no table metal-gpu-state-intervals number 3; the run has 2";
    assert!(stderr(&refused).contains(expected), "{}", stderr(&refused));
}
