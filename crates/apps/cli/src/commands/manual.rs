//! Runs `metalens manual` and `metalens completions`: writes what packages install, manual pages
//! and completions for shells.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap_mangen::Man;
use metalens_files::Folder;

use crate::args::{CompletionsArguments, ManualArguments, every_command};
use crate::out;

pub(crate) fn run(arguments: &ManualArguments, quiet: bool) -> anyhow::Result<ExitCode> {
    let pages = pages()?;
    let folder = &arguments.output;
    // Under sudo the pages are for all users, so they stay root's.
    let inside = Folder::make(folder)?.for_system_files();

    // Nothing is written unless everything can be.
    for (name, _) in &pages {
        metalens_files::refuse_existing(&folder.join(name), arguments.force)?;
    }
    for (name, page) in &pages {
        inside.write_bytes(Path::new(name), arguments.force, page)?;
    }
    out::wrote(folder, quiet);
    Ok(ExitCode::SUCCESS)
}

/// Prints the completions for a shell.
pub(crate) fn completions(arguments: &CompletionsArguments) -> anyhow::Result<ExitCode> {
    // Generated into memory, because the generator panics if it cannot write.
    let mut script = Vec::new();
    let mut command = every_command();
    clap_complete::generate(arguments.shell, &mut command, "metalens", &mut script);
    out::untouched().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns every page with its file name: `metalens.1`, `metalens-analyze.1`, ….
fn pages() -> anyhow::Result<Vec<(String, Vec<u8>)>> {
    let mut program = every_command().disable_help_subcommand(true);
    program.build();

    let mut pages = Vec::new();
    add_pages(&program, "metalens", &mut pages)?;
    Ok(pages)
}

/// Returns the synopsis of a command: its options and arguments with the names of their values.
fn synopsis(command: &clap::Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let (last, first): (Vec<&clap::Arg>, Vec<&clap::Arg>) = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .partition(|argument| argument.is_positional());
    let options = first.into_iter().map(|argument| {
        if argument.is_required_set() {
            argument.to_string()
        } else {
            format!("[{argument}]")
        }
    });
    let arguments = last.into_iter().map(ToString::to_string);
    let inner = command.has_subcommands().then(|| "<COMMAND>".to_owned());
    let words = [name.to_owned()]
        .into_iter()
        .chain(options)
        .chain(arguments);
    words.chain(inner).collect::<Vec<_>>().join(" ")
}

/// Adds the page of a command, and those of its visible subcommands.
fn add_pages(
    command: &clap::Command,
    name: &str,
    pages: &mut Vec<(String, Vec<u8>)>,
) -> anyhow::Result<()> {
    let mut page = Vec::new();
    let described = command.clone().display_name(name.to_owned());
    Man::new(described.override_usage(synopsis(command))).render(&mut page)?;
    pages.push((format!("{name}.1"), page));

    let visible = |subcommand: &&clap::Command| !subcommand.is_hide_set();
    for subcommand in command.get_subcommands().filter(visible) {
        add_pages(
            subcommand,
            &format!("{name}-{}", subcommand.get_name()),
            pages,
        )?;
    }
    Ok(())
}
