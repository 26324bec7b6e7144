//! Makes small random scenarios with many oddities, for property tests.

use std::num::NonZeroU32;

use super::allocation::{Allocation, Wiring};
use super::host::{Hang, Samples, Signpost};
use super::labels::Labels;
use super::lengths::Lengths;
use super::machine::{Counter, Growth, Level, Memory, StatePiece};
use super::nanos::Nanos;
use super::recording::{Recording, TargetKind};
use super::stream::{
    CoalescedName, LostFrom, Oddities, Pause, SecondPass, Stream, Submission, WarmUp,
};
use super::{Clock, Generation, Process, Role, Scenario};
use crate::random::Random;

/// Returns a valid scenario of one run and at most about 300 intervals, with many touching and
/// overlapping rows, odd names and oddities. The same seed gives the same scenario.
#[must_use]
pub fn random_scenario(seed: u64) -> Scenario {
    let mut random = Random::new(seed, &[0x5eed]);
    let target = *random.one_of(&[
        TargetKind::Launched,
        TargetKind::Launched,
        TargetKind::Attached,
        TargetKind::AllProcesses,
    ]);
    let processes = 1 + random.below(4);

    let mut scenario = Scenario {
        name: format!("random-{seed}"),
        about: "made from a seed".to_owned(),
        seed: random.next(),
        xcode: *random.one_of(&[
            Generation::Xcode16,
            Generation::Xcode26,
            Generation::Xcode26,
            Generation::Xcode27,
        ]),
        clock: *random.one_of(&[Clock::Free, Clock::Mhz24]),
        runs: 1,
        tables: None,
        recording: Recording {
            target,
            ..Recording::default()
        },
        process: (0..processes)
            .map(|index| process(&mut random, index, target))
            .collect(),
    };

    // The optional parts have draws of their own, so that they do not change the work of a seed.
    add_optional_parts(&mut Random::new(seed, &[0xbe51de]), &mut scenario);
    let mut random = Random::new(seed, &[0xa110c]);
    if random.once_in(2) {
        for process in &mut scenario.process {
            process.allocation = (0..random.below(4))
                .map(|_| allocation(&mut random))
                .collect();
        }
    }
    let mut random = Random::new(seed, &[0x313e]);
    if random.once_in(2) {
        for process in &mut scenario.process {
            process.wiring = (0..random.below(5)).map(|_| wiring(&mut random)).collect();
        }
    }
    scenario
}

/// Returns resources that live long, or not at all, or lie inside others.
fn allocation(random: &mut Random) -> Allocation {
    Allocation {
        caller: (*random.one_of(&["forward", "grow<T>", "-[Cache add:]"])).to_owned(),
        label: (*random.one_of(&["", "activations", "a & b"])).to_owned(),
        bytes: random.between(0, 1 << 22),
        count: NonZeroU32::MIN.saturating_add(random.below(3)),
        every: optional_count(random, 1, 4),
        steps: optional_count(random, 3, 4).map(NonZeroU32::get),
        lives: random.once_in(2).then(|| random.below(5)),
        inside: random.once_in(4),
        before: random.once_in(4),
    }
}

/// Returns memory that the driver wires, of a size that two decimals show exactly.
fn wiring(random: &mut Random) -> Wiring {
    Wiring {
        start: Nanos::new(random.between(0, 400_000)),
        length: Nanos::new(random.between(1, 60_000)),
        bytes: random.between(0, 900) * *random.one_of(&[1 << 10, 1 << 20]),
        unwire: random.once_in(4),
    }
}

/// Adds optional parts at random: states, memory, signposts, samples, errors, hangs.
fn add_optional_parts(random: &mut Random, scenario: &mut Scenario) {
    let recording = &mut scenario.recording;
    if random.once_in(4) {
        recording.performance = pieces(random, &["Minimum", "Medium", "Maximum"]);
    }
    if random.once_in(4) {
        recording.thermal = pieces(random, &["Nominal", "Fair", "Serious", "Critical"]);
    }
    if random.once_in(6) {
        recording.wired = levels(random);
    }

    if random.once_in(8) {
        recording.counter = vec![Counter {
            name: "a & b".to_owned(),
            unit: None,
            kernels: std::collections::BTreeMap::new(),
            busy: random.between(0, 100),
            idle: random.between(0, 3),
            period: Nanos::new(random.between(10_000, 200_000)),
        }];
        recording.counter_intervals = random.once_in(2);
    }

    for process in &mut scenario.process {
        add_optional_parts_of_process(random, process);
    }
}

/// Adds memory, signposts and other optional parts of a process, each in some scenarios only.
fn add_optional_parts_of_process(random: &mut Random, process: &mut Process) {
    process.memory = match random.below(8) {
        0 => Some(Memory::Levels(levels(random))),
        1 => Some(Memory::Growth(Growth {
            start_bytes: random.between(0, 1 << 20),
            step_bytes: i64::from(random.below(20_000)) - 10_000,
            every: NonZeroU32::MIN.saturating_add(random.below(4)),
        })),
        _ => None,
    };

    if random.once_in(8) {
        let every = optional_count(random, 2, 4);
        let from = Nanos::new(random.between(0, 300_000));
        let to = Nanos::new(from.get() + random.between(1, 100_000));
        process.signpost.push(Signpost {
            name: "step <1>".to_owned(),
            subsystem: "org.example".to_owned(),
            category: "PointsOfInterest".to_owned(),
            from: every.is_none().then_some(from),
            to: every.is_none().then_some(to).filter(|_| random.once_in(2)),
            every,
        });
    }

    if random.once_in(8) {
        process.samples = Some(Samples {
            period: Nanos::new(random.between(2_000, 50_000)),
            host_function: "tokenize<T>".to_owned(),
            blocked: random.once_in(2),
            from_start: false,
        });
    }

    if random.once_in(10) {
        process.hang.push(Hang {
            start: Nanos::new(random.between(0, 300_000)),
            length: Nanos::new(random.between(1, 100_000)),
            kind: "Hang".to_owned(),
        });
    }

    for stream in &mut process.stream {
        stream.oddities.error_every = optional_count(random, 10, 4);
        if random.once_in(3) {
            stream.oddities.lose_encoder_from = LostFrom::Everywhere;
        }
    }
}

/// Returns up to four states, some of them with uncovered time after them.
fn pieces(random: &mut Random, states: &[&str]) -> Vec<StatePiece> {
    let mut at_ns = random.between(0, 40_000);
    let mut pieces = Vec::new();
    for _ in 0..=random.below(4) {
        let end_ns = at_ns + random.between(1, 200_000);
        pieces.push(StatePiece {
            state: (*random.one_of(states)).to_owned(),
            start: Nanos::new(at_ns),
            end: random.once_in(2).then_some(Nanos::new(end_ns)),
            induced: random.once_in(3),
        });
        at_ns = end_ns + random.between(0, 20_000);
    }
    pieces
}

fn levels(random: &mut Random) -> Vec<Level> {
    let mut at_ns = 0;
    let mut level = |_| {
        at_ns += random.between(1, 100_000);
        Level {
            at: Nanos::new(at_ns),
            bytes: random.between(0, 1 << 22),
        }
    };
    (0..3).map(&mut level).collect()
}

const NAMES: [&str; 8] = [
    "bench",
    "Helper (GPU)",
    "計算 エンジン",
    "a<b> & \"c\"",
    "( na )",
    "d'Arc (1) (2",
    "0x1f",
    "x:y",
];

/// Returns a random process; the first one is analyzed, unless the whole machine is recorded.
fn process(random: &mut Random, index: u32, target: TargetKind) -> Process {
    let is_analyzed = index == 0 && target != TargetKind::AllProcesses;
    let others = [Role::Other, Role::Other, Role::Compositor];
    // One analyzed process in twelve never reaches the GPU.
    let streams = if is_analyzed && random.once_in(12) {
        0
    } else {
        1 + random.below(3)
    };

    Process {
        name: (*random.one_of(&NAMES)).to_owned(),
        pid: 100 + index,
        role: if is_analyzed {
            Role::Target
        } else {
            *random.one_of(&others)
        },
        runs: None,
        shaders: Vec::new(),
        stream: (0..streams).map(|index| stream(random, index)).collect(),
        memory: None,
        allocation: Vec::new(),
        wiring: Vec::new(),
        signpost: Vec::new(),
        samples: None,
        hang: Vec::new(),
        engine: Vec::new(),
    }
}

/// Returns a random stream of at most 12 encoders. With two kicks each, 4 processes of 3 streams
/// have fewer than 300 intervals.
fn stream(random: &mut Random, index: u32) -> Stream {
    let channels = [
        "Compute", "Compute", "Vertex", "Fragment", "Blit", "T & <P>",
    ];
    let duration = lengths(random, 2, 20_000);
    let mut stream = Stream::new(1 + random.below(12), duration);
    (*random.one_of(&channels)).clone_into(&mut stream.channel);

    stream.follows = index > 0 && random.once_in(3);
    stream.start = Some(Nanos::new(random.between(0, 60_000)));
    stream.gap = lengths(random, 0, 3_000);
    stream.host = lengths(random, 0, 30_000);
    stream.encode = lengths(random, 1, 9_000);
    stream.launch = lengths(random, 0, 40_000);
    if index == 1 {
        stream.driver = Some(Nanos::new(30_000));
    }
    stream.completion = lengths(random, 0, 40_000);
    stream.submit = *random.one_of(&[Submission::Sync, Submission::Batched, Submission::Pipelined]);
    stream.encoders_per_buffer = random.once_in(2).then(|| 1 + random.below(5));
    stream.in_flight = random.once_in(3).then(|| 1 + random.below(3));

    if random.once_in(4) {
        stream.then = Some(SecondPass {
            channel: format!("{} 2", stream.channel),
            duration: lengths(random, 2, 20_000),
            lag: lengths(random, 0, 4_000),
        });
    }

    stream.warm_up = random.once_in(4).then(|| WarmUp {
        first: random.below(4),
        factor: 1 + random.below(9),
    });
    stream.pause = optional_count(random, 4, 5).map(|every| Pause {
        every,
        length: Nanos::new(random.between(0, 100_000)),
    });

    stream.oddities = oddities(random);
    set_labels(random, &mut stream);
    remove_conflicts(&mut stream);
    stream
}

/// Sets labels like those that people choose. A stream that loses encoders gets no label with a
/// colon: without the encoder list, nothing shows where the command buffer's label ends.
fn set_labels(random: &mut Random, stream: &mut Stream) {
    let plain = [
        "matmul",
        "softmax",
        "a & b",
        "<T>",
        "Compute Command 7",
        "層",
    ];
    let colons = ["ns::f", "a:b", ":c"];
    let labels = |random: &mut Random| match random.below(4) {
        0 => None,
        1 => Some(Labels::Same((*random.one_of(&plain)).to_owned())),
        2 if stream.oddities.lose_encoder_every.is_none() => {
            Some(Labels::Same((*random.one_of(&colons)).to_owned()))
        }
        _ => Some(Labels::Cycle(
            (0..=random.below(3))
                .map(|_| (*random.one_of(&plain)).to_owned())
                .collect(),
        )),
    };

    stream.buffer_label = labels(random);
    stream.encoder_label = labels(random);
    if random.once_in(8) {
        stream.buffer_label = Some(Labels::Same(String::new()));
        stream.encoder_label = stream.buffer_label.clone();
    }
}

/// Removes oddities that conflict with other settings.
fn remove_conflicts(stream: &mut Stream) {
    if stream.encoders_per_buffer() < 2 {
        stream.oddities.coalesce_every = None;
    }
    let labels = stream.encoder_label.as_ref();
    let is_ambiguous = |label: &String| label.is_empty() || label.starts_with("Compute Command");
    if labels.is_none_or(|labels| labels.all().iter().any(is_ambiguous)) {
        stream.oddities.coalesced_name = CoalescedName::Count;
    }
}

fn oddities(random: &mut Random) -> Oddities {
    Oddities {
        coalesce_every: optional_count(random, 3, 3),
        coalesced_name: *random.one_of(&[CoalescedName::Count, CoalescedName::Labels]),
        split_every: optional_count(random, 4, 6),
        split_hole: Nanos::new(random.between(0, 5_000)),
        lose_encoder_every: optional_count(random, 4, 6),
        lose_completion_every: optional_count(random, 4, 6),
        early_completion_every: optional_count(random, 4, 4),
        early_by: Nanos::new(random.between(0, 20_000)),
        unattributed_every: optional_count(random, 5, 6),
        null_frame_every: optional_count(random, 5, 6),
        ..Oddities::default()
    }
}

/// Returns a number from 1 to `max` once in `draws` draws, else `None`.
fn optional_count(random: &mut Random, draws: u32, max: u32) -> Option<NonZeroU32> {
    if random.once_in(draws) {
        NonZeroU32::new(1 + random.below(max))
    } else {
        None
    }
}

fn lengths(random: &mut Random, min: u64, max: u64) -> Lengths {
    let mut draw = || Nanos::new(random.between(min, max));
    let (first, second) = (draw(), draw());
    let cycle = vec![first, Nanos::new(min), second];

    match random.below(4) {
        0 => Lengths::Fixed(first),
        1 => Lengths::Cycle { cycle },
        2 => Lengths::Fixed(Nanos::new(min)),
        _ => Lengths::Range([first.min(second), first.max(second)]),
    }
}
