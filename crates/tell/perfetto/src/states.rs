//! Writes the steps, phases of the process, and performance states of the GPU.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use metalens_analyzer::{Analysis, StateInterval};

use crate::event::Trace;
use crate::lanes::NestedLanes;
use crate::tracks::{LanedTracks, MACHINE, OpenTracks, PHASES, STEPS};

/// Writes the steps. They have a track of their own, because the analysis found them.
pub(crate) fn steps(analysis: &Analysis, trace: &mut Trace<'_>) -> io::Result<()> {
    let steps = analysis.steps();
    if steps.is_empty() {
        return Ok(());
    }
    let track = trace.open(trace.pid, "steps", STEPS, 0)?;
    for step in steps {
        let slice = trace.slice(track, "step", &step.what, step.start_ns, step.end_ns)?;
        slice.finish()?;
    }
    Ok(())
}

/// Writes the phases that the process named. Phases of one name are on one track if they fit.
pub(crate) fn phases(analysis: &Analysis, trace: &mut Trace<'_>) -> io::Result<()> {
    let mut phases: Vec<&StateInterval> = analysis.named_phases().iter().collect();
    phases.sort_by_key(|phase| (phase.start_ns, Reverse(phase.end_ns)));

    let mut nests = NestedLanes::default();
    let mut opened = OpenTracks::new(trace.pid, "phases", PHASES);
    let mut lanes: BTreeMap<&str, usize> = BTreeMap::new();

    for phase in phases {
        let preferred = lanes.get(phase.what.as_str()).copied();
        let lane = nests.place(phase.start_ns, phase.end_ns, preferred);
        lanes.insert(&phase.what, lane);
        let track = opened.track(lane, trace)?;
        let slice = trace.slice(track, "phase", &phase.what, phase.start_ns, phase.end_ns)?;
        slice.finish()?;
    }
    Ok(())
}

/// Writes the GPU's performance states as a process of their own, because they belong to the whole
/// machine.
pub(crate) fn performance(analysis: &Analysis, trace: &mut Trace<'_>) -> io::Result<()> {
    let states = analysis.performance();
    if states.is_empty() {
        return Ok(());
    }
    trace.machine()?;
    let mut laned = LanedTracks::new(MACHINE, "GPU performance state", 0);
    for state in states {
        let (start_ns, end_ns) = (state.start_ns, state.end_ns);
        let track = laned.place(start_ns, end_ns, trace)?;
        let slice = trace.slice(track, "performance", &state.what, start_ns, end_ns)?;
        slice
            .flag("induced", state.is_induced.then_some(true))
            .finish()?;
    }
    Ok(())
}
