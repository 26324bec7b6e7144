//! Collects the contents of the timeline's lanes, each in one pass for all panels: the process's
//! channels, other processes, and causes of idle time.

use metalens_analyzer::{Analysis, Cause, GpuSpan, Report};
use metalens_message::Ns;

use crate::coverage::{Grid, Sweep};
use crate::kernel_colors::KernelColors;
use crate::palette::OWN;

/// Number of channels with a lane of their own; the others share one.
const CHANNELS: usize = 6;
/// Largest number of named intervals in a lane; more names would not fit.
const NAMED: usize = 500;
/// Smallest width, in columns, of an interval that is set apart from the one before it.
const APART: u64 = 6;
const MORE: &str = "more channels";

/// A lane: busy time of a channel or of the other processes.
pub(crate) struct Lane {
    pub(crate) name: String,
    pub(crate) owner: LaneOwner,
    /// Busy time by the color of its kernel; overlaps count once.
    pub(crate) sweeps: Vec<Sweep>,
    /// Intervals that may have room for their name.
    pub(crate) named: Vec<NamedInterval>,
    /// Starts of intervals that touch the one before them, so that both would look like one.
    pub(crate) cuts: Vec<u64>,
    grid: Grid,
    done_ns: u64,
}

/// An interval with the name and the color of its kernel.
pub(crate) struct NamedInterval {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) name: String,
    pub(crate) color: usize,
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
    let colors = KernelColors::of(&analysis.report);
    for span in analysis.spans() {
        let at = finder.index(span.channel);
        let lanes = all.iter_mut().filter_map(|lanes| lanes.get_mut(at));
        let color = colors.number(span.kernel);
        lanes.for_each(|lane| lane.add(&span, color));
    }

    if analysis.report.busy.others_busy_ns > Some(Ns(0)) {
        for (lanes, &grid) in all.iter_mut().zip(grids) {
            let mut others = Lane::new("Others".to_owned(), LaneOwner::Others, grid);
            for (start, end) in analysis.others() {
                others.cover(start, end, 0);
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
    all.position(|&known| known == cause).unwrap_or(0)
}

impl Lane {
    fn new(name: String, owner: LaneOwner, grid: Grid) -> Self {
        Self {
            name,
            owner,
            sweeps: match owner {
                LaneOwner::Process => vec![Sweep::new(grid); OWN + 1],
                LaneOwner::Others => vec![Sweep::new(grid)],
            },
            named: Vec::new(),
            cuts: Vec::new(),
            grid,
            done_ns: grid.start_ns,
        }
    }

    /// Returns the busy time of the lane.
    pub(crate) fn total_ns(&self) -> u64 {
        self.sweeps.iter().map(Sweep::total_ns).sum()
    }

    /// Adds a stretch that does not begin before those already added.
    fn cover(&mut self, start_ns: u64, end_ns: u64, color: usize) {
        let from = start_ns.max(self.done_ns);
        if from < end_ns {
            if let Some(sweep) = self.sweeps.get_mut(color) {
                sweep.add(from, end_ns);
            }
            self.done_ns = end_ns;
        }
    }

    fn add(&mut self, span: &GpuSpan<'_>, color: usize) {
        let grid = self.grid;
        if span.end_ns <= grid.start_ns || span.start_ns >= grid.end_ns {
            return;
        }

        let length_ns = span.end_ns - span.start_ns;
        let is_touching = !grid.spans(span.start_ns.saturating_sub(self.done_ns), 1);
        if is_touching && span.start_ns > grid.start_ns && grid.spans(length_ns, APART) {
            self.cuts.push(span.start_ns);
        }
        self.cover(span.start_ns, span.end_ns, color);
        if grid.has_room(length_ns) && self.named.len() < NAMED {
            self.named.push(NamedInterval {
                start_ns: span.start_ns,
                end_ns: span.end_ns,
                name: span.kernel.to_owned(),
                color,
            });
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
        let known = ORDER
            .iter()
            .position(|&known_name| Some(known_name) == name);
        known.unwrap_or(ORDER.len())
    };
    channels.sort_by_key(|channel| (rank(channel.name.as_deref()), channel.name.clone()));

    let mut names: Vec<Option<String>> = channels
        .iter()
        .map(|channel| channel.name.clone())
        .collect();
    if more {
        names.push(Some(MORE.to_owned()));
    }
    names
}
