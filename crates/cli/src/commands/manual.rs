//! `metalens manual` and `metalens completions`: the words of the command line, for
//! `man` and for shells. Packages ship what these write.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap_mangen::Man;
use metalens_files::Folder;

use crate::args::{CompletionsArguments, ManualArguments, every_command};

pub(crate) fn run(arguments: &ManualArguments) -> anyhow::Result<ExitCode> {
    let pages = pages()?;
    let folder = &arguments.output;
    // Whoever installs them with sudo installs them for all.
    let inside = Folder::make(folder)?.for_system_files();
    for (name, _) in &pages {
        metalens_files::refuse_existing(&folder.join(name), arguments.force)?;
    }
    for (name, page) in &pages {
        inside.write_bytes(Path::new(name), arguments.force, page)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn completions(arguments: &CompletionsArguments) -> anyhow::Result<ExitCode> {
    // Made first: the generator panics where it cannot write.
    let mut script = Vec::new();
    let mut command = every_command();
    clap_complete::generate(arguments.shell, &mut command, "metalens", &mut script);
    crate::out::untouched().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Every page, by its file's name: `metalens.1`, `metalens-analyze.1`, ….
fn pages() -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut program = every_command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    add_pages(&program, "metalens", &mut pages)?;
    Ok(pages)
}

fn add_pages(
    command: &clap::Command,
    name: &str,
    pages: &mut Vec<(String, Vec<u8>)>,
) -> anyhow::Result<()> {
    let mut page = Vec::new();
    Man::new(command.clone().display_name(name.to_owned())).render(&mut page)?;
    pages.push((format!("{name}.1"), page));
    for inner in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        add_pages(inner, &format!("{name}-{}", inner.get_name()), pages)?;
    }
    Ok(())
}
