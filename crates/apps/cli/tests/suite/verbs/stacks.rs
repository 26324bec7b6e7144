//! Tests `metalens stacks`: CPU samples as folded stacks and pictures.

use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::{metalens, stderr, stdout, transcript, with_scenario};

/// Creates an export with four CPU samples of two processes, and without GPU intervals.
pub(crate) fn with_samples() -> TempDir {
    let folder = metalens_testing::scratch();
    let columns = [
        ("time", "sample-time"),
        ("thread", "thread"),
        ("process", "process"),
        ("thread-state", "thread-state"),
        ("weight", "weight"),
        ("stack", "backtrace"),
    ];
    let column = |(name, kind): &(&str, &str)| {
        format!(
            "<col><mnemonic>{name}</mnemonic><name>{name}</name>\
             <engineering-type>{kind}</engineering-type></col>"
        )
    };

    let thread = |id: u32, process: &str, pid: u32| {
        let (tid, own) = (id + 1, id + 2);
        format!(
            "<thread id='{id}' fmt='Main Thread 0x{pid:x} ({process}, pid: {pid})'>\
             <tid id='{tid}' fmt='0x{pid:x}'>{pid}</tid><process id='{own}' fmt='{process} ({pid})'>\
             <pid id='{pid}0' fmt='{pid}'>{pid}</pid></process></thread><process ref='{own}'/>"
        )
    };

    let frame = |name: &str| {
        format!("<frame name='{name}' addr='0x1'><binary name='bench' path='/bench'/></frame>")
    };

    let row = |time: u64, who: &str, stack: &[&str]| {
        let frames: String = stack.iter().map(|name| frame(name)).collect();
        format!(
            "<row><sample-time fmt='t'>{time}</sample-time>{who}\
             <thread-state fmt='Running'>Running</thread-state>\
             <weight fmt='1.00 ms'>1000000</weight><backtrace>{frames}</backtrace></row>"
        )
    };

    let again = "<thread ref='10'/><process ref='12'/>";
    let rows = [
        row(
            1_000_000,
            &thread(10, "bench", 7),
            &["encode(int; int)", "main"],
        ),
        row(2_000_000, again, &["commit", "main"]),
        row(3_000_000, again, &["commit", "main"]),
        row(3_000_000, &thread(20, "other", 8), &["0x7f", "spin"]),
    ];
    let text = format!(
        "<?xml version=\"1.0\"?><trace-query-result>\
         <node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name=\"time-profile\">\
         {}</schema>{}</node></trace-query-result>",
        columns.iter().map(column).collect::<String>(),
        rows.concat()
    );
    fs::create_dir(folder.path().join("cpu")).unwrap();
    fs::write(folder.path().join("cpu/time-profile.xml"), text).unwrap();
    folder
}

#[test]
fn stacks_of_all_processes_are_printed_by_default() {
    let folder = with_samples();
    assert_snapshot!(transcript(&metalens(folder.path(), &["stacks", "cpu"])));
}

/// The ending chooses the format, and no file gets what its name does not promise.
#[test]
fn the_ending_chooses_the_format() {
    let folder = with_samples();
    let write = |file: &str| {
        let arguments = ["stacks", "cpu", "-q", "-o", file];
        let output = metalens(folder.path(), &arguments);
        let text = fs::read_to_string(folder.path().join(file)).unwrap_or_default();
        (output.status.code(), text, stderr(&output))
    };
    for (file, start) in [
        ("a.folded", "bench;Main Thread;main;commit 2000000"),
        ("a.txt", "bench;Main Thread;main;commit 2000000"),
        ("a.SVG", "<?xml"),
    ] {
        let (code, text, error) = write(file);
        assert_eq!(code, Some(0), "{file}: {error}");
        assert!(text.starts_with(start), "{file}: {text}");
    }
    for file in ["d.xlsx", "d.json", "d"] {
        let (code, text, error) = write(file);
        assert_eq!((code, text.as_str()), (Some(2), ""), "{file}");
        let expected = format!("{file} does not end in .svg, .folded or .txt");
        assert!(error.contains(&expected), "{file}: {error}");
    }
}

/// A program that is sampled while it waits for the GPU.
const SAMPLED: &str = r#"
seed = 1

[[process]]
name = "bench"
pid = 12
role = "target"

[process.samples]
period = "10us"
host-function = "tokenize"

[[process.stream]]
count = 200
submit = "sync"
encoder-label = "matmul"
duration = "30us"
encode = "9us"
launch = "20us"
completion = "20us"
host = "40us"
"#;

#[test]
fn idle_time_has_the_stacks_of_the_threads_that_submit() {
    let folder = metalens_testing::scratch();
    fs::write(folder.path().join("bench.toml"), SAMPLED).unwrap();
    let arguments = ["synth", "bench.toml", "-o", "bench"];
    let written = metalens(folder.path(), &arguments);
    assert!(written.status.success(), "{}", stderr(&written));
    let arguments = ["stacks", "bench", "--idle"];
    assert_snapshot!("idle", transcript(&metalens(folder.path(), &arguments)));

    let arguments = ["stacks", "bench", "--idle", "-q", "-o", "idle.svg"];
    assert!(metalens(folder.path(), &arguments).status.success());
    let picture = fs::read_to_string(folder.path().join("idle.svg")).unwrap();
    assert!(picture.contains("SYNTHETIC: bench: Submitting threads, GPU idle"));
    assert!(
        picture.contains("of idle time"),
        "its share is in the picture"
    );
}

#[test]
fn an_existing_file_is_replaced_only_with_force() {
    let folder = with_samples();
    let file = folder.path().join("cpu.folded");
    let write = |more: &[&str]| {
        let arguments = [&["stacks", "cpu", "-q", "-o", "cpu.folded"], more].concat();
        metalens(folder.path(), &arguments)
    };

    assert!(write(&[]).status.success());
    let written = fs::read_to_string(&file).unwrap();
    assert_eq!(
        written,
        stdout(&metalens(folder.path(), &["stacks", "cpu"]))
    );
    fs::write(&file, "mine").unwrap();
    let refused = write(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("--force"), "{}", stderr(&refused));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(write(&["--force"]).status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), written);
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        2,
        "nothing is left behind"
    );
}

#[test]
fn a_recording_without_the_needed_samples_names_the_other_command() {
    let folder = with_samples();
    assert_snapshot!(
        "analyze",
        transcript(&metalens(folder.path(), &["analyze", "cpu"]))
    );
    let folder = with_scenario("eager");
    assert_snapshot!(
        "stacks",
        transcript(&metalens(folder.path(), &["stacks", "eager"]))
    );
}

/// The samples of every run are counted, since another run may have those that somebody wants.
#[test]
fn samples_of_several_runs_are_counted() {
    let folder = with_samples();
    let place = folder.path().join("cpu");
    let first = fs::read_to_string(place.join("time-profile.xml")).unwrap();
    let (rows, _) = first.rsplit_once("<row>").unwrap();
    let second = format!("{rows}</node></trace-query-result>").replace("/run[1]", "/run[2]");
    fs::write(place.join("time-profile.run-2.xml"), second).unwrap();
    let run = |number: u32| {
        format!("<run number=\"{number}\"><data><table schema=\"time-profile\"/></data></run>")
    };
    let contents = format!("<trace-toc>{}{}</trace-toc>", run(1), run(2));
    fs::write(place.join("toc.xml"), contents).unwrap();

    let output = metalens(folder.path(), &["analyze", "cpu"]);
    let expected = "error: the recording has no GPU interval, only CPU samples in table time-profile: 4 in \
                    run 1, 3 in run 2\nhint: `metalens stacks cpu --run N` shows";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}
