//! What the timeline's lanes hold: the target's channels, others, causes of idle
//! time, each in one pass for all panels.

use metalens_analyzer::{Analysis, Cause, GpuSpan, Report};

use crate::coverage::{Grid, Sweep};

/// More channels than this share a lane.
const CHANNELS: usize = 6;
/// The names of more intervals than this would not fit anyway.
const NAMED: usize = 500;
const MORE: &str = "more channels";

/// When something was at work.
pub(crate) struct Lane {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) sweep: Sweep,
    /// Work that may have room for its name: start, end, name.
    pub(crate) named: Vec<(u64, u64, String)>,
}

/// Whose a lane is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Target,
    Others,
}

/// The lanes of each grid: the target's channels, then others as one, if they
/// were there at all.
pub(crate) fn lanes(analysis: &Analysis, grids: &[Grid]) -> Vec<Vec<Lane>> {
    let names = channels(&analysis.report);
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "no channel".to_owned());
    let own = |grid: Grid| {
        let lanes = names.iter().map(name);
        let lanes = lanes.map(|name| Lane::new(name, Kind::Target, grid));
        lanes.collect()
    };
    let mut all: Vec<Vec<Lane>> = grids.iter().map(|&grid| own(grid)).collect();
    let mut places = Places::new(&names);
    for span in analysis.spans() {
        let at = places.of(span.channel);
        let lanes = all.iter_mut().filter_map(|lanes| lanes.get_mut(at));
        lanes.for_each(|lane| lane.add(&span));
    }
    if analysis.report.busy.others_busy_ns > 0 {
        for (lanes, &grid) in all.iter_mut().zip(grids) {
            let mut others = Lane::new("Others".to_owned(), Kind::Others, grid);
            for (start, end) in analysis.others() {
                others.sweep.add(start, end);
            }
            lanes.push(others);
        }
    }
    all
}

/// The idle time of each grid by cause, in the order of `Cause::ALL`: every
/// nanosecond where it was.
pub(crate) fn causes(analysis: &Analysis, grids: &[Grid]) -> Vec<Vec<Sweep>> {
    let all = grids.iter();
    let mut all: Vec<Vec<Sweep>> = all
        .map(|&grid| vec![Sweep::new(grid); Cause::ALL.len()])
        .collect();
    for idle in analysis.idle() {
        for sweeps in &mut all {
            if let Some(sweep) = sweeps.get_mut(number(idle.cause)) {
                sweep.add(idle.start_ns, idle.end_ns);
            }
        }
    }
    all
}

/// A cause's place in `Cause::ALL`.
fn number(cause: Cause) -> usize {
    let mut all = Cause::ALL.iter();
    all.position(|&one| one == cause).unwrap_or(0)
}

impl Lane {
    fn new(name: String, kind: Kind, grid: Grid) -> Self {
        Self {
            name,
            kind,
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

/// Which lane a channel is on: the last answer is remembered, for millions of
/// intervals of one channel.
struct Places<'a> {
    names: &'a [Option<String>],
    last: Option<(Option<&'a str>, usize)>,
}

impl<'a> Places<'a> {
    const fn new(names: &'a [Option<String>]) -> Self {
        Self { names, last: None }
    }

    fn of(&mut self, channel: Option<&str>) -> usize {
        match self.last {
            Some((last, at)) if last == channel => at,
            _ => self.find(channel),
        }
    }

    /// Channels beyond the last lane share it.
    fn find(&mut self, channel: Option<&str>) -> usize {
        let mut names = self.names.iter().map(Option::as_deref).enumerate();
        let Some((at, name)) = names.find(|&(_, name)| name == channel) else {
            return self.names.len().saturating_sub(1);
        };
        self.last = Some((name, at));
        at
    }
}

/// The names of the channels' lanes: as work flows through the GPU.
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
