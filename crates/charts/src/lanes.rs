//! Collects the contents of the timeline's lanes, each in one pass for all panels: the process's
//! channels, other processes, and causes of idle time.

use metalens_analyzer::{Analysis, Cause, GpuSpan, Report};

use crate::coverage::{Grid, Sweep};

/// Number of channels with a lane of their own; the others share one.
const CHANNELS: usize = 6;
/// Largest number of named intervals in a lane; more names would not fit.
const NAMED: usize = 500;
const MORE: &str = "more channels";

/// A lane: busy time of a channel or of the other processes.
pub(crate) struct Lane {
    pub(crate) name: String,
    pub(crate) owner: LaneOwner,
    pub(crate) sweep: Sweep,
    /// Intervals that may have room for their name: start, end, name.
    pub(crate) named: Vec<(u64, u64, String)>,
}

/// Owner of the work in a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneOwner {
    Process,
    Others,
}

/// Returns the lanes of each grid: the process's channels, then the other processes as one lane if
/// they used the GPU.
pub(crate) fn lanes(analysis: &Analysis, grids: &[Grid]) -> Vec<Vec<Lane>> {
    let names = channels(&analysis.report);
    let lane_name = |name: &Option<String>| name.clone().unwrap_or_else(|| "no channel".to_owned());
    let own_lanes = |grid: Grid| {
        let lanes = names.iter().map(lane_name);
        let lanes = lanes.map(|name| Lane::new(name, LaneOwner::Process, grid));
        lanes.collect()
    };
    let mut all: Vec<Vec<Lane>> = grids.iter().map(|&grid| own_lanes(grid)).collect();

    let mut finder = LaneFinder::new(&names);
    for span in analysis.spans() {
        let at = finder.index(span.channel);
        let lanes = all.iter_mut().filter_map(|lanes| lanes.get_mut(at));
        lanes.for_each(|lane| lane.add(&span));
    }

    if analysis.report.busy.others_busy_ns > 0 {
        for (lanes, &grid) in all.iter_mut().zip(grids) {
            let mut others = Lane::new("Others".to_owned(), LaneOwner::Others, grid);
            for (start, end) in analysis.others() {
                others.sweep.add(start, end);
            }
            lanes.push(others);
        }
    }
    all
}

/// Returns the idle time of each grid by cause, in the order of `Cause::ALL`, at the exact times.
pub(crate) fn causes(analysis: &Analysis, grids: &[Grid]) -> Vec<Vec<Sweep>> {
    let all = grids.iter();
    let mut all: Vec<Vec<Sweep>> = all
        .map(|&grid| vec![Sweep::new(grid); Cause::ALL.len()])
        .collect();
    for idle in analysis.idle() {
        for sweeps in &mut all {
            if let Some(sweep) = sweeps.get_mut(index_of(idle.cause)) {
                sweep.add(idle.start_ns, idle.end_ns);
            }
        }
    }
    all
}

/// Returns the index of a cause in `Cause::ALL`.
fn index_of(cause: Cause) -> usize {
    let mut all = Cause::ALL.iter();
    all.position(|&one| one == cause).unwrap_or(0)
}

impl Lane {
    fn new(name: String, owner: LaneOwner, grid: Grid) -> Self {
        Self {
            name,
            owner,
            sweep: Sweep::new(grid),
            named: Vec::new(),
        }
    }

    fn add(&mut self, span: &GpuSpan<'_>) {
        let grid = self.sweep.grid();
        if span.end_ns <= grid.start_ns || span.start_ns >= grid.end_ns {
            return;
        }

        self.sweep.add(span.start_ns, span.end_ns);
        if grid.has_room(span.end_ns - span.start_ns) && self.named.len() < NAMED {
            let name = span.kernel.to_owned();
            self.named.push((span.start_ns, span.end_ns, name));
        }
    }
}

/// Finds the lane of a channel. It remembers the last answer, because millions of intervals may
/// have one channel.
struct LaneFinder<'a> {
    names: &'a [Option<String>],
    last: Option<(Option<&'a str>, usize)>,
}

impl<'a> LaneFinder<'a> {
    const fn new(names: &'a [Option<String>]) -> Self {
        Self { names, last: None }
    }

    fn index(&mut self, channel: Option<&str>) -> usize {
        match self.last {
            Some((last, at)) if last == channel => at,
            _ => self.find(channel),
        }
    }

    /// Searches the lane. Channels without a lane of their own share the last one.
    fn find(&mut self, channel: Option<&str>) -> usize {
        let mut names = self.names.iter().map(Option::as_deref).enumerate();
        let Some((at, name)) = names.find(|&(_, name)| name == channel) else {
            return self.names.len().saturating_sub(1);
        };
        self.last = Some((name, at));
        at
    }
}

/// Returns the names of the channels' lanes, in the order in which work passes through the GPU.
pub(crate) fn channels(report: &Report) -> Vec<Option<String>> {
    const ORDER: [&str; 4] = ["Compute", "Vertex", "Fragment", "Blit"];
    let mut channels: Vec<_> = report.channels.iter().collect();
    channels.sort_by_key(|channel| std::cmp::Reverse(channel.busy_ns));
    let more = channels.len() > CHANNELS;
    channels.truncate(CHANNELS);

    let rank = |name: Option<&str>| {
        let known = ORDER.iter().position(|&one| Some(one) == name);
        known.unwrap_or(ORDER.len())
    };
    channels.sort_by_key(|channel| (rank(channel.name.as_deref()), channel.name.clone()));

    let mut names: Vec<Option<String>> = channels.iter().map(|one| one.name.clone()).collect();
    if more {
        names.push(Some(MORE.to_owned()));
    }
    names
}
