//! Prints the answers of evidence files as one table, for `metalens verify --read`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use metalens_message::Message;
use metalens_render::document::{Block, Cell, Column, Document, Section, Table, Tone};
use metalens_verify::{ExperimentVerdict, SCHEMA};
use serde::Deserialize;
use serde_json::Value;

use crate::view;

/// Largest evidence file, in bytes.
const LARGEST: u64 = 32 << 20;

/// Prints a row for each answer: on which machine, and what it was.
pub(super) fn run(files: &[PathBuf], markdown: bool) -> anyhow::Result<()> {
    let columns = vec![
        Column::words("chip"),
        Column::words("system"),
        Column::words("xcode").headed("Xcode build"),
        Column::words("experiment"),
        Column::words("answer"),
        Column::sentence("why").spare(1),
    ];
    let mut table = Table::new("answers", "Answers, by machine", columns).sortable();
    for file in files {
        let evidence = load(file)?;
        let machine = &evidence["machine"];
        let chip = if evidence["synthetic"] == true {
            "simulated"
        } else {
            text(&machine["chip"])
        };
        let place = [chip, text(&machine["macos"]), text(&machine["xcode_build"])];
        for answer in evidence["answers"].as_array().into_iter().flatten() {
            let verdict = ExperimentVerdict::deserialize(&answer["verdict"]);
            let verdict = verdict.unwrap_or(ExperimentVerdict::CouldNotTell);
            let tone = match verdict {
                ExperimentVerdict::AsExpected => Tone::Good,
                ExperimentVerdict::Otherwise => Tone::Bad,
                ExperimentVerdict::CouldNotTell => Tone::Faint,
            };
            let mut cells: Vec<Cell> = place.map(|fact| Cell::from(Message::words(fact))).into();
            cells.push(metalens_message::name(text(&answer["id"])).into());
            cells.push(Cell::verdict(verdict.words(), tone));
            cells.push(Message::words(text(&answer["why"])).into());
            table.row(cells);
        }
    }

    let document = Document {
        title: "Answers of metalens verify".into(),
        footer: concat!("metalens ", env!("CARGO_PKG_VERSION")).into(),
        sections: vec![Section::new("answers", "", 0).with(Block::Table(table))],
    };
    view::print(&document, markdown)
}

fn load(file: &Path) -> anyhow::Result<Value> {
    let shown = file.display();
    let bytes = metalens_files::read(file, LARGEST).with_context(|| shown.to_string())?;
    match serde_json::from_slice::<Value>(&bytes) {
        Ok(evidence) if evidence["schema"] == SCHEMA => Ok(evidence),
        _ => bail!("{shown} is no evidence file of `metalens verify`"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("unknown")
}
