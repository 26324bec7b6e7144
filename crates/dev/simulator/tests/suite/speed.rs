//! Measures how fast a million intervals are written. Run with
//! `cargo test --release -- --ignored million`.

use std::fs;
use std::time::Instant;

use metalens_simulator::{Scenario, write_bundle, write_export};

#[test]
#[ignore = "writes gigabytes"]
#[expect(clippy::print_stderr, reason = "the measurement is the point")]
fn a_million_intervals() {
    let scenario = Scenario::preset("million").unwrap();
    let dir = metalens_testing::scratch();
    let started = Instant::now();
    let truths = write_export(&scenario, dir.path(), false).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let sizes = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len());
    let megabytes = sizes.sum::<u64>() as f64 / 1e6;
    eprintln!(
        "{megabytes:.0} MB in {seconds:.2} s: {:.0} MB/s",
        megabytes / seconds
    );
    assert_eq!(truths[0].counts.intervals, 1_000_000);
}

#[test]
#[ignore = "takes seconds"]
#[expect(clippy::print_stderr, reason = "the measurement is the point")]
fn a_million_intervals_as_a_bundle() {
    let scenario = Scenario::preset("million").unwrap();
    let dir = metalens_testing::scratch();
    let started = Instant::now();
    let truths = write_bundle(&scenario, &dir.path().join("million.trace"), false).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("a bundle of a million intervals in {seconds:.2} s");
    assert_eq!(truths[0].counts.intervals, 1_000_000);
}
