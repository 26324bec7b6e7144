//! Refuses impossible scenarios with an error that names the field and the allowed values.

use std::collections::HashSet;

use super::recording::Recording;
use super::{Process, Scenario};
use crate::error::Error;
use crate::optional::counters::COUNTERS_MAX;
use crate::optional::{
    allocations, counters, engines, hangs, memory, samples, signposts, states, wiring,
};
use crate::sheet::functions::CALLERS_MAX;
use crate::values::checks::Place;
use crate::values::kinds::{Role, TargetKind};
use crate::values::labels::Labels;
use crate::values::stream::{CoalescedName, Stream};

/// Largest number of intervals; a larger number is probably a typing error. A plan has 240 bytes for
/// each, so this many take 2.9 GB. Submission ids of 32 bits would suffice for 780 million.
const INTERVALS_MAX: u64 = 12_000_000;
const PROCESSES_MAX: usize = 64;
const ENCODERS_PER_BUFFER_MAX: u32 = 1_000;
const IN_FLIGHT_MAX: u32 = 64;
const WARM_UP_FACTOR_MAX: u32 = 1_000;

impl Scenario {
    /// Parses and checks a scenario.
    ///
    /// # Errors
    /// [`Error::Toml`] if the text is not a scenario, [`Error::Field`] if a value is not possible.
    pub fn from_toml(text: &str) -> Result<Self, Error> {
        let scenario: Self = toml::from_str(text)?;
        scenario.validate()?;
        Ok(scenario)
    }

    /// Checks every field for values that a recording could have.
    ///
    /// # Errors
    /// [`Error::Field`] for the first field that fails.
    pub fn validate(&self) -> Result<(), Error> {
        let top = Place::default();
        top.within("runs", self.runs, 1, Self::RUNS_MAX)?;
        recording(&top.inner("recording"), &self.recording)?;
        top.at_most("process", &self.process, PROCESSES_MAX, "processes")?;
        top.each("process", &self.process, |place, entry| {
            process(place, entry, self.runs)
        })?;
        for run in 1..=self.runs {
            targets(&top, self, run)?;
            pids(&top, self, run)?;
        }

        let planned = self.intervals_planned();
        if planned > INTERVALS_MAX {
            let many = format!("adds up to {planned} intervals over all streams");
            let allowed = format!("at most {INTERVALS_MAX}");
            return top.refuse("process[].stream[].count", many, allowed);
        }
        Ok(())
    }
}

/// Checks the facts of the recording, its states, its wired memory and its counters.
fn recording(place: &Place, facts: &Recording) -> Result<(), Error> {
    let texts = [
        ("template", Some(&facts.template)),
        ("instruments", Some(&facts.instruments)),
        ("os", Some(&facts.os)),
        ("device", Some(&facts.device)),
        ("model", Some(&facts.model)),
        ("gpu", Some(&facts.gpu)),
        ("mode", Some(&facts.mode)),
        ("time-limit", Some(&facts.time_limit)),
        ("end-reason", Some(&facts.end_reason)),
        ("termination", Some(&facts.termination)),
        ("arguments", facts.arguments.as_ref()),
    ];
    for (field, value) in texts {
        value.map_or(Ok(()), |value| place.text(field, value))?;
    }
    states::check(place, "performance", &facts.performance)?;
    states::check(place, "thermal", &facts.thermal)?;
    memory::check_levels(place, "wired", &facts.wired)?;
    place.at_most("counter", &facts.counter, COUNTERS_MAX, "counters")?;
    place.each("counter", &facts.counter, counters::check)
}

/// Checks a process, its parts and its streams.
fn process(place: &Place, process: &Process, runs: u32) -> Result<(), Error> {
    place.name("name", &process.name)?;
    place.within("pid", process.pid, 1, u32::MAX)?;
    for run in process.runs.iter().flatten() {
        place.within("runs", *run, 1, runs)?;
    }
    for shader in &process.shaders {
        place.name("shaders", shader)?;
    }
    if let Some(memory) = &process.memory {
        memory::check(place, memory)?;
    }
    place.at_most(
        "allocation",
        &process.allocation,
        CALLERS_MAX,
        "allocations",
    )?;
    place.each("allocation", &process.allocation, allocations::check)?;
    place.each("wiring", &process.wiring, wiring::check)?;
    place.each("signpost", &process.signpost, signposts::check)?;
    if let Some(samples) = &process.samples {
        samples::check(&place.inner("samples"), samples)?;
    }
    place.each("hang", &process.hang, hangs::check)?;
    place.each("engine", &process.engine, engines::check)?;

    if process.stream.first().is_some_and(|first| first.follows) {
        return place.refuse(
            "stream[0].follows",
            "is true, but no stream comes before the first",
            "true from the second stream on",
        );
    }
    place.each("stream", &process.stream, stream)
}

/// Checks the fields of a stream, then their combinations.
fn stream(place: &Place, stream: &Stream) -> Result<(), Error> {
    let encoders = stream.encoders_per_buffer();
    let in_flight = stream.in_flight.unwrap_or(1);
    place.name("channel", &stream.channel)?;
    place.within("count", stream.count, 1, u32::MAX)?;
    place.within("encoders-per-buffer", encoders, 1, ENCODERS_PER_BUFFER_MAX)?;
    place.within("in-flight", in_flight, 1, IN_FLIGHT_MAX)?;

    // A split kick needs a nanosecond on either side of its hole.
    let is_split = stream.oddities.split_every.is_some();
    let shortest_ns = if is_split { 2 } else { 1 };
    place.lengths("duration", &stream.duration, shortest_ns)?;
    place.lengths("encode", &stream.encode, 1)?;
    place.lengths("gap", &stream.gap, 0)?;
    place.lengths("host", &stream.host, 0)?;
    place.lengths("launch", &stream.launch, 0)?;
    place.lengths("completion", &stream.completion, 0)?;
    place.instant("start", stream.start.unwrap_or_default(), 0)?;
    place.instant("oddities.split-hole", stream.oddities.split_hole, 0)?;
    place.instant("oddities.early-by", stream.oddities.early_by, 0)?;

    if let Some(then) = &stream.then {
        place.name("then.channel", &then.channel)?;
        place.lengths("then.duration", &then.duration, shortest_ns)?;
        place.lengths("then.lag", &then.lag, 0)?;
    }
    if let Some(warm_up) = stream.warm_up {
        place.within("warm-up.factor", warm_up.factor, 1, WARM_UP_FACTOR_MAX)?;
    }
    if let Some(sampled) = stream.sampled {
        place.within("sampled.percent", sampled.percent, 0, 100)?;
    }
    if let Some(pause) = stream.pause {
        place.instant("pause.length", pause.length, 0)?;
    }
    labels(place, stream)?;
    combinations(place, stream)
}

/// Refuses settings that are possible alone but not together.
fn combinations(place: &Place, stream: &Stream) -> Result<(), Error> {
    let then = stream.then.as_ref();
    if then.is_some_and(|then| then.channel == stream.channel) {
        return place.refuse(
            "then.channel",
            "is the stream's own channel",
            "another channel",
        );
    }
    if stream.oddities.coalesce_every.is_some() && stream.encoders_per_buffer() < 2 {
        return place.refuse(
            "oddities.coalesce-every",
            "needs pairs, but each buffer has one encoder",
            "with encoders-per-buffer of 2 or more",
        );
    }
    // Joined default labels, such as `Compute Command 0 & Compute Command 1`, look like a label that
    // a program chose.
    if stream.oddities.coalesced_name == CoalescedName::Labels && stream.encoder_label.is_none() {
        return place.refuse(
            "oddities.coalesced-name",
            "is `labels`, but the stream has no encoder-label",
            "`count`, or an encoder-label beside it",
        );
    }
    Ok(())
}

/// Checks the labels. Instruments shows either both labels or, for unlabeled work, none.
fn labels(place: &Place, stream: &Stream) -> Result<(), Error> {
    let (buffer, encoder) = (&stream.buffer_label, &stream.encoder_label);
    for (field, value) in [("buffer-label", buffer), ("encoder-label", encoder)] {
        let labels = value.as_ref().map(Labels::all);
        if labels.is_some_and(<[String]>::is_empty) {
            return place.refuse(field, "is an empty list", "one label or more");
        }
        for label in labels.unwrap_or_default() {
            place.text(field, label)?;
        }
    }

    let mut labels = [buffer, encoder]
        .into_iter()
        .flatten()
        .flat_map(Labels::all);
    let unlabeled = Some(Labels::Same(String::new()));
    let are_unlabeled = *buffer == unlabeled && *encoder == unlabeled;
    if labels.any(String::is_empty) && !are_unlabeled {
        return place.refuse(
            "encoder-label",
            "has an empty label, or buffer-label has one",
            "buffer-label = \"\" and encoder-label = \"\" together, or no empty label",
        );
    }
    Ok(())
}

/// Checks the number of recorded processes: one for a launched or attached run, else none.
fn targets(top: &Place, scenario: &Scenario, run: u32) -> Result<(), Error> {
    let processes = scenario.processes_of(run);
    let count = processes
        .filter(|(_, process)| process.role == Role::Target)
        .count();
    let allowed = match (scenario.recording.target, count) {
        (TargetKind::AllProcesses, 0) | (TargetKind::Launched | TargetKind::Attached, 1) => {
            return Ok(());
        }
        (TargetKind::AllProcesses, _) => "none with recording.target = \"all-processes\"",
        (TargetKind::Launched | TargetKind::Attached, _) => "exactly one per run",
    };
    let problem = format!("is `target` for {count} processes of run {run}");
    top.refuse("process[].role", problem, allowed)
}

/// Checks that no two processes of a run have the same pid.
fn pids(top: &Place, scenario: &Scenario, run: u32) -> Result<(), Error> {
    let mut known = HashSet::new();
    for (_, Process { pid, .. }) in scenario.processes_of(run) {
        if !known.insert(pid) {
            let twice = format!("{pid} occurs twice in run {run}");
            return top.refuse("process[].pid", twice, "a different pid for each process");
        }
    }
    Ok(())
}
