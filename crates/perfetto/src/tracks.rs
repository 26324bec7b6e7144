//! The tracks of the trace: their numbers, names and places in the list.

use std::io::{self, Write};

use metalens_analyzer::Report;

use crate::event::{Events, Track};
use crate::lanes::Lanes;

/// Stands for all others together: no process of macOS has such a number.
pub(crate) const OTHERS: u64 = 100_000;
/// Stands for several targets together.
const SEVERAL: u64 = 100_001;
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
        let pid = report.target.pid.filter(|&pid| pid > 0);
        Self {
            target: pid.map_or(SEVERAL, u64::from),
            last: 0,
        }
    }

    /// The target's number.
    pub(crate) fn target(&self) -> u64 {
        self.target
    }

    /// Names the two processes.
    pub(crate) fn processes<W: Write>(
        &self,
        report: &Report,
        events: &mut Events<W>,
    ) -> io::Result<()> {
        let synthetic = match report.run.synthetic {
            true => " (synthetic: no GPU ran this)",
            false => "",
        };
        let name = format!("{}{synthetic}", report.target.name);
        let others = format!("other processes on the GPU, all together{synthetic}");
        for (at, (pid, name)) in [(self.target, name), (OTHERS, others)].iter().enumerate() {
            let event = events.about("process_name", *pid, None)?;
            event.text("name", Some(name))?.finish()?;
            let event = events.about("process_sort_index", *pid, None)?;
            event.number("sort_index", place(at)).finish()?;
        }
        Ok(())
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
        if [self.target, OTHERS].contains(&self.last) {
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

/// As many tracks of the target as what overlaps needs.
pub(crate) struct Laned<'a> {
    name: &'a str,
    group: usize,
    lanes: Lanes,
    tracks: Vec<Track>,
}

impl<'a> Laned<'a> {
    pub(crate) fn new(name: &'a str, group: usize) -> Self {
        Self {
            name,
            group,
            lanes: Lanes::default(),
            tracks: Vec::new(),
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
        if let Some(&track) = self.tracks.get(lane) {
            return Ok(track);
        }
        let place = (self.group, lane);
        let track = tracks.open(tracks.target, self.name, place, events)?;
        self.tracks.push(track);
        Ok(track)
    }
}

fn place(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}
