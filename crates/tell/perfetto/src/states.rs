//! Writes the steps, phases of the process, and performance states of the GPU.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use metalens_analyzer::{Analysis, StateInterval};

use crate::event::TraceEvents;
use crate::lanes::NestedLanes;
use crate::tracks::{LanedTracks, MACHINE, OpenTracks, PHASES, STEPS, Tracks};

/// Writes the steps. They have a track of their own, because the analysis found them.
pub(crate) fn steps<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let steps = analysis.steps();
    if steps.is_empty() {
        return Ok(());
    }
    let track = tracks.open(tracks.pid(), "steps", STEPS, 0, events)?;
    for step in steps {
        let slice = events.slice(track, "step", &step.what, step.start_ns, step.end_ns)?;
        slice.finish()?;
    }
    Ok(())
}

/// Writes the phases that the process named. Phases of one name are on one track if they fit.
pub(crate) fn phases<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let mut phases: Vec<&StateInterval> = analysis.named_phases().iter().collect();
    phases.sort_by_key(|phase| (phase.start_ns, Reverse(phase.end_ns)));

    let mut nests = NestedLanes::default();
    let mut opened = OpenTracks::new(tracks.pid(), "phases", PHASES);
    let mut lanes: BTreeMap<&str, usize> = BTreeMap::new();

    for phase in phases {
        let preferred = lanes.get(phase.what.as_str()).copied();
        let lane = nests.place(phase.start_ns, phase.end_ns, preferred);
        lanes.insert(&phase.what, lane);
        let track = opened.track(lane, tracks, events)?;
        let slice = events.slice(track, "phase", &phase.what, phase.start_ns, phase.end_ns)?;
        slice.finish()?;
    }
    Ok(())
}

/// Writes the GPU's performance states as a process of their own, because they belong to the whole
/// machine.
pub(crate) fn performance<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut TraceEvents<W>,
) -> io::Result<()> {
    let states = analysis.performance();
    if states.is_empty() {
        return Ok(());
    }
    tracks.machine(&analysis.report, events)?;
    let mut laned = LanedTracks::new(MACHINE, "GPU performance state", 0);
    for state in states {
        let (start_ns, end_ns) = (state.start_ns, state.end_ns);
        let track = laned.place(start_ns, end_ns, tracks, events)?;
        let slice = events.slice(track, "performance", &state.what, start_ns, end_ns)?;
        slice
            .flag("induced", state.is_induced.then_some(true))
            .finish()?;
    }
    Ok(())
}
