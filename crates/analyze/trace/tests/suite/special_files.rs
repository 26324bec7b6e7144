//! Tests pipes, sockets, devices, folders and links in the place of files: each is refused with its
//! kind, and none makes the reader wait.

#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use metalens_trace::{Input, LoadOptions, PathKind, Selection, path_kind};

use super::GOOD;
use super::mini_bundle::{core, good, store, written};

/// Time limit for a function that must not wait.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Runs a function on another thread, and panics if it does not end.
fn with_time_limit<T: Send + 'static>(
    what: &str,
    function: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(function()));
    let done = receive.recv_timeout(TIME_LIMIT);
    done.unwrap_or_else(|_| panic!("{what} waits"))
}

/// Returns all errors and notes of opening, listing and loading a recording.
fn messages(trace: &Path) -> String {
    let (path, shown) = (trace.to_owned(), trace.display().to_string());
    with_time_limit(&shown, move || {
        let _ = path_kind(&path);
        let input = match Input::open(&path) {
            Ok(input) => input,
            Err(error) => return error.to_string(),
        };
        let listed = input.list(LoadOptions::default()).into_iter();
        let problems: Vec<String> = listed
            .filter_map(|document| document.table.err().map(|error| error.to_string()))
            .collect();
        let everything = Selection::everything();
        match input.load(&everything, LoadOptions::default()) {
            Ok(trace) => format!("{problems:?} {:?}", trace.notes),
            Err(error) => error.to_string(),
        }
    })
}

/// A function that creates a special file, and its name in messages.
type Put = (fn(&Path), &'static str);

const KINDS: [Put; 5] = [
    (pipe, "a named pipe"),
    (|path| drop(UnixListener::bind(path).unwrap()), "a socket"),
    (|path| fs::create_dir(path).unwrap(), "a folder"),
    (|path| symlink("/dev/zero", path).unwrap(), "a device"),
    (|path| symlink("/etc/hostname", path).unwrap(), "a link"),
];

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn special_files_in_a_bundle_are_refused() {
    let files = [
        store(2, "bulkstore"),
        store(2, "bulkstore_descriptor"),
        store(2, "schema.xml"),
        core("table-manager/tables.plist"),
        core("uniquing/strings"),
        core("uniquing/EngineeringTypes.etypes"),
        core("uniquing/arrayUniquer/integeruniquer.index"),
        core("uniquing/typedArrayUniquer/integeruniquer.data"),
        "form.template".to_owned(),
        "open.creq".to_owned(),
        "corespace/MANIFEST.plist".to_owned(),
    ];

    for file in files {
        for (put, kind) in KINDS {
            let mut bundle = good();
            bundle.entry(file.clone()).or_default();
            let place = tempfile::Builder::new()
                .prefix("m")
                .tempdir_in("/tmp")
                .unwrap();
            let trace = written(&bundle, place.path());
            fs::remove_file(trace.join(&file)).unwrap();
            // The path of a socket must be short.
            put(&trace.join(&file));
            // No link inside a bundle is followed.
            let kind = if kind == "a device" { "a link" } else { kind };
            let messages = messages(&trace);
            assert!(
                messages.contains(kind) && messages.contains(&file),
                "{file}, {kind}: {messages}"
            );
        }
    }
}

#[test]
fn special_files_in_an_export_are_refused() {
    for file in [
        "toc.xml",
        "metal-gpu-intervals.xml",
        "metal-gpu-intervals.xml.gz",
    ] {
        for (put, kind) in KINDS {
            let place = metalens_testing::scratch();
            let toc = "<trace-toc><run number=\"1\"/></trace-toc>";
            let other = GOOD.replace("metal-gpu-intervals", "other");
            fs::write(place.path().join("other.xml"), other).unwrap();
            if file != "toc.xml" {
                fs::write(place.path().join("toc.xml"), toc).unwrap();
            }
            put(&place.path().join(file));
            let messages = messages(place.path());
            match kind {
                // Inner folders are not part of an export, and links are followed.
                "a folder" => assert!(!messages.contains(file), "{messages}"),
                "a link" => assert!(!messages.contains("a link"), "{messages}"),
                kind => assert!(
                    messages.contains(kind) && messages.contains(file),
                    "{file}: {messages}"
                ),
            }
        }
    }
}

#[test]
fn special_files_as_the_input_are_refused() {
    for (put, kind) in KINDS {
        for name in ["x.trace", "x.xml", "x.zip"] {
            let place = metalens_testing::scratch();
            let path = place.path().join(name);
            put(&path);
            let messages = messages(&path);
            if !matches!(kind, "a folder" | "a link") {
                assert!(messages.contains(kind), "{name}, {kind}: {messages}");
            }
            // A search for recordings in the folder does not wait either.
            let folder = place.path().to_owned();
            let found = with_time_limit("path_kind", move || path_kind(&folder).unwrap());
            assert_eq!(found, PathKind::Folder);
        }
    }
}

/// This is `metalens analyze <(xctrace export …)`, where the input can be read only once.
#[test]
fn a_file_descriptor_of_the_shell_is_read() {
    use std::os::fd::AsRawFd as _;

    for document in [GOOD.to_owned(), GOOD.replace("<row>", "<!-- x --><row>")] {
        let mut cat = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        cat.stdin
            .take()
            .unwrap()
            .write_all(document.as_bytes())
            .unwrap();
        let pipe = cat.stdout.take().unwrap();
        let path = format!("/dev/fd/{}", pipe.as_raw_fd());
        let input = Input::open(Path::new(&path)).unwrap();
        let trace = input
            .load(&Selection::everything(), LoadOptions::default())
            .unwrap();
        assert_eq!(trace.table("metal-gpu-intervals").unwrap().rows(), 3);
        cat.wait().unwrap();
    }
}
