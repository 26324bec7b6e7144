//! Runs `metalens synth`: writes a synthetic recording with known truth, as a bundle or an export.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use metalens_failure::did_you_mean;
use metalens_files::{Folder, Owner, give_folder, parent, refuse_inside_bundle};
use metalens_message::Message;
use metalens_render::document::{Block, Column, Document, Section, Table};
use metalens_simulator::{Scenario, presets, write_bundle, write_export};
use metalens_text::shown;
use metalens_text::units::counted;

use super::SynthArguments;
use crate::exit::Misuse;
use crate::{out, view};

pub(crate) fn run(arguments: &SynthArguments, quiet: bool) -> anyhow::Result<()> {
    let (Some(scenario), Some(output)) = (&arguments.scenario, &arguments.output) else {
        return list();
    };

    let scenario = find(scenario)?;
    let as_bundle = output
        .extension()
        .is_some_and(|extension| extension == "trace");
    let write = if as_bundle {
        write_bundle
    } else {
        write_export
    };

    refuse_inside_bundle(output)?;
    Folder::make(parent(output))?;
    let is_new = output.symlink_metadata().is_err();
    write(&scenario, output, arguments.force)
        .with_context(|| format!("cannot write {}", output.display()))?;
    if let Some(owner) = Owner::sudo_user().filter(|_| is_new) {
        give_folder(output, owner)?;
    }

    if !quiet {
        writeln!(
            out::notes(),
            "wrote {}: a synthetic recording of {}; truth.json in it has the true figures",
            shown(&output.display().to_string()),
            counted(scenario.intervals_planned(), "GPU interval"),
        )?;
    }
    Ok(())
}

/// Lists the built-in scenarios.
fn list() -> anyhow::Result<()> {
    let columns = vec![Column::words("scenario"), Column::sentence("what it shows")];
    let mut table = Table::new("scenarios", "Built-in scenarios", columns);
    for preset in presets() {
        table.row([preset.name, preset.about].map(Message::words));
    }
    let document = Document {
        sections: vec![Section::new("scenarios", "", 0).with(Block::Table(table))],
        ..Document::default()
    };
    view::print(&document, false)
}

/// The largest size of a scenario file, in bytes: far more than people write.
const LONGEST: u64 = 16 << 20;

/// Returns a built-in scenario, else reads the file of that name.
pub(crate) fn find(name: &str) -> anyhow::Result<Scenario> {
    if let Some(preset) = Scenario::preset(name) {
        return Ok(preset);
    }
    if !Path::new(name).is_file() {
        let meant = did_you_mean(name, presets().iter().map(|preset| preset.name));
        return Err(Misuse(format!(
            "there is no built-in scenario or file `{name}`; {meant}--list shows the built-in scenarios"
        ))
        .into());
    }

    let text = metalens_files::read_text(Path::new(name), LONGEST)
        .with_context(|| format!("cannot read {name}"))?;
    Scenario::from_toml(&text).with_context(|| name.to_owned())
}
