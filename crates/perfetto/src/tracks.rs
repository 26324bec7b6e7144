//! The tracks of the trace: their numbers, names and places in the list.

use std::io::{self, Write};

use metalens_analyzer::Report;

use crate::event::{Events, Track};
use crate::lanes::Lanes;

/// Where the target's tracks are listed: first when it was what, ...
pub(crate) const WARM_UP: usize = 0;
/// See [`WARM_UP`].
pub(crate) const PHASES: usize = 1;
/// ... then its channels, one after another, ...
pub(crate) const CHANNELS: usize = 2;
/// ... below them why there is nothing on any, ...
pub(crate) const IDLE: usize = 100;
/// ... and what the program did for the GPU's work.
pub(crate) const ENCODING: usize = 101;
/// See [`ENCODING`].
pub(crate) const COMPLETION: usize = 102;

/// Stands for all others together: no process of macOS has such a number.
pub(crate) const OTHERS: u64 = 100_000;
/// Stands for several targets together.
const SEVERAL: u64 = 100_001;
/// Stands for the GPU itself.
pub(crate) const MACHINE: u64 = 100_002;
/// Tracks of one kind that have a place of their own in the list.
const PLACES: usize = 1_000;

/// Hands out tracks.
pub(crate) struct Tracks {
    target: u64,
    last: u64,
}

impl Tracks {
    pub(crate) fn new(report: &Report) -> Self {
        // To viewers the process 0 is the idle one.
        let pid = report.process.pid.filter(|&pid| pid > 0);
        Self {
            target: pid.map_or(SEVERAL, u64::from),
            last: 0,
        }
    }

    /// The target's number.
    pub(crate) fn target(&self) -> u64 {
        self.target
    }

    /// Names the target and the others.
    pub(crate) fn processes<W: Write>(
        &self,
        report: &Report,
        events: &mut Events<W>,
    ) -> io::Result<()> {
        process(self.target, &report.process.name, 0, report, events)?;
        let others = "other processes on the GPU, all together";
        process(OTHERS, others, 1, report, events)
    }

    /// Names the GPU itself.
    pub(crate) fn machine<W: Write>(
        &self,
        report: &Report,
        events: &mut Events<W>,
    ) -> io::Result<()> {
        process(MACHINE, "the GPU, whoever uses it", 2, report, events)
    }

    /// A new track; those of a lower `group` come first, in it by `lane`.
    pub(crate) fn open<W: Write>(
        &mut self,
        pid: u64,
        name: &str,
        (group, lane): (usize, usize),
        events: &mut Events<W>,
    ) -> io::Result<Track> {
        self.last += 1;
        // A thread of its process's number would be the main thread.
        while [self.target, OTHERS, SEVERAL, MACHINE].contains(&self.last) {
            self.last += 1;
        }
        let tid = self.last;
        let name = match lane {
            0 => name.to_owned(),
            more => format!("{name} ({})", more + 1),
        };
        let event = events.about("thread_name", pid, Some(tid))?;
        event.text("name", Some(&name))?.finish()?;
        let index = place(group * PLACES + lane.min(PLACES - 1));
        let event = events.about("thread_sort_index", pid, Some(tid))?;
        event.number("sort_index", index).finish()?;
        Ok(Track { pid, tid })
    }
}

/// A process, with what nobody who looks at it may overlook.
fn process<W: Write>(
    pid: u64,
    name: &str,
    index: usize,
    report: &Report,
    events: &mut Events<W>,
) -> io::Result<()> {
    let synthetic = match report.run.synthetic {
        true => " (synthetic: no GPU ran this)",
        false => "",
    };
    let event = events.about("process_name", pid, None)?;
    let name = format!("{name}{synthetic}");
    event.text("name", Some(&name))?.finish()?;
    let event = events.about("process_sort_index", pid, None)?;
    event.number("sort_index", place(index)).finish()
}

/// The tracks of a kind: as many as its slices need, opened as they need them.
pub(crate) struct Opened<'a> {
    pid: u64,
    name: &'a str,
    group: usize,
    tracks: Vec<Track>,
}

impl<'a> Opened<'a> {
    pub(crate) fn new(pid: u64, name: &'a str, group: usize) -> Self {
        Self {
            pid,
            name,
            group,
            tracks: Vec::new(),
        }
    }

    /// The track of a lane; lanes come into use in their order.
    pub(crate) fn track<W: Write>(
        &mut self,
        lane: usize,
        tracks: &mut Tracks,
        events: &mut Events<W>,
    ) -> io::Result<Track> {
        if let Some(&track) = self.tracks.get(lane) {
            return Ok(track);
        }
        let place = (self.group, lane);
        let track = tracks.open(self.pid, self.name, place, events)?;
        self.tracks.push(track);
        Ok(track)
    }
}

/// The tracks of a kind whose slices must not overlap.
pub(crate) struct Laned<'a> {
    lanes: Lanes,
    opened: Opened<'a>,
}

impl<'a> Laned<'a> {
    pub(crate) fn new(pid: u64, name: &'a str, group: usize) -> Self {
        Self {
            lanes: Lanes::default(),
            opened: Opened::new(pid, name, group),
        }
    }

    /// The same tracks with nothing on them yet.
    pub(crate) fn emptied(self) -> Self {
        Self {
            lanes: Lanes::default(),
            ..self
        }
    }

    /// The track for a slice; slices come in the order of their starts.
    pub(crate) fn place<W: Write>(
        &mut self,
        (start_ns, end_ns): (u64, u64),
        tracks: &mut Tracks,
        events: &mut Events<W>,
    ) -> io::Result<Track> {
        let lane = self.lanes.place(start_ns, end_ns);
        self.opened.track(lane, tracks, events)
    }
}

fn place(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}
