//! Pipes, sockets, devices, folders and links where a trace has a file: each is refused
//! for what it is, and none is waited for.

#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use metalens_trace::{Input, PathKind, LoadOptions, Selection, path_kind};

use super::GOOD;
use super::mini_bundle::{core, good, store, written};

/// What waits, waits for ever.
const MOMENT: Duration = Duration::from_secs(60);

/// Does something on another thread, and fails if that does not end.
fn in_a_moment<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(work()));
    let done = receive.recv_timeout(MOMENT);
    done.unwrap_or_else(|_| panic!("{what} waits"))
}

/// All that is said about a trace, if anything: by opening, listing and loading it, and
/// by those who only look at it.
fn said(trace: &Path) -> String {
    let (path, shown) = (trace.to_owned(), trace.display().to_string());
    in_a_moment(&shown, move || {
        let _ = path_kind(&path);
        let input = match Input::open(&path) {
            Ok(input) => input,
            Err(error) => return error.to_string(),
        };
        let listed = input.list(LoadOptions::default()).into_iter();
        let problems: Vec<String> = listed
            .filter_map(|one| one.table.err().map(|error| error.to_string()))
            .collect();
        let everything = Selection::everything();
        match input.load(&everything, LoadOptions::default()) {
            Ok(trace) => format!("{problems:?} {:?}", trace.notes),
            Err(error) => error.to_string(),
        }
    })
}

/// Puts something else in a file's place, and what it is called.
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
fn in_a_bundle() {
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
            // A socket's path is short.
            put(&trace.join(&file));
            // In a bundle no link is followed, wherever it leads.
            let kind = if kind == "a device" { "a link" } else { kind };
            let said = said(&trace);
            assert!(
                said.contains(kind) && said.contains(&file),
                "{file}, {kind}: {said}"
            );
        }
    }
}

#[test]
fn in_an_export() {
    for file in [
        "toc.xml",
        "metal-gpu-intervals.xml",
        "metal-gpu-intervals.xml.gz",
    ] {
        for (put, kind) in KINDS {
            let place = tempfile::tempdir().unwrap();
            let toc = "<trace-toc><run number=\"1\"/></trace-toc>";
            let other = GOOD.replace("metal-gpu-intervals", "other");
            fs::write(place.path().join("other.xml"), other).unwrap();
            if file != "toc.xml" {
                fs::write(place.path().join("toc.xml"), toc).unwrap();
            }
            put(&place.path().join(file));
            let said = said(place.path());
            match kind {
                // Folders inside are no part of an export, and links are followed.
                "a folder" => assert!(!said.contains(file), "{said}"),
                "a link" => assert!(!said.contains("a link"), "{said}"),
                kind => assert!(said.contains(kind) && said.contains(file), "{file}: {said}"),
            }
        }
    }
}

#[test]
fn as_the_input_itself() {
    for (put, kind) in KINDS {
        for name in ["x.trace", "x.xml", "x.zip"] {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join(name);
            put(&path);
            let said = said(&path);
            if !matches!(kind, "a folder" | "a link") {
                assert!(said.contains(kind), "{name}, {kind}: {said}");
            }
            // Whoever searches a folder for traces does not wait either.
            let folder = place.path().to_owned();
            let found = in_a_moment("path_kind", move || path_kind(&folder).unwrap());
            assert_eq!(found, PathKind::Folder);
        }
    }
}

/// `metalens analyze <(xctrace export …)`: what the shell opened is read, once.
#[test]
fn what_the_shell_opened_is_read() {
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
