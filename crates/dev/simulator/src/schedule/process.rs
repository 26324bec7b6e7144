//! Plans the streams of a process: when the host encodes each buffer, and when the GPU runs it.
//!
//! One loop serves every kind of submission. A buffer is encoded when the host is free and fewer
//! than `in-flight` buffers are in flight. Its kicks start when the submission latency has passed
//! and their channel is free. `sync` is one encoder per buffer with one buffer in flight.

use super::oddities::{self, every};
use super::{WALL_NS_MAX, too_long};
use crate::error::Error;
use crate::plan::{
    Activity, ActivityKind, Buffer, BufferIndex, Encoder, EncoderIndex, Kick, NameIndex, Plan,
    PlannedProcess, ProcessIndex,
};
use crate::random::Random;
use crate::scenario::{Process, Scenario};
use crate::values::nanos::Nanos;
use crate::values::stream::{LostFrom, Stream};

/// Adds a process and all its work to the plan.
pub(super) fn process(
    plan: &mut Plan,
    scenario: &Scenario,
    position: usize,
    process: &Process,
) -> Result<(), Error> {
    let place = u64::try_from(position).unwrap_or(u64::MAX);
    let mut random = Random::new(scenario.seed, &[u64::from(plan.run), place]);
    let index = ProcessIndex::at(plan.processes.len());

    plan.processes.push(PlannedProcess {
        name: process.name.clone(),
        pid: process.pid,
        tid: random.between(0x1000, 0x3f_ffff),
        role: process.role,
        shaders: process.shaders.clone(),
        first_encoder: EncoderIndex::at(plan.encoders.len()),
        host_function: process
            .samples
            .as_ref()
            .map(|samples| samples.host_function.clone()),
        callers: process
            .allocation
            .iter()
            .map(|allocation| allocation.caller.clone())
            .collect(),
    });

    // Each process has its own range of ids, 2^28 apart, which never starts at a round number.
    let first_id = ((place + 1) << 28) + random.between(1, 0xf_ffff);
    let mut worker = Worker {
        process: index,
        next_id: first_id,
        frame: 0,
        done_ns: 0,
        sampled: process.samples.is_some(),
    };

    let first = process.stream.first();
    if process
        .samples
        .as_ref()
        .is_some_and(|samples| samples.from_start)
    {
        let start_ns = first.map_or(0, |first| first.start.map_or(FIRST_START_NS, Nanos::get));
        worker.note(plan, ActivityKind::Host, 0, start_ns);
    }
    for (index, stream) in process.stream.iter().enumerate() {
        let field = format!("process[{position}].stream[{index}]");
        let mut stream_run = StreamRun::new(stream, &worker, random.next());
        for number in 0..stream.count.div_ceil(stream.encoders_per_buffer()) {
            stream_run.buffer(plan, &mut worker, number as usize);
            if worker.done_ns > WALL_NS_MAX {
                return Err(too_long(&field, plan.run));
            }
        }
        let (host_ns, done_ns) = (stream_run.host_ns, stream_run.done_ns);
        worker.note(plan, ActivityKind::Wait, host_ns, done_ns);
    }
    Ok(())
}

/// Start of a process's work if the scenario gives none: the time that a launched program takes
/// to reach the GPU.
const FIRST_START_NS: u64 = 700_000_000;

/// State that the streams of one process share.
struct Worker {
    process: ProcessIndex,
    next_id: u64,
    frame: u32,
    /// Time when all work so far is done.
    done_ns: u64,
    /// True if the activities of its thread are recorded.
    sampled: bool,
}

/// State of a stream while it is planned.
struct StreamRun<'a> {
    stream: &'a Stream,
    random: Random,
    /// Time when the host is free for its next step.
    host_ns: u64,
    /// Times when the stream's first and second channel can take another kick.
    free_ns: [u64; 2],
    /// Completion time of each buffer so far.
    completed_ns: Vec<u64>,
    /// Ids of the buffers that are committed repeatedly, if the stream reuses buffers.
    reused_ids: Vec<u64>,
    /// Time when all of the stream's work so far is done.
    done_ns: u64,
    /// Number of encoders so far.
    encoders: usize,
    /// Number of pairs of encoders so far; the driver may coalesce each pair.
    pairs: usize,
    /// Number of kicks so far, for splitting.
    kicks: usize,
}

/// Encoders that run as one kick: `count` of them from `first`, whose index in its stream is
/// `ordinal`.
#[derive(Clone, Copy)]
struct EncoderGroup {
    first: EncoderIndex,
    count: u8,
    ordinal: usize,
}

impl Worker {
    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Adds an activity of the thread to the plan, if the thread is sampled.
    fn note(&self, plan: &mut Plan, kind: ActivityKind, start_ns: u64, end_ns: u64) {
        if self.sampled && start_ns < end_ns {
            plan.activities.push(Activity {
                process: self.process,
                kind,
                start_ns,
                end_ns,
            });
        }
    }
}

impl<'a> StreamRun<'a> {
    /// Returns the state at the start of a stream. A stream that follows another starts when the
    /// work so far is done.
    fn new(stream: &'a Stream, worker: &Worker, seed: u64) -> Self {
        let start = stream.start.map(Nanos::get);
        let host_ns = if stream.follows {
            worker.done_ns + start.unwrap_or(0)
        } else {
            start.unwrap_or(FIRST_START_NS)
        };
        Self {
            stream,
            random: Random::new(seed, &[]),
            host_ns,
            free_ns: [0; 2],
            completed_ns: Vec::new(),
            reused_ids: Vec::new(),
            done_ns: 0,
            encoders: 0,
            pairs: 0,
            kicks: 0,
        }
    }

    /// Encodes, commits and runs one command buffer.
    fn buffer(&mut self, plan: &mut Plan, worker: &mut Worker, number: usize) {
        self.wait(plan, worker, number);

        let index = BufferIndex::at(plan.buffers.len());
        let ordinal = self.encoders;
        let first = EncoderIndex::at(plan.encoders.len());
        let id = self.buffer_id(worker, number);
        let count = self.encode(plan, worker);
        let committed_ns = self.host_ns;

        let ready_ns = committed_ns + self.stream.launch.pick(number, &mut self.random);
        let mut last_ns = ready_ns;
        for group in self.groups(first, count, ordinal) {
            last_ns = last_ns.max(self.run(plan, index, group, ready_ns));
        }

        let completed_ns = self.completion(number, committed_ns, last_ns);
        worker.frame += 1;
        self.done_ns = self.done_ns.max(completed_ns).max(last_ns);
        worker.done_ns = worker.done_ns.max(self.done_ns);
        self.completed_ns.push(completed_ns);

        let odd = &self.stream.oddities;
        let label = buffer_label(plan, self.stream, number);
        plan.buffers.push(Buffer {
            process: worker.process,
            label,
            id,
            frame: worker.frame,
            committed_ns,
            driver_begins_ns: committed_ns,
            driver_ns: self.stream.driver.map_or(0, Nanos::get),
            completed_ns,
            completion_recorded: !every(odd.lose_completion_every, number),
            submission_recorded: plan.encoders[first.get()..]
                .iter()
                .all(|encoder| encoder.recoverable),
            is_failed: every(odd.error_every, number),
            first_encoder: first,
            encoder_count: count,
        });
    }

    /// Moves the host to the next encoding: after a pause that is due, and after the completion of
    /// the buffer for which the host waits.
    fn wait(&mut self, plan: &mut Plan, worker: &Worker, number: usize) {
        let pause = self
            .stream
            .pause
            .filter(|pause| number > 0 && number.is_multiple_of(pause.every.get() as usize));
        if let Some(pause) = pause {
            let until_ns = self.host_ns.max(self.done_ns);
            worker.note(plan, ActivityKind::Wait, self.host_ns, until_ns);
            self.host_ns = until_ns + pause.length.get();
            worker.note(plan, ActivityKind::Pause, until_ns, self.host_ns);
        }

        let awaited = number
            .checked_sub(self.stream.in_flight())
            .map(|earlier| self.completed_ns[earlier]);
        if let Some(completed_ns) = awaited {
            let until_ns = self.host_ns.max(completed_ns);
            worker.note(plan, ActivityKind::Wait, self.host_ns, until_ns);
            self.host_ns = until_ns + self.stream.host.pick(number, &mut self.random);
            worker.note(plan, ActivityKind::Host, until_ns, self.host_ns);
        }
    }

    /// Returns the id of the next buffer: a new one, or that of the buffer that is committed again.
    fn buffer_id(&mut self, worker: &mut Worker, number: usize) -> u64 {
        let Some(reused) = self.stream.oddities.reuse_buffers else {
            return worker.id();
        };

        let place = number % reused.get() as usize;
        if place == self.reused_ids.len() {
            self.reused_ids.push(worker.id());
        }
        self.reused_ids[place]
    }

    /// Encodes the encoders of the next buffer, one after another, and returns their number.
    fn encode(&mut self, plan: &mut Plan, worker: &mut Worker) -> u32 {
        let left = (self.stream.count as usize).saturating_sub(self.encoders);
        let count = (self.stream.encoders_per_buffer() as usize).min(left);

        for in_buffer in 0..count {
            let duration_ns = self.stream.encode.pick(self.encoders, &mut self.random);
            let label = encoder_label(plan, self.stream, self.encoders, in_buffer);
            let odd = &self.stream.oddities;
            let lost = every(odd.lose_encoder_every, self.encoders);
            let end_ns = self.host_ns + duration_ns;
            worker.note(plan, ActivityKind::Encode, self.host_ns, end_ns);
            plan.encoders.push(Encoder {
                label,
                id: worker.id(),
                start_ns: self.host_ns,
                duration_ns,
                recorded: !lost,
                recoverable: !(lost && odd.lose_encoder_from == LostFrom::Everywhere),
                spilled_bytes: self
                    .stream
                    .spill
                    .filter(|spill| every(Some(spill.every), self.encoders))
                    .map(|spill| spill.bytes),
                sampled: self.stream.sampled.unwrap_or_default(),
            });
            self.host_ns = end_ns;
            self.encoders += 1;
        }
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Groups the encoders of a buffer into kicks, as the driver does.
    fn groups(&mut self, first: EncoderIndex, count: u32, ordinal: usize) -> Vec<EncoderGroup> {
        let count = count as usize;
        let mut groups = Vec::with_capacity(count);
        let mut grouped = 0;
        while grouped < count {
            let paired = grouped % 2 == 0 && grouped + 1 < count;
            let coalesced = paired && every(self.stream.oddities.coalesce_every, self.pairs);
            self.pairs += usize::from(paired);
            let encoders: u8 = if coalesced { 2 } else { 1 };
            groups.push(EncoderGroup {
                first: EncoderIndex::at(first.get() + grouped),
                count: encoders,
                ordinal: ordinal + grouped,
            });
            grouped += usize::from(encoders);
        }
        groups
    }

    /// Runs a group on the GPU, on both channels if there are two. Returns the end of the last kick.
    fn run(
        &mut self,
        plan: &mut Plan,
        buffer: BufferIndex,
        group: EncoderGroup,
        ready_ns: u64,
    ) -> u64 {
        let stream = self.stream;
        let mut duration_ns = 0;
        for ordinal in group.ordinals() {
            duration_ns +=
                stream.duration.pick(ordinal, &mut self.random) * slowness(stream, ordinal);
        }

        let start_ns = ready_ns.max(self.free_ns[0]);
        let end_ns = self.kick(plan, buffer, group, &stream.channel, start_ns, duration_ns);
        self.free_ns[0] = end_ns + stream.gap.pick(group.ordinal, &mut self.random);
        let Some(then) = &stream.then else {
            return end_ns;
        };

        let lag_ns = then.lag.pick(group.ordinal, &mut self.random);
        let duration_ns =
            then.duration.pick(group.ordinal, &mut self.random) * slowness(stream, group.ordinal);
        let start_ns = self.free_ns[1].max(end_ns + lag_ns);
        self.free_ns[1] = self.kick(plan, buffer, group, &then.channel, start_ns, duration_ns);
        self.free_ns[1]
    }

    /// Occupies a channel, in two parts if the kick is preempted. Returns the end of the last part.
    fn kick(
        &mut self,
        plan: &mut Plan,
        buffer: BufferIndex,
        group: EncoderGroup,
        channel: &str,
        start_ns: u64,
        duration_ns: u64,
    ) -> u64 {
        let odd = &self.stream.oddities;
        let kick = Kick {
            submitted_ns: start_ns,
            start_ns,
            duration_ns,
            buffer,
            encoder: group.first,
            label: oddities::kick_label(plan, odd, group.first, group.count),
            channel: plan.channels.index_of(channel),
            submission: oddities::next_submission(&plan.kicks),
            depth: 0,
            encoder_count: group.count,
            attributed: !group
                .ordinals()
                .any(|ordinal| every(odd.unattributed_every, ordinal)),
            framed: !group
                .ordinals()
                .any(|ordinal| every(odd.null_frame_every, ordinal)),
        };

        let split = every(odd.split_every, self.kicks);
        self.kicks += 1;
        let parts = if split {
            oddities::split(kick, odd.split_hole.get())
        } else {
            vec![kick]
        };
        plan.kicks.extend(parts);
        plan.kicks.last().map_or(start_ns, Kick::end_ns)
    }

    /// Returns the time when the host is notified of a buffer's completion, never before the commit.
    /// The last kick of the buffer ends at `last_ns`.
    fn completion(&mut self, number: usize, committed_ns: u64, last_ns: u64) -> u64 {
        let odd = &self.stream.oddities;
        let delay_ns = self.stream.completion.pick(number, &mut self.random);
        if every(odd.early_completion_every, number) {
            return last_ns.saturating_sub(odd.early_by.get()).max(committed_ns);
        }
        last_ns + delay_ns
    }
}

impl EncoderGroup {
    /// Returns the indices in the stream of the group's encoders.
    fn ordinals(self) -> std::ops::Range<usize> {
        self.ordinal..self.ordinal + usize::from(self.count)
    }
}

fn slowness(stream: &Stream, ordinal: usize) -> u64 {
    let warm_up = stream
        .warm_up
        .filter(|warm_up| ordinal < warm_up.first as usize);
    warm_up.map_or(1, |warm_up| u64::from(warm_up.factor))
}

fn buffer_label(plan: &mut Plan, stream: &Stream, number: usize) -> NameIndex {
    let label = stream
        .buffer_label
        .as_ref()
        .map(|labels| labels.pick(number));
    plan.labels.index_of(label.unwrap_or("Command Buffer 0"))
}

/// Returns the label that the scenario gives, or the one that Metal makes from the kind of
/// encoder and its index in the buffer.
fn encoder_label(plan: &mut Plan, stream: &Stream, ordinal: usize, in_buffer: usize) -> NameIndex {
    if let Some(label) = stream
        .encoder_label
        .as_ref()
        .map(|labels| labels.pick(ordinal))
    {
        return plan.labels.index_of(label);
    }

    let kind = match stream.channel.as_str() {
        "Vertex" | "Fragment" => "Render",
        "Blit" => "Blit",
        _ => "Compute",
    };
    plan.labels.index_of(&format!("{kind} Command {in_buffer}"))
}
