//! Learns that the recording has begun, and tells a bundled workload, so that its first work is recorded.
//! The workload waits, for a limited time, for a file to appear.
//!
//! `xctrace` posts a Darwin notification when it traces. Such notifications are not kept for later, so
//! `notifyutil` must listen before `xctrace` starts. If it hears nothing, the line that `xctrace` prints
//! counts, a moment later.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Program of macOS that waits for a notification.
const NOTIFYUTIL: &str = "/usr/bin/notifyutil";
/// Time from the line that says that it records to the recording of all events: one project waits so
/// long.
const SETTLING: Duration = Duration::from_millis(500);

/// The signal of one attempt to record.
#[derive(Debug)]
pub(crate) struct StartSignal {
    /// File to write; `None` if nobody waits for it any more.
    file: Option<PathBuf>,
    listener: Option<duct::Handle>,
    /// Time since which the output says that it records.
    since: Option<Instant>,
}

impl StartSignal {
    /// Starts to listen for a notification. Must come before `xctrace` starts.
    pub(crate) fn begin(file: Option<&Path>, notification: Option<&str>) -> Self {
        Self::with(Path::new(NOTIFYUTIL), file, notification)
    }

    /// Starts to listen with a program that behaves like `notifyutil`.
    fn with(notifyutil: &Path, file: Option<&Path>, notification: Option<&str>) -> Self {
        if let Some(file) = file {
            // An earlier attempt may have written it.
            let _ = fs::remove_file(file);
        }
        let listener = notification
            .filter(|_| notifyutil.is_file())
            .and_then(|name| {
                let listen = duct::cmd!(notifyutil, "-1", name);
                let listen = listen.stdin_null().stdout_null().stderr_null();
                listen.unchecked().start().ok()
            });
        Self {
            file: file.map(Path::to_owned),
            listener,
            since: None,
        }
    }

    /// Returns whether the notification came.
    pub(crate) fn was_posted(&self) -> bool {
        self.listener
            .as_ref()
            .and_then(|listener| listener.try_wait().ok().flatten())
            .is_some_and(|output| output.status.success())
    }

    /// Notes that the output says that it records.
    pub(crate) fn recording(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }

    /// Writes the file once the recording has begun.
    pub(crate) fn check(&mut self) {
        if self.file.is_none() || !self.has_begun() {
            return;
        }
        if let Some(file) = self.file.take() {
            // Without the file the workload waits a little longer, and runs nevertheless.
            let _ = fs::write(file, "");
        }
    }

    /// Returns whether the recording has begun: the notification came, or is late.
    fn has_begun(&self) -> bool {
        let settled = self.since.map(|since| since.elapsed());
        match &self.listener {
            None => settled.is_some(),
            Some(_) => self.was_posted() || settled.is_some_and(|settled| settled >= SETTLING),
        }
    }
}

impl Drop for StartSignal {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener {
            // It has ended, or waits for nothing.
            let _ = listener.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn listener(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("notifyutil");
        metalens_testing::write_script(&path, script);
        path
    }

    /// Returns whether the file is there at once, and whether it appears soon.
    fn appears(script: Option<&str>, says_so: bool) -> (bool, bool) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("recording");
        fs::write(&file, "old").unwrap();
        let program = match script {
            Some(script) => listener(folder.path(), script),
            None => folder.path().join("absent"),
        };
        let mut signal = StartSignal::with(&program, Some(&file), Some("a.b"));
        if says_so {
            signal.recording();
        }
        signal.check();
        let at_once = file.exists();
        for _ in 0..100 {
            signal.check();
            thread::sleep(Duration::from_millis(10));
        }
        (at_once, file.exists())
    }

    #[test]
    fn the_notification_comes_first_and_the_output_second() {
        let posts = Some("[ \"$1 $2\" = '-1 a.b' ] && sleep 0.1");
        let posts_nothing = Some("exec sleep 30");
        let is_absent = None;
        let cases = [
            (posts, false, (false, true)),
            (posts_nothing, true, (false, true)),
            (posts_nothing, false, (false, false)),
            (Some("exit 1"), false, (false, false)),
            (is_absent, true, (true, true)),
            (is_absent, false, (false, false)),
        ];
        thread::scope(|scope| {
            for (script, says_so, expected) in cases {
                scope.spawn(move || {
                    assert_eq!(appears(script, says_so), expected, "{script:?} {says_so}");
                });
            }
        });
    }
}
