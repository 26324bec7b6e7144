//! Writes the tables that connect the others: completions, labels, and the encoder of a submission.

use rustc_hash::FxHashSet;

use super::gpu::channel_id;
use super::objects::{Object, objects};
use crate::optional::Optional;
use crate::plan::{Buffer, Encoder, Kick, Plan};
use crate::sheet::{ACCELERATOR_ID, sorted, table};

table! {
    COMPLETED: "metal-command-buffer-completed",
        "When the host was notified that a command buffer completed.";
    |plan, _| for buffer in completed(plan).filter(|buffer| buffer.completion_recorded) => {
        "timestamp" "Timestamp" StartTime = buffer.completed_ns;
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = buffer.id;
        "commit-id" "commit-id" Uint32;
    }
}

/// Returns the buffers of all processes in the order of their completions.
fn completed(plan: &Plan) -> impl Iterator<Item = &Buffer> {
    sorted(&plan.buffers, |buffer| buffer.completed_ns).into_iter()
}

/// Code of a page fault.
const PAGE_FAULT: u32 = 3;

table! {
    BUFFER_ERROR: "metal-command-buffer-error", "Which command buffers ended in an error.";
    |plan, _| for buffer in completed(plan).filter(|buffer| buffer.is_failed) => {
        "timestamp" "Timestamp" StartTime = buffer.completed_ns;
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = buffer.id;
        "error-code" "Error Code" Uint32 = PAGE_FAULT;
    }
}

table! {
    SPILL_EVENTS: "graphics-compiler-spill-events",
        "Which encoders ran code with spilled registers.";
    |plan, _| for (buffer, encoder) in spilling(plan) => {
        "timestamp" "Timestamp" StartTime = buffer.committed_ns;
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = buffer.id;
        "encoder-id" "Encoder Id" Uint64 = encoder.id;
        "spilled-bytes" "Spilled bytes" SizeInBytes = encoder.spilled_bytes;
        "process" "Process" Process = buffer.process;
    }
}

/// Returns the buffers of all processes in the order of their commits.
fn committed(plan: &Plan) -> impl Iterator<Item = &Buffer> {
    sorted(&plan.buffers, |buffer| buffer.committed_ns).into_iter()
}

/// Returns each encoder of a covered process that ran code with spilled registers.
fn spilling(plan: &Plan) -> impl Iterator<Item = (&Buffer, &Encoder)> {
    let covered = committed(plan).filter(|buffer| plan.is_instrumented(buffer.process));
    let encoders = covered.flat_map(|buffer| {
        let encoders = plan.encoders_of(buffer).iter();
        encoders.map(move |encoder| (buffer, encoder))
    });
    encoders.filter(|(_, encoder)| encoder.spilled_bytes.is_some())
}

table! {
    OBJECT_LABEL: "metal-object-label", "Which labels Metal objects have.";
    |plan, _| for object in committed(plan).flat_map(|buffer| encoders_first(plan, buffer)) => {
        let buffer = object.buffer;
        "timestamp" "Timestamp" StartTime = buffer.committed_ns;
        "object-id" "object Id" Uint64 = object.id();
        "frame-number" "frame" Uint32 = buffer.frame;
        "label" "Label" ObjectLabel = object.label(plan);
        "object-type" "Type" Uint32 = TYPE_BUFFER + object.depth();
        "pid" "PID" Uint64 = plan.process(buffer.process).pid;
    }
}

/// Type of a command buffer. That of an encoder is the next one.
const TYPE_BUFFER: u32 = 10;

/// Returns the encoders of a buffer, and then the buffer.
fn encoders_first<'p>(plan: &'p Plan, buffer: &'p Buffer) -> Vec<Object<'p>> {
    let mut all: Vec<Object<'_>> = objects(plan, buffer).collect();
    all.rotate_left(1);
    all
}

table! {
    SUBMISSION_TO_BUFFER: "metal-gpu-submission-to-command-buffer-id",
        "Which command buffer and encoder a GPU submission ran.";
    |plan, _| for kick in submissions(plan) => {
        let buffer = plan.buffer(kick.buffer);
        let coalesced = if kick.encoder_count > 1 { kick.encoder_count } else { 0 };
        "timestamp" "Timestamp" StartTime = kick.submitted_ns;
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = buffer.id;
        "gpu-submission-id" "GPU Submission Id" CommandBufferId = kick.submission;
        "segment-id" "Segment Id" CommandBufferId;
        "segmentlist-id" "SegmentList Id" CommandBufferId;
        "encoder-id" "Encoder Id" CommandBufferId = plan.encoder(kick.encoder).id;
        "accelerator-id" "Accelerator ID" Uint64 = ACCELERATOR_ID;
        "channel-id" "Channel ID" CommandBufferId = channel_id(kick);
        "submission-type" "Type" Uint32;
        "metadata-1" "Metadata 1" Uint64;
        "metadata-2" "Metadata 2" Uint64;
        "pid" "pid" Uint32 = plan.process(buffer.process).pid;
        "process" "Process" Process = buffer.process;
        "model" "Model" Uint32 = 1_u64;
        "commit-id" "commit-id" Uint32;
        "num-coalasced-encoders" "# Coalasced Encoders" Uint32 = u32::from(coalesced);
    }
}

/// Returns the submissions with a known owner. A preempted one has two kicks and one row here.
fn submissions(plan: &Plan) -> Vec<&Kick> {
    let mut known = FxHashSet::default();
    let attributed = plan.kicks.iter().filter(|kick| kick.attributed);
    let once = attributed.filter(|kick| known.insert(kick.submission));
    sorted(once, |kick| kick.submitted_ns)
}
