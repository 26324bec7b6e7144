//! Removes the scratch files that `xctrace` leaves in temporary folders. A file goes only if it is
//! new since the recording began, the user's own, and open in no process. The authors know from
//! others that `xctrace` leaves them, and that its service holds them for up to 45 s.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use metalens_doctor::{
    CommandRunner, OpenState, ScratchFile, removal, scratch_files, temporary_folders,
};
use metalens_text::units::bytes;

use crate::watch::{RecordingEvent, Watcher};

/// Interval at which files that are in use are checked again.
const INTERVAL: Duration = Duration::from_secs(1);

/// The scratch files that existed before a recording.
pub(crate) struct ScratchBefore<'a> {
    runner: &'a dyn CommandRunner,
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl<'a> ScratchBefore<'a> {
    /// Lists the scratch files before a recording.
    pub(crate) fn list(runner: &'a dyn CommandRunner) -> Self {
        let folders = temporary_folders(runner, Some(&std::env::temp_dir()));
        Self::in_folders(runner, folders)
    }

    /// Lists the scratch files in these folders.
    fn in_folders(runner: &'a dyn CommandRunner, folders: Vec<PathBuf>) -> Self {
        let files = scratch_files(&folders);
        Self {
            runner,
            folders,
            files: files.into_iter().map(|file| file.path).collect(),
        }
    }

    /// Removes the new scratch files, and says what was removed and what was left. Waits at most
    /// this long for files that are in use, and no longer than the user wants. Without a time,
    /// `xctrace` may still need them, so that nothing is removed.
    pub(crate) fn tidy(&self, patience: Option<Duration>, watcher: &mut dyn Watcher) {
        let mut new = scratch_files(&self.folders);
        new.retain(|file| !self.files.contains(&file.path));
        if new.is_empty() {
            return;
        }
        let Some(patience) = patience else {
            let left = new
                .into_iter()
                .map(|file| (file, "it still runs".to_owned()));
            return report(&[], left.collect(), watcher);
        };

        let mut removed = Vec::new();
        let mut left: Vec<(ScratchFile, String)> = Vec::new();
        // The user may have ended the recording with Ctrl-C: only another press ends this wait.
        let asked_before = watcher.stop_request();
        let start = Instant::now();
        loop {
            let mut in_use = Vec::new();
            for file in new {
                match self.remove(&file) {
                    Removal::Done => removed.push(file),
                    Removal::Gone => {}
                    Removal::InUse(why) => in_use.push((file, why)),
                    Removal::Impossible(why) => left.push((file, why)),
                }
            }
            let may_wait = start.elapsed() < patience && watcher.stop_request() <= asked_before;
            if in_use.is_empty() || !may_wait {
                left.extend(in_use);
                break;
            }

            let size = in_use.iter().map(|(file, _)| file.bytes).sum();
            watcher.on_event(RecordingEvent::Tidying { bytes: size });
            new = in_use.into_iter().map(|(file, _)| file).collect();
            thread::sleep(INTERVAL.min(patience));
        }
        report(&removed, left, watcher);
    }

    /// Removes a scratch file that is ours and that no process has open.
    fn remove(&self, file: &ScratchFile) -> Removal {
        if file.owner != rustix::process::geteuid().as_raw() {
            return Removal::Impossible("another user owns them".to_owned());
        }
        match file.open_state(self.runner) {
            OpenState::Open(pids) => Removal::InUse(format!("process {pids} has them open")),
            // Its owner removed it meanwhile.
            OpenState::Unknown(_) if !file.path.exists() => Removal::Gone,
            OpenState::Unknown(why) => {
                Removal::Impossible(format!("lsof cannot tell whether they are in use: {why}"))
            }
            OpenState::Closed => {
                let removed = if file.path.is_dir() {
                    fs::remove_dir_all(&file.path)
                } else {
                    fs::remove_file(&file.path)
                };
                match removed {
                    Ok(()) => Removal::Done,
                    Err(cause) => Removal::Impossible(cause.to_string()),
                }
            }
        }
    }
}

/// The result of removing a file.
enum Removal {
    Done,
    Gone,
    InUse(String),
    Impossible(String),
}

/// Says what was removed, and what was left and why.
fn report(removed: &[ScratchFile], left: Vec<(ScratchFile, String)>, watcher: &mut dyn Watcher) {
    let size = |files: &[ScratchFile]| bytes(files.iter().map(|file| file.bytes).sum());
    if !removed.is_empty() {
        let text = format!(
            "removed {} of scratch files that xctrace left in the temporary folder",
            size(removed)
        );
        watcher.on_event(RecordingEvent::Note(&text));
    }
    let Some((_, why)) = left.first() else {
        return;
    };

    let why = why.clone();
    let left: Vec<ScratchFile> = left.into_iter().map(|(file, _)| file).collect();
    let text = format!(
        "xctrace left {} of scratch files in the temporary folder ({why}); when neither xctrace \
         nor Instruments runs: {}",
        size(&left),
        removal(&left)
    );
    watcher.on_event(RecordingEvent::Note(&text));
}

#[cfg(test)]
mod tests {
    use metalens_doctor::CommandOutput;

    use super::*;
    use crate::watch::StopRequest;

    /// An `lsof` with an answer.
    struct Lsof(&'static str, i32);

    impl CommandRunner for Lsof {
        fn run(&self, _: &str, _: &[&str]) -> CommandOutput {
            CommandOutput::Exited {
                code: Some(self.1),
                out: self.0.to_owned(),
                err: String::new(),
            }
        }
    }

    /// A watcher that keeps the notes.
    #[derive(Default)]
    struct Notes(Vec<String>);

    impl Watcher for Notes {
        fn on_event(&mut self, event: RecordingEvent<'_>) {
            if let RecordingEvent::Note(text) = event {
                self.0.push(text.to_owned());
            }
        }

        fn stop_request(&mut self) -> StopRequest {
            StopRequest::Stop
        }
    }

    #[test]
    fn only_new_closed_files_go() {
        let check = |lsof: &Lsof, remaining: usize, expected: &str| {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            fs::write(path("instruments1.ktrace"), "old").unwrap();
            let folders = vec![folder.path().to_owned()];
            let before = ScratchBefore::in_folders(lsof, folders);
            fs::write(path("instruments2.ktrace"), [0; 2_000]).unwrap();
            fs::create_dir(path("xrgpu_aps_1")).unwrap();
            fs::write(path("notes"), "mine").unwrap();

            let mut notes = Notes::default();
            before.tidy(Some(Duration::ZERO), &mut notes);
            assert!(path("instruments1.ktrace").exists() && path("notes").exists());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), remaining);
            let said = notes.0.join("|");
            assert!(said.contains(expected), "{said}");
        };
        check(&Lsof("", 1), 2, "removed 2");
        check(&Lsof("812\n", 0), 4, "process 812 has them open");
        check(&Lsof("", 0), 4, "lsof cannot tell");
        check(&Lsof("812\n", 0), 4, "instruments2.ktrace'");
    }
}
