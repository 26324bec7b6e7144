//! Once there may be a recording, nothing that fails removes it.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;

use metalens_recorder::{Check, Error, Event, Patience, Recording, Request, Watcher, Wish, record};
use metalens_xctrace::command::{Record, Target, Template};
use metalens_xctrace::{Stdin, Tool, Version};
use tempfile::TempDir;

/// What a recorder does that goes well; `$out` is where it is to write.
const GOOD: &str = "echo 'Starting recording'; echo 'Ctrl-C to stop the recording'
mkdir \"$out\"; echo data > \"$out/store\"
echo 'Target app exited'; echo 'Recording completed. Saving output file...'
echo \"Output file saved as: $(basename \"$out\")\"";

/// Judges as it is told, and does something when something happens.
struct Looking<'a> {
    check: &'a dyn Fn(&Path) -> Check,
    happened: &'a dyn Fn(Event<'_>),
}

impl Watcher for Looking<'_> {
    fn happened(&mut self, event: Event<'_>) {
        (self.happened)(event);
    }

    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    fn check(&mut self, bundle: &Path) -> Check {
        (self.check)(bundle)
    }
}

/// A folder with an `xctrace` that is a bit of shell.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn of(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("xctrace");
        let find = "while [ $# -gt 1 ]; do [ \"$1\" = --output ] && out=\"$2\"; shift; done";
        let text = folder.path().join("text");
        fs::write(&text, format!("#!/bin/sh\n{find}\n{script}\n")).unwrap();
        // Another process writes the program's file: what this one had open to write might not
        // be started yet.
        let written = Command::new("install")
            .args(["-m", "755"])
            .args([&text, &tool])
            .status();
        assert!(written.unwrap().success());
        fs::create_dir(folder.path().join("here")).unwrap();
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("here").join(name)
    }

    fn record(&self, force: bool, watcher: &mut dyn Watcher) -> Result<Recording, Error> {
        let request = Request {
            tool: Tool::at(self.folder.path().join("xctrace")),
            version: Version {
                dotted: "26.0".to_owned(),
                build: "17C529".to_owned(),
            },
            record: Record {
                template: Template::Named("Metal System Trace".to_owned()),
                instruments: Vec::new(),
                output: self.at("x.trace"),
                append_run: false,
                run_name: None,
                time_limit: None,
                window: None,
                device: None,
                tracing_started: None,
                target: Target::AllProcesses,
            },
            force,
            stdin: Stdin::Nothing,
            patience: Patience::default(),
        };
        record(&request, watcher)
    }

    /// Where there are recordings, with random letters left out.
    fn recordings(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(&self.at(""), "", &mut found);
        found.sort();
        found
    }
}

fn collect(folder: &Path, inside: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = match name.starts_with(".metalens-") {
            true => "STAGING".to_owned(),
            false => name.split('-').next().unwrap().to_owned(),
        };
        let path = format!("{inside}{name}");
        if entry.path().join("store").is_file() {
            found.push(path);
        } else if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), found);
        }
    }
}

fn good(_: &Path) -> Check {
    Check::Good
}

fn nothing(_: Event<'_>) {}

#[test]
fn all_well() {
    let bench = Bench::of(GOOD);
    let watcher = &mut Looking {
        check: &good,
        happened: &nothing,
    };
    bench.record(false, watcher).unwrap();
    assert_eq!(bench.recordings(), ["x.trace"]);
    assert_eq!(fs::read_dir(bench.at("")).unwrap().count(), 1);
    bench.record(true, watcher).unwrap();
    assert_eq!(fs::read_dir(bench.at("")).unwrap().count(), 1);
}

/// Somebody made a bundle of that name while it was recorded.
#[test]
fn the_name_is_taken_meanwhile() {
    let bench = Bench::of(GOOD);
    let watcher = &mut Looking {
        check: &|_| {
            fs::create_dir_all(bench.at("x.trace")).unwrap();
            fs::write(bench.at("x.trace/mine"), "1").unwrap();
            Check::Doubtful("odd".to_owned())
        },
        happened: &nothing,
    };
    let error = bench.record(false, watcher).unwrap_err();
    assert!(matches!(error, Error::Elsewhere { .. }), "{error}");
    assert_eq!(error.bundle(), Some(&*bench.at("x.new.trace")));
    assert_eq!(bench.recordings(), ["x.new.trace"]);
    assert!(bench.at("x.trace/mine").is_file());
}

/// Whoever looks at it breaks off.
#[test]
fn a_panic() {
    let bench = Bench::of(GOOD);
    let watcher = &mut Looking {
        check: &|_| panic!("a bug"),
        happened: &nothing,
    };
    let broke = catch_unwind(AssertUnwindSafe(|| bench.record(false, watcher)));
    assert!(broke.is_err());
    assert_eq!(bench.recordings(), ["STAGING/x"]);
}

/// Its end cannot be learned: somebody else was told of it.
#[test]
fn the_recorder_is_lost_sight_of() {
    let wait = "until [ -e \"$(dirname \"$out\")/../go\" ]; do sleep 0.02; done";
    let tell = "echo $$ > \"$(dirname \"$out\")/../pid\"";
    let bench = Bench::of(&format!("{tell}\n{GOOD}\n{wait}"));
    let watcher = &mut Looking {
        check: &good,
        happened: &|event| match event {
            Event::Saving { .. } if !bench.at("go").exists() => {
                let pid = fs::read_to_string(bench.at("pid")).unwrap();
                let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap());
                fs::write(bench.at("go"), "").unwrap();
                let options = rustix::process::WaitOptions::empty();
                rustix::process::waitpid(pid, options).unwrap();
            }
            _ => {}
        },
    };
    let error = bench.record(false, watcher).unwrap_err();
    assert!(matches!(error, Error::NotFollowed { .. }), "{error}");
    assert_eq!(bench.recordings(), ["STAGING/x"]);
    assert!(error.bundle().unwrap().join("store").is_file());
}

/// What a recorder of the future says is not understood, and what it made is whole.
#[test]
fn other_words() {
    let check = |judged: &dyn Fn(&Path) -> Check, expected: &[&str]| {
        let bench = Bench::of("mkdir \"$out\"; echo data > \"$out/store\"; echo 'Done!'");
        let watcher = &mut Looking {
            check: judged,
            happened: &nothing,
        };
        let error = bench.record(false, watcher).unwrap_err();
        assert_eq!(bench.recordings(), expected, "{error}");
        let told = error.to_string();
        assert!(!told.contains(".metalens-"), "{told}");
        assert_eq!(error.bundle().is_some(), !expected.is_empty(), "{told}");
    };
    check(&good, &["x.incomplete.trace"]);
    check(
        &|bundle| Check::Doubtful(format!("{} is newer", bundle.display())),
        &["x.incomplete.trace"],
    );
    check(&|_| Check::Unreadable("a stub".to_owned()), &[]);
}

/// Messages name the bundle as it is called in the end.
#[test]
fn nobody_is_told_of_passing_names() {
    let bench = Bench::of(GOOD);
    let check = |judged: &dyn Fn(String) -> Check| {
        let watcher = &mut Looking {
            check: &|bundle| judged(format!("{}/store is odd", bundle.display())),
            happened: &nothing,
        };
        match bench.record(true, watcher) {
            Ok(recording) => recording.warnings.join("; "),
            Err(error) => error.to_string(),
        }
    };
    let odd = |name: &str| format!("{}/store is odd", bench.at(name).display());
    assert_eq!(check(&Check::Doubtful), odd("x.trace"));
    assert!(check(&Check::Empty).contains(&odd("x.empty.trace")));
    assert!(check(&Check::Unreadable).contains(&odd("x.incomplete.trace")));
}
