//! Writes the tables that connect the others: completions, labels, and the encoder of a submission.

use rustc_hash::FxHashSet;

use super::objects::{Object, encodings};
use crate::error::Error;
use crate::export::cells::{ACCELERATOR_ID, Cells, Number, Sheet, Text};
use crate::export::schema::Schema;
use crate::export::tables::gpu::channel_id;
use crate::plan::{Buffer, Kick};

pub(super) const COMPLETED: Schema = Schema {
    name: "metal-command-buffer-completed",
    documentation: "When the host was notified that a command buffer completed.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("commit-id", "commit-id", "uint32"),
    ],
};

/// Writes `metal-command-buffer-completed`: one row per buffer of any process that was not lost.
pub(super) fn completed<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let commit_id = sheet.commit_id();
    let mut buffers: Vec<&Buffer> = sheet.plan().buffers.iter().collect();
    buffers.retain(|buffer| buffer.completion_recorded);
    buffers.sort_by_key(|buffer| buffer.completed_ns);
    for buffer in buffers {
        sheet.row(|cells| {
            cells.number(Number::StartTime, buffer.completed_ns);
            cells.number(Number::CommandBufferId, buffer.id);
            cells.number(commit_id, 0);
        })?;
    }
    Ok(())
}

pub(super) const BUFFER_ERROR: Schema = Schema {
    name: "metal-command-buffer-error",
    documentation: "Which command buffers ended in an error.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("error-code", "Error Code", "uint32"),
    ],
};

/// Writes `metal-command-buffer-error`: the buffers of any process that ended in an error.
pub(super) fn errors<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let failed = |buffer: &'a Buffer| buffer.error.map(|code| (buffer, code));
    let mut buffers: Vec<_> = sheet.plan().buffers.iter().filter_map(failed).collect();
    buffers.sort_by_key(|(buffer, _)| buffer.completed_ns);
    for (buffer, code) in buffers {
        sheet.row(|cells| {
            cells.number(Number::StartTime, buffer.completed_ns);
            cells.number(Number::CommandBufferId, buffer.id);
            cells.number(Number::Uint32, u64::from(code));
        })?;
    }
    Ok(())
}

pub(super) const SPILL_EVENTS: Schema = Schema {
    name: "graphics-compiler-spill-events",
    documentation: "Which encoders ran code with spilled registers.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "uint64"),
        ("spilled-bytes", "Spilled bytes", "size-in-bytes"),
        ("process", "Process", "process"),
    ],
};

/// Writes `graphics-compiler-spill-events`: a row for each encoder of a covered process that ran
/// code with spilled registers.
pub(super) fn spills<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let mut buffers: Vec<&Buffer> = plan.buffers.iter().collect();
    buffers.retain(|buffer| plan.is_instrumented(buffer.process));
    buffers.sort_by_key(|buffer| buffer.committed_ns);
    for buffer in buffers {
        let encoders = plan.encoders_of(buffer).iter();
        let spilling = encoders.filter_map(|encoder| Some((encoder, encoder.spilled_bytes?)));
        for (encoder, bytes) in spilling {
            sheet.row(|cells| {
                cells.number(Number::StartTime, buffer.committed_ns);
                cells.number(Number::CommandBufferId, buffer.id);
                cells.number(Number::Uint64, encoder.id);
                cells.number(Number::SizeInBytes, u64::from(bytes));
                cells.process(buffer.process);
            })?;
        }
    }
    Ok(())
}

pub(super) const OBJECT_LABEL: Schema = Schema {
    name: "metal-object-label",
    documentation: "Which labels Metal objects have.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("object-id", "object Id", "uint64"),
        ("frame-number", "frame", "uint32"),
        ("label", "Label", "metal-object-label"),
        ("object-type", "Type", "uint32"),
        ("pid", "PID", "uint64"),
    ],
};

/// Writes `metal-object-label`: encoders and then their buffer, at its commit.
pub(super) fn object_labels<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let mut buffers: Vec<&Buffer> = plan.buffers.iter().collect();
    buffers.sort_by_key(|buffer| buffer.committed_ns);
    for buffer in buffers {
        let encoders = encodings(plan, buffer).map(Object::Encoder);
        for object in encoders.chain([Object::Buffer(buffer)]) {
            let (id, label, object_type) = match object {
                Object::Encoder(encoding) => {
                    (encoding.encoder.id, encoding.encoder.label, TYPE_ENCODER)
                }
                Object::Buffer(buffer) => (buffer.id, buffer.label, TYPE_BUFFER),
            };
            sheet.row(|cells| {
                cells.number(Number::StartTime, buffer.committed_ns);
                cells.number(Number::Uint64, id);
                cells.number(Number::Uint32, u64::from(buffer.frame));
                cells.text(Text::ObjectLabel, plan.labels.text(label));
                cells.number(Number::Uint32, object_type);
                cells.number(Number::Uint64, u64::from(plan.process(buffer.process).pid));
            })?;
        }
    }

    Ok(())
}

const TYPE_BUFFER: u64 = 10;
const TYPE_ENCODER: u64 = 11;

pub(super) const SUBMISSION_TO_BUFFER: Schema = Schema {
    name: "metal-gpu-submission-to-command-buffer-id",
    documentation: "Which command buffer and encoder a GPU submission ran.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        (
            "gpu-submission-id",
            "GPU Submission Id",
            "metal-command-buffer-id",
        ),
        ("segment-id", "Segment Id", "metal-command-buffer-id"),
        (
            "segmentlist-id",
            "SegmentList Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "metal-command-buffer-id"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("channel-id", "Channel ID", "metal-command-buffer-id"),
        ("submission-type", "Type", "uint32"),
        ("metadata-1", "Metadata 1", "uint64"),
        ("metadata-2", "Metadata 2", "uint64"),
        ("pid", "pid", "uint32"),
        ("process", "Process", "process"),
        ("model", "Model", "uint32"),
        ("commit-id", "commit-id", "uint32"),
        ("num-coalasced-encoders", "# Coalasced Encoders", "uint32"),
    ],
};

/// Writes `metal-gpu-submission-to-command-buffer-id`: one row per submission with a known owner.
pub(super) fn submission_to_buffer<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let (plan, commit_id) = (sheet.plan(), sheet.commit_id());
    let mut submissions = FxHashSet::default();
    let mut kicks: Vec<&Kick> = plan.kicks.iter().filter(|kick| kick.attributed).collect();
    // A preempted submission has two kicks and one row here.
    kicks.retain(|kick| submissions.insert(kick.submission));
    kicks.sort_by_key(|kick| kick.submitted_ns);

    for kick in kicks {
        let buffer = plan.buffer(kick.buffer);
        let coalesced = if kick.encoder_count > 1 {
            u64::from(kick.encoder_count)
        } else {
            0
        };
        sheet.row(|cells| {
            cells.number(Number::StartTime, kick.submitted_ns);
            cells.number(Number::CommandBufferId, buffer.id);
            cells.number(Number::CommandBufferId, u64::from(kick.submission));
            cells.number(Number::CommandBufferId, 0);
            cells.number(Number::CommandBufferId, 0);
            cells.number(Number::CommandBufferId, plan.encoder(kick.encoder).id);
            cells.number(Number::Uint64, ACCELERATOR_ID);
            cells.number(Number::CommandBufferId, channel_id(kick));
            cells.number(Number::Uint32, 0);
            cells.number(Number::Uint64, 0);
            cells.number(Number::Uint64, 0);
            cells.number(Number::Uint32, u64::from(plan.process(buffer.process).pid));
            cells.process(buffer.process);
            cells.number(Number::Uint32, 1);
            cells.number(commit_id, 0);
            cells.number(Number::Uint32, coalesced);
        })?;
    }
    Ok(())
}
