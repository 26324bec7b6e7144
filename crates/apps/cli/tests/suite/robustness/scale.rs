//! Tests a batch of many recordings: open files and memory must not add up. Linux reports the
//! peak memory of the process.
//!
//! `METALENS_TRACES=N` sets the number of recordings, as `scripts/torture` does.

#![expect(clippy::print_stdout, reason = "what it took; seen with --nocapture")]

use std::fs;
use std::path::Path;
use std::process::Command;

use metalens_simulator::{Scenario, write_export};

use crate::SMALL;

/// Maximum number of open files, for any number of recordings.
const HANDLES: u32 = 24;

/// Maximum growth of memory for one more recording, in bytes: its row in each form of the index.
const BYTES_OF_A_TRACE: u64 = 24 << 10;

/// Runs a batch of `count` recordings, and returns its peak memory in bytes.
fn peak(folder: &Path, count: u32) -> u64 {
    let runs = folder.join(format!("runs-{count}"));
    fs::create_dir(&runs).unwrap();
    for number in 0..count {
        let one = runs.join(format!("t{number}"));
        fs::create_dir(&one).unwrap();
        for file in fs::read_dir(folder.join("tiny")).unwrap().flatten() {
            fs::hard_link(file.path(), one.join(file.file_name())).unwrap();
        }
    }
    let script = format!(
        "ulimit -n {HANDLES}; \"$0\" batch -q runs-{count} -o out-{count} --jobs 2 > told & \
         pid=$!; peak=0; \
         while now=$(grep VmHWM /proc/$pid/status 2>/dev/null); do peak=$now; sleep 0.02; done; \
         wait $pid || exit 9; echo \"$peak\""
    );
    let mut command = Command::new("bash");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_metalens")]);

    // glibc gives threads arenas of their own and keeps them; their number is chance.
    command.env("MALLOC_ARENA_MAX", "2");
    let output = command.current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{count} traces: {said}");
    let index = fs::read(folder.join(format!("out-{count}/index.json"))).unwrap();
    let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
    assert_eq!(index["rows"].as_array().unwrap().len(), count as usize);
    fs::remove_dir_all(folder.join(format!("out-{count}"))).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let kilobytes = text.split_whitespace().nth(1).unwrap();
    1024 * kilobytes.parse::<u64>().unwrap()
}

#[test]
fn memory_and_handles_do_not_grow_with_the_recordings() {
    let many = std::env::var("METALENS_TRACES").ok();
    let many: u32 = many.map_or(24, |many| many.parse().unwrap());
    let few = (many / 4).clamp(6, 100);
    let folder = metalens_testing::scratch();
    let scenario = Scenario::from_toml(SMALL).unwrap();
    write_export(&scenario, &folder.path().join("tiny"), false).unwrap();
    let (of_few, of_many) = (peak(folder.path(), few), peak(folder.path(), many));
    println!("{few} traces: {of_few} bytes at most; {many} traces: {of_many}");
    let allowed = of_few + u64::from(many - few) * BYTES_OF_A_TRACE + (16 << 20);
    assert!(
        of_many <= allowed,
        "{of_many} bytes, where {allowed} were expected"
    );
}
