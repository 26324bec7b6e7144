//! The folder of a dataset: what lies where, whoever else writes there.

use std::fs;

use metalens_analyzer::Request;
use metalens_dataset::{Choices, Error, is_dataset, write};
use metalens_simulator::{Labels, write_bundle, write_export};

use super::{analysis, analysis_of, ask_one, files, preset, rows, scenario, stored};

#[test]
fn the_same_trace_again_is_the_same_bytes_in_the_same_place() {
    let dataset = tempfile::tempdir().unwrap();
    let first = write(&preset("eager"), dataset.path(), Choices::default()).unwrap();
    assert!(!first.replaced);
    let before = files(dataset.path());
    let again = write(&preset("eager"), dataset.path(), Choices::default()).unwrap();
    assert!(again.replaced);
    assert_eq!((again.run, again.bytes), (first.run, first.bytes));
    assert_eq!(files(dataset.path()), before);
    assert_eq!(before.len(), 4);
}

/// The bundle and the export of one recording are one run.
#[test]
fn a_run_is_called_after_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let [export, bundle] = ["a.export", "b.trace"].map(|name| folder.path().join(name));
    write_export(&scenario("shared-machine"), &export, false).unwrap();
    write_bundle(&scenario("shared-machine"), &bundle, false).unwrap();
    let dataset = folder.path().join("dataset");
    let name = |path, request| {
        let analysis = analysis(path, request).unwrap();
        write(&analysis, &dataset, Choices::default()).unwrap().run
    };
    let run = name(&export, Request::default());
    assert_eq!(name(&bundle, Request::default()), run);
    let part = Request {
        skip_warm_up: true,
        ..Request::default()
    };
    assert_eq!(name(&export, part), run);
    let others = analysis(&export, Request::default())
        .unwrap()
        .report
        .processes;
    let other = others
        .into_iter()
        .find(|process| !process.is_target)
        .unwrap()
        .name;
    let of_another = Request {
        processes: vec![other],
        ..Request::default()
    };
    assert_ne!(name(&export, of_another), run);
    assert_eq!(
        ask_one(&stored(&dataset), "SELECT count(*) FROM runs"),
        ["2"]
    );
}

/// A recording that differs in its seed alone is another run.
#[test]
fn different_traces_have_different_names() {
    let dataset = tempfile::tempdir().unwrap();
    let base = scenario("eager");
    for seed in 0..5 {
        let mut one = base.clone();
        one.seed = seed;
        write(
            &analysis_of(&one).unwrap(),
            dataset.path(),
            Choices::default(),
        )
        .unwrap();
    }
    let counts = "SELECT count(*), count(DISTINCT run) FROM runs";
    assert_eq!(ask_one(&stored(dataset.path()), counts), ["5", "5"]);
}

#[test]
fn what_is_half_written_or_somebody_elses_is_left_alone() {
    let dataset = tempfile::tempdir().unwrap();
    let written = write(&preset("eager"), dataset.path(), Choices::default()).unwrap();
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
        "SELECT count(*) FROM intervals WHERE role = 'target'",
    );
    let listed = ask_one(&library, "SELECT interval_count FROM runs");
    assert_eq!(count, listed);
}

/// A file in the place of one of ours is not passed over: figures would be missing.
#[test]
fn a_foreign_file_in_a_runs_place_is_an_error_that_names_it() {
    let dataset = tempfile::tempdir().unwrap();
    let written = write(&preset("eager"), dataset.path(), Choices::default()).unwrap();
    let gaps = &written.files[1];
    let check = |expected: fn(&Error) -> bool| {
        let result = stored(dataset.path()).ask("SELECT count(*) FROM gaps");
        let error = result.err().unwrap();
        assert!(expected(&error), "{error}");
        assert!(error.to_string().contains("part.parquet"), "{error}");
        let others = stored(dataset.path()).ask("SELECT run FROM kernels");
        assert!(others.unwrap().rows() > 0);
    };
    fs::write(gaps, "not Parquet").unwrap();
    check(|error| matches!(error, Error::Foreign { .. }));
    fs::remove_file(gaps).unwrap();
    check(|error| matches!(error, Error::Read { .. }));
    let other = stored(dataset.path()).ask("SELECT run FROM runs").unwrap();
    let mut bytes = Vec::new();
    other.write_parquet(&mut bytes, gaps).unwrap();
    fs::write(gaps, bytes).unwrap();
    check(|error| matches!(error, Error::Foreign { why, .. } if why.contains("did not write")));
}

#[test]
fn odd_devices_and_dates_are_found_again() {
    let dataset = tempfile::tempdir().unwrap();
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
        write(&analysis, dataset.path(), Choices::default()).unwrap();
        expected.push(vec![device.unwrap_or("null").to_owned(), date]);
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
        "device IS NULL",
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

/// Labels are anything: they come back as they were.
#[test]
fn hostile_labels_are_just_text() {
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
    let dataset = tempfile::tempdir().unwrap();
    write(&analysis, dataset.path(), Choices::default()).unwrap();
    let answer = stored(dataset.path())
        .ask("SELECT kernel FROM kernels")
        .unwrap();
    let expected: Vec<&str> = analysis
        .report
        .kernels
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(rows(&answer).concat(), expected);
    assert!(
        labels.iter().any(|label| expected.contains(label)),
        "{expected:?}"
    );
}

#[test]
fn several_write_at_once() {
    let dataset = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for name in ["eager", "fused", "eager", "fused", "batched"] {
            let dataset = dataset.path();
            scope.spawn(move || write(&preset(name), dataset, Choices::default()).unwrap());
        }
    });
    assert_eq!(stored(dataset.path()).len(), 3);
    assert_eq!(files(dataset.path()).len(), 12);
}

#[test]
fn a_dataset_is_told_from_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!is_dataset(folder.path()));
    write(&preset("eager"), folder.path(), Choices::default()).unwrap();
    assert!(is_dataset(folder.path()));
    assert!(!is_dataset(&folder.path().join("runs")));
    assert!(!is_dataset(&folder.path().join("nothing")));
}

/// A bundle does not know its machine: its run moves when the export tells.
#[test]
fn a_run_is_in_one_place() {
    let dataset = tempfile::tempdir().unwrap();
    for (device, replaced) in [
        (None, false),
        (Some("Mac16,1"), true),
        (Some("Mac16,1"), true),
    ] {
        let mut analysis = preset("eager");
        analysis.report.run.device.model = device.map(str::to_owned);
        let written = write(&analysis, dataset.path(), Choices::default()).unwrap();
        assert_eq!(written.replaced, replaced, "{device:?}");
        let place = "SELECT device, interval_count FROM runs";
        let device = device.unwrap_or("null").to_owned();
        assert_eq!(
            ask_one(&stored(dataset.path()), place),
            [device, "1000".to_owned()]
        );
        assert_eq!(files(dataset.path()).len(), 4);
    }
}
