//! Assigns the tracks of the trace: their numbers, names and positions in the list.

use std::io;

use crate::event::{Trace, Track};
use crate::lanes::FreeLanes;

/// Position of the steps in the list, before the other tracks of the process.
pub(crate) const STEPS: usize = 0;
/// Position of the phases in the list.
pub(crate) const PHASES: usize = 1;
/// Position of the process's first channel; the other channels follow.
pub(crate) const CHANNELS: usize = 2;
/// Position of the idle time by cause, below all channels.
pub(crate) const IDLE: usize = 100;
/// Position of the encodings in the list.
pub(crate) const ENCODING: usize = 101;
/// Position of the completions in the list.
pub(crate) const COMPLETION: usize = 102;

/// Process number of all other processes together. macOS never uses it.
pub(crate) const OTHERS: u64 = 100_000;
/// Process number of several analyzed processes together.
const SEVERAL: u64 = 100_001;
/// Process number of the GPU itself.
pub(crate) const MACHINE: u64 = 100_002;
/// Number of tracks of one kind with a position of their own in the list.
const PLACES: usize = 1_000;

/// Returns the number of the analyzed process. Viewers treat process 0 as the idle process.
pub(crate) fn process_number(pid: Option<u32>) -> u64 {
    pid.filter(|&pid| pid > 0).map_or(SEVERAL, u64::from)
}

impl Trace<'_> {
    /// Names the analyzed process and the others.
    pub(crate) fn processes(&mut self, name: &str) -> io::Result<()> {
        self.process(self.pid, name, 0)?;
        self.process(OTHERS, "other processes on the GPU (all together)", 1)
    }

    /// Names the GPU itself, once.
    pub(crate) fn machine(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.has_machine, true) {
            return Ok(());
        }
        self.process(MACHINE, "GPU (all processes)", 2)
    }

    /// Names a process, with a mark if the recording is synthetic.
    fn process(&mut self, pid: u64, name: &str, index: usize) -> io::Result<()> {
        let synthetic = if self.is_synthetic {
            " (synthetic: no GPU ran this)"
        } else {
            ""
        };
        let name = format!("{name}{synthetic}");
        let event = self.about("process_name", pid, None)?;
        event.text("name", Some(&name))?.finish()?;
        let event = self.about("process_sort_index", pid, None)?;
        event.number("sort_index", index as u64).finish()
    }

    /// Opens a new track. Tracks of a lower `group` come first, and within a group those of a lower
    /// `lane`.
    pub(crate) fn open(
        &mut self,
        pid: u64,
        name: &str,
        group: usize,
        lane: usize,
    ) -> io::Result<Track> {
        self.last += 1;
        // A thread with the number of its process would be shown as the main thread.
        while [self.pid, OTHERS, SEVERAL, MACHINE].contains(&self.last) {
            self.last += 1;
        }

        let tid = self.last;
        let name = match lane {
            0 => name.to_owned(),
            more => format!("{name} ({})", more + 1),
        };
        let event = self.about("thread_name", pid, Some(tid))?;
        event.text("name", Some(&name))?.finish()?;

        let index = group * PLACES + lane.min(PLACES - 1);
        let event = self.about("thread_sort_index", pid, Some(tid))?;
        event.number("sort_index", index as u64).finish()?;
        Ok(Track { pid, tid })
    }
}

/// The tracks of a kind, opened as its slices need them.
pub(crate) struct OpenTracks<'a> {
    pid: u64,
    name: &'a str,
    group: usize,
    tracks: Vec<Track>,
}

impl<'a> OpenTracks<'a> {
    pub(crate) fn new(pid: u64, name: &'a str, group: usize) -> Self {
        Self {
            pid,
            name,
            group,
            tracks: Vec::new(),
        }
    }

    /// Returns the track of a lane. New lanes come in their order.
    pub(crate) fn track(&mut self, lane: usize, trace: &mut Trace<'_>) -> io::Result<Track> {
        if let Some(&track) = self.tracks.get(lane) {
            return Ok(track);
        }
        let track = trace.open(self.pid, self.name, self.group, lane)?;
        self.tracks.push(track);
        Ok(track)
    }
}

/// The tracks of a kind whose slices must not overlap.
pub(crate) struct LanedTracks<'a> {
    lanes: FreeLanes,
    opened: OpenTracks<'a>,
}

impl<'a> LanedTracks<'a> {
    pub(crate) fn new(pid: u64, name: &'a str, group: usize) -> Self {
        Self {
            lanes: FreeLanes::default(),
            opened: OpenTracks::new(pid, name, group),
        }
    }

    /// Returns the same tracks without slices.
    pub(crate) fn cleared(self) -> Self {
        Self {
            lanes: FreeLanes::default(),
            ..self
        }
    }

    /// Returns the track for a slice. Slices come in the order of their starts.
    pub(crate) fn place(
        &mut self,
        start_ns: u64,
        end_ns: u64,
        trace: &mut Trace<'_>,
    ) -> io::Result<Track> {
        let lane = self.lanes.place(start_ns, end_ns);
        self.opened.track(lane, trace)
    }
}
