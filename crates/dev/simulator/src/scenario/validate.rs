//! Refuses impossible scenarios with an error that names the field and the allowed values.

use super::recording::Recording;
use super::{Process, Scenario};
use crate::error::Error;
use crate::optional::{
    allocations, counters, engines, hangs, memory, samples, signposts, states, wiring,
};
use crate::values::checks::{lengths, name, text, within};
use crate::values::kinds::{Role, TargetKind};
use crate::values::labels::Labels;
use crate::values::lengths::Lengths;
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
        scenario(self)
    }
}

fn scenario(scenario: &Scenario) -> Result<(), Error> {
    within("runs", scenario.runs, 1, Scenario::RUNS_MAX)?;
    recording(&scenario.recording)?;
    if scenario.process.len() > PROCESSES_MAX {
        let many = format!("lists {} processes", scenario.process.len());
        return Err(Error::field(
            "process",
            many,
            format!("at most {PROCESSES_MAX}"),
        ));
    }

    for (index, entry) in scenario.process.iter().enumerate() {
        process(&format!("process[{index}]"), entry, scenario.runs)?;
    }

    for run in 1..=scenario.runs {
        targets(scenario, run)?;
        pids(scenario, run)?;
    }

    let planned = scenario.intervals_planned();
    if planned > INTERVALS_MAX {
        let many = format!("adds up to {planned} intervals over all streams");
        return Err(Error::field(
            "process[].stream[].count",
            many,
            format!("at most {INTERVALS_MAX}"),
        ));
    }
    Ok(())
}

/// Checks the facts of the recording.
fn recording(facts: &Recording) -> Result<(), Error> {
    let texts = [
        ("template", &facts.template),
        ("instruments", &facts.instruments),
        ("os", &facts.os),
        ("device", &facts.device),
        ("model", &facts.model),
        ("gpu", &facts.gpu),
        ("mode", &facts.mode),
        ("time-limit", &facts.time_limit),
        ("end-reason", &facts.end_reason),
        ("termination", &facts.termination),
        ("performance-state", &facts.performance_state),
        ("thermal-state", &facts.thermal_state),
    ];
    let arguments = facts.arguments.as_ref().map(|text| ("arguments", text));
    texts
        .into_iter()
        .chain(arguments)
        .try_for_each(|(name, value)| text(&format!("recording.{name}"), value))?;
    optional_of_recording(facts)
}

/// Checks a process and its streams.
fn process(place: &str, process: &Process, runs: u32) -> Result<(), Error> {
    name(&format!("{place}.name"), &process.name)?;
    within(&format!("{place}.pid"), process.pid, 1, u32::MAX)?;
    for run in process.runs.iter().flatten() {
        within(&format!("{place}.runs"), *run, 1, runs)?;
    }
    optional_of_process(place, process)?;

    for (index, entry) in process.stream.iter().enumerate() {
        let stream_place = format!("{place}.stream[{index}]");
        if index == 0 && entry.follows {
            return Err(Error::field(
                &format!("{stream_place}.follows"),
                "is true, but no stream comes before the first",
                "true from the second stream on",
            ));
        }
        stream(&stream_place, entry)?;
    }

    Ok(())
}

/// Checks the fields of a stream, then their combinations.
fn stream(place: &str, stream: &Stream) -> Result<(), Error> {
    name(&format!("{place}.channel"), &stream.channel)?;
    within(&format!("{place}.count"), stream.count, 1, u32::MAX)?;
    within(
        &format!("{place}.encoders-per-buffer"),
        stream.encoders_per_buffer(),
        1,
        ENCODERS_PER_BUFFER_MAX,
    )?;
    within(
        &format!("{place}.in-flight"),
        stream.in_flight.unwrap_or(1),
        1,
        IN_FLIGHT_MAX,
    )?;

    // A split kick needs a nanosecond on either side of its hole.
    let shortest_ns = if stream.oddities.split_every.is_some() {
        2
    } else {
        1
    };
    lengths(&format!("{place}.duration"), &stream.duration, shortest_ns)?;
    lengths(&format!("{place}.encode"), &stream.encode, 1)?;
    lengths(&format!("{place}.gap"), &stream.gap, 0)?;
    lengths(&format!("{place}.host"), &stream.host, 0)?;
    lengths(&format!("{place}.launch"), &stream.launch, 0)?;
    lengths(&format!("{place}.completion"), &stream.completion, 0)?;

    if let Some(then) = &stream.then {
        name(&format!("{place}.then.channel"), &then.channel)?;
        lengths(
            &format!("{place}.then.duration"),
            &then.duration,
            shortest_ns,
        )?;
        lengths(&format!("{place}.then.lag"), &then.lag, 0)?;
    }
    if let Some(warm_up) = stream.warm_up {
        within(
            &format!("{place}.warm-up.factor"),
            warm_up.factor,
            1,
            WARM_UP_FACTOR_MAX,
        )?;
    }
    if let Some(sampled) = stream.sampled {
        within(&format!("{place}.sampled.percent"), sampled.percent, 0, 100)?;
    }

    let moments = [
        ("start", stream.start.unwrap_or_default()),
        (
            "pause.length",
            stream
                .pause
                .map_or_else(Default::default, |pause| pause.length),
        ),
        ("oddities.split-hole", stream.oddities.split_hole),
        ("oddities.early-by", stream.oddities.early_by),
    ];
    for (field, length) in moments {
        lengths(&format!("{place}.{field}"), &Lengths::Fixed(length), 0)?;
    }
    labels(place, stream)?;
    combinations(place, stream)
}

/// Refuses settings that are possible alone but not together.
fn combinations(place: &str, stream: &Stream) -> Result<(), Error> {
    let refuse = |field: &str, problem: &str, allowed: &str| {
        Err(Error::field(&format!("{place}.{field}"), problem, allowed))
    };
    if stream
        .then
        .as_ref()
        .is_some_and(|then| then.channel == stream.channel)
    {
        return refuse(
            "then.channel",
            "is the stream's own channel",
            "another channel",
        );
    }

    if stream.oddities.coalesce_every.is_some() && stream.encoders_per_buffer() < 2 {
        return refuse(
            "oddities.coalesce-every",
            "needs pairs, but each buffer has one encoder",
            "with encoders-per-buffer of 2 or more",
        );
    }

    // Joined default labels, such as `Compute Command 0 & Compute Command 1`, look like a label that
    // a program chose.
    if stream.oddities.coalesced_name == CoalescedName::Labels && stream.encoder_label.is_none() {
        return refuse(
            "oddities.coalesced-name",
            "is `labels`, but the stream has no encoder-label",
            "`count`, or an encoder-label beside it",
        );
    }

    Ok(())
}

/// Checks the labels. Instruments shows either both labels or, for unlabeled work, none.
fn labels(place: &str, stream: &Stream) -> Result<(), Error> {
    let fields = [
        ("buffer-label", &stream.buffer_label),
        ("encoder-label", &stream.encoder_label),
    ];
    for (field, value) in fields {
        let field = format!("{place}.{field}");
        let Some(value) = value else { continue };
        if value.all().is_empty() {
            return Err(Error::field(
                &field,
                "is an empty list",
                "one label or more",
            ));
        }
        value
            .all()
            .iter()
            .try_for_each(|label| text(&field, label))?;
    }

    let is_unlabeled = |labels: &Option<Labels>| *labels == Some(Labels::Same(String::new()));
    let (buffer, encoder) = (&stream.buffer_label, &stream.encoder_label);
    if (has_empty(buffer) || has_empty(encoder)) && !(is_unlabeled(buffer) && is_unlabeled(encoder))
    {
        let allowed = "buffer-label = \"\" and encoder-label = \"\" together, or no empty label";
        return Err(Error::field(
            &format!("{place}.encoder-label"),
            "has an empty label, or buffer-label has one",
            allowed,
        ));
    }
    Ok(())
}

fn has_empty(labels: &Option<Labels>) -> bool {
    labels
        .as_ref()
        .is_some_and(|labels| labels.all().iter().any(String::is_empty))
}

/// Checks the number of recorded processes: one for a launched or attached run, else none.
fn targets(scenario: &Scenario, run: u32) -> Result<(), Error> {
    let is_analyzed = |process: &Process| process.role == Role::Target;
    let count = scenario
        .processes_of(run)
        .filter(|(_, process)| is_analyzed(process))
        .count();
    let wanted = usize::from(scenario.recording.target != TargetKind::AllProcesses);
    if count == wanted {
        return Ok(());
    }
    let problem = format!("is `target` for {count} processes of run {run}");
    let allowed = if wanted == 1 {
        "exactly one per run"
    } else {
        "none with recording.target = \"all-processes\""
    };
    Err(Error::field("process[].role", problem, allowed))
}

/// Checks that no two processes of a run have the same pid.
fn pids(scenario: &Scenario, run: u32) -> Result<(), Error> {
    let mut pids: Vec<u32> = scenario
        .processes_of(run)
        .map(|(_, process)| process.pid)
        .collect();
    pids.sort_unstable();
    match pids.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let twice = format!("{} occurs twice in run {run}", pair[0]);
            Err(Error::field(
                "process[].pid",
                twice,
                "a different pid for each process",
            ))
        }
    }
}

/// Checks the states, the wired memory and the counters of a recording.
fn optional_of_recording(recording: &Recording) -> Result<(), Error> {
    states::check("recording.performance", &recording.performance)?;
    states::check("recording.thermal", &recording.thermal)?;
    memory::check_levels("recording.wired", &recording.wired)?;
    counters::check("recording.counter", &recording.counter)
}

/// Checks the parts of a process.
fn optional_of_process(place: &str, process: &Process) -> Result<(), Error> {
    for shader in &process.shaders {
        name(&format!("{place}.shaders"), shader)?;
    }
    if let Some(memory) = &process.memory {
        memory::check(&format!("{place}.memory"), memory)?;
    }
    allocations::check(&format!("{place}.allocation"), &process.allocation)?;
    check_each(place, "wiring", &process.wiring, wiring::check)?;
    check_each(place, "signpost", &process.signpost, signposts::check)?;
    if let Some(samples) = &process.samples {
        samples::check(&format!("{place}.samples"), samples)?;
    }
    check_each(place, "hang", &process.hang, hangs::check)?;
    check_each(place, "engine", &process.engine, engines::check)
}

fn check_each<T>(
    place: &str,
    field: &str,
    entries: &[T],
    check: fn(&str, &T) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut numbered = entries.iter().enumerate();
    numbered.try_for_each(|(index, entry)| check(&format!("{place}.{field}[{index}]"), entry))
}
