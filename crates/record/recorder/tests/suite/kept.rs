//! Tests that no failure removes a bundle once it may be a recording.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use metalens_recorder::{
    BundleVerdict, Error, OutputRoute, RecordTimeouts, Recording, RecordingEvent, StopRequest,
    Watcher, XctraceRequest, record,
};
use metalens_xctrace::command::{Record, Target, Template};
use metalens_xctrace::{Stdin, Tool, Version};
use tempfile::TempDir;

/// Script of an `xctrace` that records well; `$out` is the requested path.
const GOOD: &str = "echo 'Starting recording'; echo 'Ctrl-C to stop the recording'
mkdir \"$out\"; echo data > \"$out/store\"
echo 'Target app exited'; echo 'Recording completed. Saving output file...'
echo \"Output file saved as: $(basename \"$out\")\"";

/// A watcher with a given reaction to events, and the verdict on the bundle.
struct TestWatcher<'a> {
    check: &'a dyn Fn(&Path) -> BundleVerdict,
    on_event: &'a dyn Fn(RecordingEvent<'_>),
}

impl Watcher for TestWatcher<'_> {
    fn on_event(&mut self, event: RecordingEvent<'_>) {
        (self.on_event)(event);
    }

    fn stop_request(&mut self) -> StopRequest {
        StopRequest::None
    }
}

/// A folder with an `xctrace` that is a shell script.
struct Bench {
    folder: TempDir,
    /// Name of the wanted bundle.
    output: String,
}

impl Bench {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("xctrace");
        let find = "while [ $# -gt 1 ]; do [ \"$1\" = --output ] && out=\"$2\"; shift; done";
        metalens_testing::write_script(tool, &format!("{find}\n{script}"));
        fs::create_dir(folder.path().join("here")).unwrap();
        Self {
            folder,
            output: "x.trace".to_owned(),
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join("here").join(name)
    }

    fn record(&self, force: bool, watcher: &mut TestWatcher<'_>) -> Result<Recording, Error> {
        let request = XctraceRequest {
            tool: Tool::at(self.folder.path().join("xctrace")),
            version: Version {
                dotted: "26.0".to_owned(),
                build: "17C529".to_owned(),
            },
            record: Record::new(
                Template::Named("Metal System Trace".to_owned()),
                self.at(&self.output),
                Target::AllProcesses,
            ),
            force,
            started_file: None,
            program_output: OutputRoute::File,
            stdin: Stdin::Nothing,
            running_before: None,
            log: None,
            timeouts: RecordTimeouts::default(),
        };

        let check = watcher.check;
        record(&request, watcher, &mut |bundle| check(bundle))
    }

    /// Returns the paths of all recordings, without the random letters.
    fn recordings(&self) -> Vec<String> {
        let mut recordings = Vec::new();
        collect(&self.at(""), "", &mut recordings);
        recordings.sort();
        recordings
    }
}

fn collect(folder: &Path, inside: &str, recordings: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let name = if name.starts_with(".metalens-") {
            "STAGING".to_owned()
        } else {
            name.split('-').next().unwrap().to_owned()
        };
        let path = format!("{inside}{name}");
        if entry.path().join("store").is_file() {
            recordings.push(path);
        } else if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), recordings);
        }
    }
}

fn good(_: &Path) -> BundleVerdict {
    BundleVerdict::Good
}

fn ignore(_: RecordingEvent<'_>) {}

#[test]
fn a_good_recording_leaves_one_bundle() {
    let bench = Bench::new(GOOD);
    let watcher = &mut TestWatcher {
        check: &good,
        on_event: &ignore,
    };
    bench.record(false, watcher).unwrap();
    assert_eq!(bench.recordings(), ["x.trace"]);
    assert_eq!(fs::read_dir(bench.at("")).unwrap().count(), 1);
    bench.record(true, watcher).unwrap();
    assert_eq!(fs::read_dir(bench.at("")).unwrap().count(), 1);
}

/// Another process made a bundle of that name during the recording.
#[test]
fn a_name_that_was_taken_meanwhile_is_left_alone() {
    let bench = Bench::new(GOOD);
    let watcher = &mut TestWatcher {
        check: &|_| {
            fs::create_dir_all(bench.at("x.trace")).unwrap();
            fs::write(bench.at("x.trace/mine"), "1").unwrap();
            BundleVerdict::Doubtful("odd".to_owned())
        },
        on_event: &ignore,
    };
    let error = bench.record(false, watcher).unwrap_err();
    assert!(matches!(error, Error::Elsewhere { .. }), "{error}");
    assert_eq!(error.bundle(), Some(&*bench.at("x.new.trace")));
    assert_eq!(bench.recordings(), ["x.new.trace"]);
    assert!(bench.at("x.trace/mine").is_file());
}

/// A watcher that panics costs no recording.
#[test]
fn a_panic_keeps_the_recording() {
    let bench = Bench::new(GOOD);
    let watcher = &mut TestWatcher {
        check: &|_| panic!("a bug"),
        on_event: &ignore,
    };
    let broke = catch_unwind(AssertUnwindSafe(|| bench.record(false, watcher)));
    assert!(broke.is_err());
    assert_eq!(bench.recordings(), ["STAGING/x"]);
}

/// The end of `xctrace` cannot be read, because this test has waited for it already.
#[test]
fn a_lost_process_keeps_the_recording() {
    let wait = "until [ -e \"$(dirname \"$out\")/../go\" ]; do sleep 0.02; done";
    let tell = "echo $$ > \"$(dirname \"$out\")/../pid\"";
    let bench = Bench::new(&format!("{tell}\n{GOOD}\n{wait}"));
    let watcher = &mut TestWatcher {
        check: &good,
        on_event: &|event| match event {
            RecordingEvent::Saving { .. } if !bench.at("go").exists() => {
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

/// Unknown messages of a future `xctrace` do not cost a complete bundle.
#[test]
fn unknown_messages_keep_the_recording() {
    let check = |judge: &dyn Fn(&Path) -> BundleVerdict, expected: &[&str]| {
        let bench = Bench::new("mkdir \"$out\"; echo data > \"$out/store\"; echo 'Done!'");
        let watcher = &mut TestWatcher {
            check: judge,
            on_event: &ignore,
        };
        let recorded = bench.record(false, watcher);
        assert_eq!(bench.recordings(), expected, "{recorded:?}");
        let Err(error) = recorded else {
            return;
        };
        let message = error.to_string();
        assert!(!message.contains(".metalens-"), "{message}");
        assert_eq!(error.bundle().is_some(), !expected.is_empty(), "{message}");
    };
    // It ended well, and the bundle has all that it should have.
    check(&good, &["x.trace"]);
    check(
        &|bundle| BundleVerdict::Doubtful(format!("{} is newer", bundle.display())),
        &["x.incomplete.trace"],
    );
    check(&|_| BundleVerdict::Unreadable("a stub".to_owned()), &[]);
}

/// What metalens cannot read may be a recording: only a small bundle without its last file goes.
#[test]
fn a_bundle_that_is_no_stub_is_kept() {
    let check = |files: &str| {
        let bench = Bench::new(&format!(
            "mkdir \"$out\"; echo data > \"$out/store\"; {files}; echo 'Done!'"
        ));
        let watcher = &mut TestWatcher {
            check: &|_| BundleVerdict::Unreadable("it is odd".to_owned()),
            on_event: &ignore,
        };
        let error = bench.record(false, watcher).unwrap_err();
        assert_eq!(bench.recordings(), ["x.incomplete.trace"], "{error}");
    };
    check("echo 1 > \"$out/form.template\"");
    check("head -c 2000000 /dev/zero > \"$out/big\"");
}

/// The name is taken meanwhile, and so long that no other one can be made of it.
#[test]
fn a_recording_without_a_free_name_stays_in_its_folder() {
    let mut bench = Bench::new(GOOD);
    bench.output = format!("{}.trace", "x".repeat(248));
    let watcher = &mut TestWatcher {
        check: &|_| {
            fs::create_dir_all(bench.at(&bench.output)).unwrap();
            BundleVerdict::Good
        },
        on_event: &ignore,
    };
    let error = bench.record(false, watcher).unwrap_err();
    assert!(matches!(error, Error::Elsewhere { .. }), "{error}");
    let kept = error.bundle().unwrap();
    assert!(kept.join("store").is_file(), "{error}");
    assert!(error.to_string().contains(".metalens-"), "{error}");
}

/// Messages give the final path of the bundle.
#[test]
fn messages_do_not_name_staging_paths() {
    let bench = Bench::new(GOOD);
    let check = |judge: &dyn Fn(String) -> BundleVerdict| {
        let watcher = &mut TestWatcher {
            check: &|bundle| judge(format!("{}/store is odd", bundle.display())),
            on_event: &ignore,
        };
        match bench.record(true, watcher) {
            Ok(recording) => recording.warnings.join("; "),
            Err(error) => error.to_string(),
        }
    };
    let odd = |name: &str| format!("{}/store is odd", bench.at(name).display());
    assert_eq!(check(&BundleVerdict::Doubtful), odd("x.trace"));
    assert!(check(&BundleVerdict::Empty).contains(&odd("x.empty.trace")));
    assert!(check(&BundleVerdict::Unreadable).contains(&odd("x.incomplete.trace")));
}
