//! Builds the document of a prediction: what a change leaves, or each change, and what it assumes.

use metalens_analyzer::{ChainSource, ReplayPart, WaitVerdict, WhatIf};
use metalens_message::{Factor, Message, count, counted, kernel, message, rough_time, time};

use crate::document::{Block, Column, Document, Section, Table};
use crate::wording::plain;

/// Smallest speedup of a change that is listed.
const LEAST_SPEEDUP: Factor = Factor(1.005);

/// Returns the document of a prediction.
pub fn document(found: &WhatIf) -> Document {
    let opening = if found.changes.is_empty() {
        prediction(found)
    } else {
        vec![Block::Lead(message!(
            "What would be left of {}",
            found.before_ns
        ))]
    };
    let notes = found
        .notes
        .iter()
        .map(|note| Block::Warning(note.message.clone()));
    let assumptions = Section::new("assumptions", "Assumptions", 1);
    let sections = [
        Some(
            Section::new("verdict", "", 0)
                .with_all(notes)
                .with_all(opening),
        ),
        changes(found),
        Some(assumptions.with_all(assumed(found).into_iter().map(Block::Remark))),
    ];
    Document {
        title: "What a change would leave".into(),
        sections: sections.into_iter().flatten().collect(),
        footer: plain(format!(
            "metalens {}, {}",
            env!("CARGO_PKG_VERSION"),
            found.schema
        )),
    }
}

/// Says what the change leaves.
fn prediction(found: &WhatIf) -> Vec<Block> {
    let before = time(found.before_ns);
    let (least, most) = (time(found.least_ns), time(found.most_ns));
    let mut said = Vec::new();
    if let Some(after_ns) = found.after_ns {
        let speedup = found
            .speedup
            .map(|speedup| message!(": about {}×", speedup));
        let lead = message!("About {} instead of {}{}", after_ns, before, speedup);
        said.push(Block::Lead(lead));
        let step = found.step_before.zip(found.step_after).map(|(was, is)| {
            let (was, is) = (rough_time(was.mean_ns), rough_time(is.mean_ns));
            Block::Text(message!("A step takes about {} instead of {}", is, was))
        });
        said.extend(step);
        let range = (least != most).then(|| {
            Block::Text(message!(
                "Between {} and {}, by how far the program varies",
                least,
                most
            ))
        });
        said.extend(range);
    } else {
        let lead = message!(
            "Between {} and {} instead of {}: nothing tells which",
            least,
            most,
            before
        );
        said.push(Block::Lead(lead));
    }
    let limit = |part: Option<ReplayPart>| part.map_or("nothing that is known", ReplayPart::label);
    said.push(Block::Text(message!(
        "Limited by {}; as recorded, by {}",
        limit(found.limited_by),
        limit(found.limited_before)
    )));
    let changed = found.changed_kernels.iter().map(|name| kernel(name));
    let changed = (!found.changed_kernels.is_empty())
        .then(|| Block::Remark(message!("Changed: {}", Message::joined(changed, ", "))));
    said.extend(changed);
    said
}

/// Lists what each change leaves, without those that change nothing.
fn changes(found: &WhatIf) -> Option<Section> {
    let columns = vec![
        Column::name("change"),
        Column::number("left"),
        Column::number("speedup"),
        Column::number("a step"),
    ];
    let mut table = Table::new("changes", "What each change leaves", columns);
    for change in &found.changes {
        let option = plain(&change.option);
        match (change.after_ns, change.speedup) {
            (Some(_), Some(speedup)) if speedup < LEAST_SPEEDUP => {}
            (Some(after_ns), Some(speedup)) => table.row([
                option,
                message!("about {}", after_ns),
                message!("{}×", speedup),
                change
                    .step
                    .map_or_else(Message::default, |step| rough_time(step.mean_ns)),
            ]),
            _ => table.row([
                option,
                message!("{} to {}", change.least_ns, change.most_ns),
                Message::default(),
                Message::default(),
            ]),
        }
    }
    let section = Section::new("changes", "Changes", 0);
    let said = if table.rows.is_empty() {
        Block::Text("None of the changes that can be asked for shortens it.".into())
    } else {
        Block::Table(table)
    };
    (!found.changes.is_empty()).then(|| section.with(said))
}

/// Returns what the prediction assumes, and what it cannot know.
fn assumed(found: &WhatIf) -> Vec<Message> {
    let sample = found
        .is_sample
        .then(|| Message::from(" in the middle, for all"));
    let mut said = vec![message!(
        "Replayed: {}{}. Host work and latencies stay as recorded where the change does not name them.",
        counted(found.command_buffers, "command buffer"),
        sample
    )];
    let waiting = &found.waiting;
    said.push(match waiting.verdict {
        WaitVerdict::Waits if waiting.in_flight == 1 => message!(
            "The program waits for the last command buffer before {} of {}.",
            count(waiting.pairs),
            counted(waiting.of, "command buffer")
        ),
        WaitVerdict::Waits => message!(
            "The program has at most {} command buffers in flight, then it waits for the oldest.",
            count(waiting.in_flight)
        ),
        WaitVerdict::DoesNotWait => {
            "The program does not wait, so that --in-flight changes nothing.".into()
        }
        WaitVerdict::Unknown => {
            "The recording does not tell whether the program waits: both were replayed.".into()
        }
    });
    if found.is_paced {
        said.push("Steps begin on a grid of time, which stays.".into());
    }
    match found.driver {
        Some(ChainSource::Tables) => {}
        Some(ChainSource::Order) => {
            said.push("The driver's rows are joined with command buffers by their order.".into());
        }
        None => said.push("The driver's times are not recorded: they count as latency.".into()),
    }
    if found.left_out > 0 {
        let left_out = counted(found.left_out, "command buffer");
        said.push(message!("Not replayed: {}.", left_out));
    }
    said
}
