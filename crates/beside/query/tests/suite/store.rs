//! Tests datasets with odd names, foreign files and damage.

use std::fs;
use std::path::PathBuf;

use metalens_dataset::{WriteOptions, write};
use metalens_query::Error;
use metalens_simulator::Labels;
use tempfile::TempDir;

use super::{analysis_of, ask_one, preset, rows, scenario, stored};

#[test]
fn unfinished_and_foreign_files_are_ignored() {
    let dataset = metalens_testing::scratch();
    let written = write(&preset("eager"), dataset.path(), WriteOptions::default()).unwrap();
    let runs = dataset.path().join("runs");
    let of_run = written.files[0].parent().unwrap();
    fs::write(of_run.join(".metalens-abc"), "half").unwrap();
    fs::write(dataset.path().join("README"), "notes").unwrap();
    fs::write(runs.join("device=file"), "").unwrap();
    fs::create_dir_all(runs.join("device=a/date=never/run=b")).unwrap();
    fs::create_dir_all(runs.join("device=a/date=2026-01-01/run=c")).unwrap();
    let intervals = dataset
        .path()
        .join("intervals/device=a/date=2026-01-01/run=c");
    fs::create_dir_all(&intervals).unwrap();
    fs::write(intervals.join("part.parquet"), "half").unwrap();
    let library = stored(dataset.path());
    assert_eq!(library.len(), 1);
    let count = ask_one(
        &library,
        "SELECT count(*) FROM intervals WHERE role = 'analyzed'",
    );
    let listed = ask_one(&library, "SELECT interval_count FROM runs");
    assert_eq!(count, listed);
}

/// Returns a dataset of one run, and its file of gaps.
fn with_gaps() -> (TempDir, PathBuf) {
    let dataset = metalens_testing::scratch();
    let written = write(&preset("eager"), dataset.path(), WriteOptions::default()).unwrap();
    let folder = dataset.path().join("gaps");
    let gaps = written
        .files
        .into_iter()
        .find(|file| file.starts_with(&folder));
    (dataset, gaps.unwrap())
}

/// A file in the place of one of ours is not passed over: figures would be missing.
#[test]
fn a_damaged_or_missing_file_is_an_error_that_names_it() {
    let (dataset, gaps) = with_gaps();
    let check = || {
        let result = stored(dataset.path()).ask("SELECT count(*) AS n, sum(duration_ns) FROM gaps");
        let error = result.err().unwrap();
        assert!(matches!(error, Error::Read(_)), "{error:?}");
        assert!(error.to_string().contains("part.parquet"), "{error}");
        let others = stored(dataset.path()).ask("SELECT run FROM kernels");
        assert!(others.unwrap().rows() > 0);
    };
    fs::write(&gaps, "not Parquet").unwrap();
    check();
    fs::remove_file(&gaps).unwrap();
    check();
}

/// A file says which run and which table it belongs to: files that changed places would give the
/// figures of one run the name of another.
#[test]
fn a_file_in_the_place_of_another_is_an_error() {
    let dataset = metalens_testing::scratch();
    let options = WriteOptions::default();
    let runs =
        ["eager", "fused"].map(|name| write(&preset(name), dataset.path(), options).unwrap());
    let [one, other] = runs.map(|run| run.files);
    let check = |one: &PathBuf, other: &PathBuf, table: &str| {
        let swap = || {
            let (left, right) = (fs::read(one).unwrap(), fs::read(other).unwrap());
            fs::write(one, right).unwrap();
            fs::write(other, left).unwrap();
        };
        let sql = format!("SELECT count(*) FROM {table}");
        stored(dataset.path()).ask(&sql).unwrap();
        swap();
        let error = stored(dataset.path()).ask(&sql).err().unwrap();
        let told = error.to_string();
        let is_named = [one, other]
            .iter()
            .any(|file| told.contains(file.to_str().unwrap()));
        assert!(
            matches!(error, Error::Read(_)) && is_named,
            "{table}: {told}"
        );
        assert!(told.contains("it belongs to the "), "{table}: {told}");
        swap();
    };
    let table = |file: &PathBuf| {
        let below = file.strip_prefix(dataset.path()).unwrap();
        let first = below.components().next().unwrap();
        first.as_os_str().to_str().unwrap().to_owned()
    };
    for (one, other) in one.iter().zip(&other) {
        check(one, other, &table(one));
    }
    check(&one[0], &one[1], &table(&one[0]));
}

/// A newer metalens may write columns that this one does not know, and an older one lacks some.
#[test]
fn columns_of_other_versions_are_left_out_or_null() {
    let (dataset, gaps) = with_gaps();
    let check = |sql: &str| rows(&stored(dataset.path()).ask(sql).unwrap());
    let before = check("SELECT count(*), sum(start_ns) FROM gaps");

    let other = stored(dataset.path())
        .ask("SELECT 1 AS new_ns, start_ns FROM gaps")
        .unwrap();
    let mut bytes = Vec::new();
    other.write_parquet(&mut bytes).unwrap();
    fs::write(gaps, bytes).unwrap();

    assert_eq!(check("SELECT count(*), sum(start_ns) FROM gaps"), before);
    let absent = check("SELECT max(duration_ns) FROM gaps WHERE duration_ns IS NULL");
    assert_eq!(absent, [["null"]]);
    let unknown = stored(dataset.path()).ask("SELECT new_ns FROM gaps");
    assert!(matches!(unknown, Err(Error::Unknown(_))));
}

#[test]
fn runs_with_odd_devices_and_dates_are_found() {
    let dataset = metalens_testing::scratch();
    let mut expected = Vec::new();
    let devices = [
        None,
        Some("MacBook Air"),
        Some("Möbius=1/%2F"),
        Some("日本 *?"),
        Some("12"),
    ];
    for (seed, device) in devices.into_iter().enumerate() {
        let mut scenario = scenario("eager");
        scenario.seed = seed as u64;
        let mut analysis = analysis_of(&scenario).unwrap();
        analysis.report.run.device.model = device.map(str::to_owned);
        let start = (seed != 1).then(|| format!("2026-03-0{}T10:00:00+01:00", seed + 1));
        let date = start
            .as_deref()
            .map_or("null".to_owned(), |start| start[..10].to_owned());
        analysis.report.run.start = start;
        write(&analysis, dataset.path(), WriteOptions::default()).unwrap();
        expected.push(vec![device.unwrap_or("unknown").to_owned(), date]);
    }
    let library = stored(dataset.path());
    let mut found = rows(
        &library
            .ask("SELECT device, date FROM kernels GROUP BY 1, 2")
            .unwrap(),
    );
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let one = "SELECT count(DISTINCT run) FROM gaps WHERE ";
    for condition in [
        "device = 'Möbius=1/%2F'",
        "device = 'unknown'",
        "date > '2026-03-04'",
        "date = DATE '2026-03-04'",
        "date IS NULL",
        "device LIKE '日%'",
    ] {
        assert_eq!(
            ask_one(&library, &format!("{one}{condition}")),
            ["1"],
            "{condition}"
        );
    }
}

/// Labels can be any text, and come back unchanged.
#[test]
fn hostile_labels_come_back_unchanged() {
    let mut hostile = scenario("eager");
    let labels = [
        "'; DROP TABLE runs; --",
        "a,\"b\" <c>&",
        "\u{202e}txt",
        "=1+1",
        "💥",
    ];
    let mut streams = hostile
        .process
        .iter_mut()
        .flat_map(|process| &mut process.stream);
    let stream = streams.next().unwrap();
    stream.encoder_label = Some(Labels::Cycle(labels.map(str::to_owned).to_vec()));
    let analysis = analysis_of(&hostile).unwrap();
    let dataset = metalens_testing::scratch();
    write(&analysis, dataset.path(), WriteOptions::default()).unwrap();
    let answer = stored(dataset.path())
        .ask("SELECT kernel FROM kernels")
        .unwrap();
    let mut expected: Vec<&str> = analysis
        .report
        .kernels
        .iter()
        .map(|kernel| kernel.name.as_str())
        .collect();
    expected.sort_unstable();
    assert_eq!(rows(&answer).concat(), expected);
    assert!(
        labels.iter().any(|label| expected.contains(label)),
        "{expected:?}"
    );
}
