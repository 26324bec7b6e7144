//! What held for a while: phases of the target, and states of the GPU.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use metalens_analyzer::{Analysis, StateInterval, Report};

use crate::event::Events;
use crate::lanes::Nests;
use crate::tracks::{Laned, MACHINE, Opened, PHASES, Tracks, WARM_UP};

/// What of the target's warm-up lies in the window; on a track of its own, for it
/// was found by the analysis.
pub(crate) fn warm_up<W: Write>(
    report: &Report,
    tracks: &mut Tracks,
    events: &mut Events<W>,
) -> io::Result<()> {
    let Some(warm_up) = &report.phases.warm_up else {
        return Ok(());
    };
    let start_ns = warm_up.start_ns.max(report.window.start_ns);
    let end_ns = warm_up.end_ns.min(report.window.end_ns);
    // It lies before a window that leaves it out.
    if end_ns <= start_ns {
        return Ok(());
    }
    let track = tracks.open(tracks.target(), "warm-up", (WARM_UP, 0), events)?;
    let slice = events.slice(track, "warm-up", "warm-up", (start_ns, end_ns))?;
    let slice = slice.text("why", Some(&warm_up.explanation))?;
    slice.finish()
}

/// The phases that the target named. Those of one name are on one track as long
/// as they fit.
pub(crate) fn phases<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut Events<W>,
) -> io::Result<()> {
    let mut phases: Vec<&StateInterval> = analysis.named_phases().iter().collect();
    phases.sort_by_key(|phase| (phase.start_ns, Reverse(phase.end_ns)));
    let mut nests = Nests::default();
    let mut opened = Opened::new(tracks.target(), "phases", PHASES);
    let mut lanes: BTreeMap<&str, usize> = BTreeMap::new();
    for phase in phases {
        let wish = lanes.get(phase.what.as_str()).copied();
        let lane = nests.place(phase.start_ns, phase.end_ns, wish);
        lanes.insert(&phase.what, lane);
        let track = opened.track(lane, tracks, events)?;
        let span = (phase.start_ns, phase.end_ns);
        events.slice(track, "phase", &phase.what, span)?.finish()?;
    }
    Ok(())
}

/// The GPU's performance states, as a process of their own: they are nobody's.
pub(crate) fn performance<W: Write>(
    analysis: &Analysis,
    tracks: &mut Tracks,
    events: &mut Events<W>,
) -> io::Result<()> {
    let states = analysis.performance();
    if states.is_empty() {
        return Ok(());
    }
    tracks.machine(&analysis.report, events)?;
    let mut laned = Laned::new(MACHINE, "GPU performance state", 0);
    for state in states {
        let span = (state.start_ns, state.end_ns);
        let track = laned.place(span, tracks, events)?;
        let slice = events.slice(track, "performance", &state.what, span)?;
        slice
            .flag("induced", state.is_induced.then_some(true))
            .finish()?;
    }
    Ok(())
}
