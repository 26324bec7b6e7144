//! Checks the folder of a dataset: its files, also when several processes write.

use metalens_analyzer::Request;
use metalens_dataset::{WriteOptions, is_dataset, run_names, write};
use metalens_simulator::{write_bundle, write_export};

use super::{analysis, analysis_of, files, preset, scenario};

#[test]
fn writing_a_trace_again_gives_the_same_files() {
    let dataset = metalens_testing::scratch();
    let first = write(&preset("eager"), dataset.path(), WriteOptions::default()).unwrap();
    assert!(!first.replaced);
    let before = files(dataset.path());
    let again = write(&preset("eager"), dataset.path(), WriteOptions::default()).unwrap();
    assert!(again.replaced);
    assert_eq!((again.run, again.bytes), (first.run, first.bytes));
    assert_eq!(files(dataset.path()), before);
    assert_eq!(before.len(), 8);
}

/// The bundle and the export of one recording are one run.
#[test]
fn runs_are_named_after_their_contents() {
    let folder = metalens_testing::scratch();
    let [export, bundle] = ["a.export", "b.trace"].map(|name| folder.path().join(name));
    write_export(&scenario("shared-machine"), &export, false).unwrap();
    write_bundle(&scenario("shared-machine"), &bundle, false).unwrap();
    let dataset = folder.path().join("dataset");
    let name = |path, request| {
        let analysis = analysis(path, request).unwrap();
        write(&analysis, &dataset, WriteOptions::default())
            .unwrap()
            .run
    };
    let run = name(&export, Request::default());
    assert_eq!(name(&bundle, Request::default()), run);
    let part = Request {
        step: "2".parse().ok(),
        ..Request::default()
    };
    assert_eq!(name(&export, part), run);
    let others = analysis(&export, Request::default())
        .unwrap()
        .report
        .processes;
    let other = others
        .into_iter()
        .find(|process| !process.is_analyzed)
        .unwrap()
        .name;
    let of_other = Request {
        processes: vec![other],
        ..Request::default()
    };
    assert_ne!(name(&export, of_other), run);
    assert_eq!(run_names(&dataset).unwrap().len(), 2);
}

/// A recording that differs only in its seed is another run.
#[test]
fn different_traces_have_different_names() {
    let dataset = metalens_testing::scratch();
    let base = scenario("eager");
    for seed in 0..5 {
        let mut other = base.clone();
        other.seed = seed;
        write(
            &analysis_of(&other).unwrap(),
            dataset.path(),
            WriteOptions::default(),
        )
        .unwrap();
    }
    assert_eq!(run_names(dataset.path()).unwrap().len(), 5);
}

#[test]
fn several_processes_can_write_at_once() {
    let dataset = metalens_testing::scratch();
    std::thread::scope(|scope| {
        for name in ["eager", "fused", "eager", "fused", "batched"] {
            let dataset = dataset.path();
            scope.spawn(move || write(&preset(name), dataset, WriteOptions::default()).unwrap());
        }
    });
    assert_eq!(run_names(dataset.path()).unwrap().len(), 3);
    assert_eq!(files(dataset.path()).len(), 24);
}

#[test]
fn datasets_are_recognized() {
    let folder = metalens_testing::scratch();
    assert!(!is_dataset(folder.path()));
    write(&preset("eager"), folder.path(), WriteOptions::default()).unwrap();
    assert!(is_dataset(folder.path()));
    assert!(!is_dataset(&folder.path().join("runs")));
    assert!(!is_dataset(&folder.path().join("nothing")));
}

/// A bundle does not know its machine. Its run moves when the export tells.
#[test]
fn a_run_moves_to_its_device() {
    let dataset = metalens_testing::scratch();
    for (device, replaced) in [
        (None, false),
        (Some("Mac16,1"), true),
        (Some("Mac16,1"), true),
    ] {
        let mut analysis = preset("eager");
        analysis.report.run.device.model = device.map(str::to_owned);
        let written = write(&analysis, dataset.path(), WriteOptions::default()).unwrap();
        assert_eq!(written.replaced, replaced, "{device:?}");
        let place = written.files.last().unwrap().to_string_lossy().into_owned();
        let folder = device.unwrap_or("unknown");
        assert!(place.contains(&format!("/device={folder}/")), "{place}");
        assert_eq!(files(dataset.path()).len(), 8);
    }
}
