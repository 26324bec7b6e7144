//! Formats one cell of a table, as text for CSV or as JSON with its parts.

use metalens_trace::{Column, Frame, Names, ProcessId};
use serde_json::{Value, json};

/// Returns a cell that is not a number as plain text. None for null.
pub(crate) fn text(column: &Column, row: usize, names: &Names) -> Option<String> {
    match column {
        Column::Texts(values) => Some(names.text((*values.get(row)?)?).to_owned()),
        Column::Processes(values) => process_text((*values.get(row)?)?, names),
        Column::Threads(values) => {
            let thread = names.thread((*values.get(row)?)?)?;
            Some(names.text(thread.display).to_owned())
        }
        Column::Labels(values) => {
            let label = names.label((*values.get(row)?)?)?;
            Some(names.text(label.rendered.unwrap_or(label.text)).to_owned())
        }
        Column::Stacks(values) => {
            let frames = names.stack((*values.get(row)?)?);
            let frames: Vec<&str> = frames.map(|frame| names.text(frame.name)).collect();
            Some(frames.join(";"))
        }
        Column::Integers(_) | Column::Dropped => None,
    }
}

/// Returns a cell as JSON, with the parts of a process, thread, label or stack.
pub(crate) fn json(column: &Column, row: usize, names: &Names) -> Value {
    parts(column, row, names).unwrap_or(Value::Null)
}

fn parts(column: &Column, row: usize, names: &Names) -> Option<Value> {
    Some(match column {
        Column::Integers(values) => json!(values.get(row)?),
        Column::Texts(values) => json!(names.text((*values.get(row)?)?)),
        Column::Processes(values) => process((*values.get(row)?)?, names)?,
        Column::Threads(values) => {
            let thread = names.thread((*values.get(row)?)?)?;
            json!({
                "display": names.text(thread.display),
                "tid": thread.tid,
                "process": thread.process.and_then(|id| process(id, names)),
            })
        }
        Column::Labels(values) => {
            let label = names.label((*values.get(row)?)?)?;
            json!({
                "display": label.rendered.map(|rendered| names.text(rendered)),
                "text": names.text(label.text),
                "process": label.process.and_then(|id| process(id, names)),
                "submission_id": label.submission_id(),
            })
        }
        Column::Stacks(values) => names
            .stack((*values.get(row)?)?)
            .map(|frame| frame_parts(frame, names))
            .collect(),
        Column::Dropped => return None,
    })
}

fn process_text(id: ProcessId, names: &Names) -> Option<String> {
    let process = names.process(id)?;
    let name = names.text(process.name);
    Some(match process.pid {
        Some(pid) => format!("{name} ({pid})"),
        None => name.to_owned(),
    })
}

fn process(id: ProcessId, names: &Names) -> Option<Value> {
    let process = names.process(id)?;
    Some(json!({ "name": names.text(process.name), "pid": process.pid }))
}

fn frame_parts(frame: Frame, names: &Names) -> Value {
    json!({
        "name": names.text(frame.name),
        "address": names.text(frame.address),
        "binary": frame.binary.map(|binary| names.text(binary)),
    })
}
