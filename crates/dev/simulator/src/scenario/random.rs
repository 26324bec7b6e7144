//! Makes small random scenarios with many oddities, for property tests.

use super::recording::Recording;
use super::{Process, Scenario};
use crate::optional::{allocations, counters, hangs, memory, samples, signposts, states, wiring};
use crate::random::Random;
use crate::values::kinds::{Clock, Generation, Role, TargetKind};
use crate::values::labels::Labels;
use crate::values::lengths::Lengths;
use crate::values::nanos::Nanos;
use crate::values::stream::{
    CoalescedName, LostFrom, Oddities, Pause, SecondPass, Stream, Submission, WarmUp,
};

/// Returns a valid scenario of one run and at most about 300 intervals, with many touching and
/// overlapping rows, odd names and oddities. The same seed gives the same scenario.
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

    add_optional(seed, &mut scenario);
    scenario
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
        stream: (0..streams).map(|index| stream(random, index)).collect(),
        ..Process::default()
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
    stream.pause = random.optional_count(4, 5).map(|every| Pause {
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
        coalesce_every: random.optional_count(3, 3),
        coalesced_name: *random.one_of(&[CoalescedName::Count, CoalescedName::Labels]),
        split_every: random.optional_count(4, 6),
        split_hole: Nanos::new(random.between(0, 5_000)),
        lose_encoder_every: random.optional_count(4, 6),
        lose_completion_every: random.optional_count(4, 6),
        early_completion_every: random.optional_count(4, 4),
        early_by: Nanos::new(random.between(0, 20_000)),
        unattributed_every: random.optional_count(5, 6),
        null_frame_every: random.optional_count(5, 6),
        ..Oddities::default()
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

/// Adds parts at random. They have draws of their own, so that they do not change the work of a seed.
fn add_optional(seed: u64, scenario: &mut Scenario) {
    let random = &mut Random::new(seed, &[0xbe51de]);
    let recording = &mut scenario.recording;
    if random.once_in(4) {
        recording.performance = states::random(random, &["Minimum", "Medium", "Maximum"]);
    }
    if random.once_in(4) {
        recording.thermal = states::random(random, &["Nominal", "Fair", "Serious", "Critical"]);
    }
    if random.once_in(6) {
        recording.wired = memory::random_levels(random);
    }
    if random.once_in(8) {
        recording.counter = vec![counters::random(random)];
        recording.counter_intervals = random.once_in(2);
    }
    for process in &mut scenario.process {
        add_to_process(random, process);
    }

    let random = &mut Random::new(seed, &[0xa110c]);
    if random.once_in(2) {
        for process in &mut scenario.process {
            let count = random.below(4);
            process.allocation = (0..count).map(|_| allocations::random(random)).collect();
        }
    }
    let random = &mut Random::new(seed, &[0x313e]);
    if random.once_in(2) {
        for process in &mut scenario.process {
            let count = random.below(5);
            process.wiring = (0..count).map(|_| wiring::random(random)).collect();
        }
    }
}

/// Adds memory, signposts and other parts of a process, each in some scenarios only.
fn add_to_process(random: &mut Random, process: &mut Process) {
    process.memory = memory::random(random);
    if random.once_in(8) {
        process.signpost.push(signposts::random(random));
    }
    if random.once_in(8) {
        process.samples = Some(samples::random(random));
    }
    if random.once_in(10) {
        process.hang.push(hangs::random(random));
    }
    for stream in &mut process.stream {
        stream.oddities.error_every = random.optional_count(10, 4);
        if random.once_in(3) {
            stream.oddities.lose_encoder_from = LostFrom::Everywhere;
        }
    }
}
