//! Runs the emitters in `examples`: what they write must be a log.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::metalens;

/// A program around the emitter in C: three command buffers whose GPU times are made up.
const MAIN: &str = r#"
int main(void) {
    log_open("c.jsonl", "engine", 7);
    for (int step = 1; step <= 3; step++) {
        uint64_t encode = log_now(), commit = log_now();
        double start = log_now() / 1e9, end = log_now() / 1e9 + 1e-7;
        while (log_now() / 1e9 < end + 1e-6) {}
        log_buffer(encode, commit, start, end, "gemm", step);
    }
    log_close();
}
"#;

const USE: &str = r#"
log = CommandBufferLog("python.jsonl", "engine", device="Apple M3")
begin = log.now()
for step in range(1, 4):
    encode = log.now()
    commit = log.now()
    start = log.now() / 1e9
    end = log.now() / 1e9 + 1e-7
    while log.now() / 1e9 < end + 1e-6:
        pass
    log.buffer(encode, commit, start, end, {"gemm": step})
log.phase("decode", begin)
log.close()
"#;

/// Returns the text of an emitter in `examples`.
fn emitter(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/command-buffer-log");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn check(folder: &Path, log: &str) {
    let output = metalens(folder, &["analyze", log, "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["counts"]["intervals"], 3);
    assert_eq!(report["kernels"][0]["name"], "gemm");
    assert_eq!(report["kernels"][0]["dispatches"], 6);
    let notes = report["notes"].as_array().unwrap();
    assert_eq!(notes.iter().find(|note| note["severity"] == "loud"), None);
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that cannot run says so")]
fn the_emitters_write_logs() {
    let folder = metalens_testing::scratch();
    let folder = folder.path();
    fs::write(folder.join("emitter.c"), emitter("emitter.c") + MAIN).unwrap();
    fs::write(folder.join("emitter.py"), emitter("emitter.py") + USE).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .output()
            .ok()?;
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Some(())
    };
    let c = run(
        "cc",
        &[
            "-Wall",
            "-Werror",
            "-D_GNU_SOURCE",
            "emitter.c",
            "-o",
            "emitter",
            "-lpthread",
        ],
    );
    match c.and_then(|()| run("./emitter", &[])) {
        Some(()) => check(folder, "c.jsonl"),
        None => eprintln!("skipped: there is no C compiler"),
    }
    match run("python3", &["emitter.py"]) {
        Some(()) => check(folder, "python.jsonl"),
        None => eprintln!("skipped: there is no python3"),
    }
}
