//! Defines the command line of `metalens-mcp`.

use std::path::PathBuf;

use clap::Parser;

use crate::answer::Budget;

/// Serve metalens to coding agents: a Model Context Protocol server on standard input and output
#[derive(Debug, Parser)]
#[command(name = "metalens mcp", bin_name = "metalens mcp", version)]
#[command(after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Folder that the server may read and write in; can be given several times [default: the
    /// current folder]
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Allow the tool record, which runs the program that the agent names
    #[arg(long)]
    pub(crate) allow_record: bool,
    /// Show names of other processes and the inputs' folders [default: leave them out]
    #[arg(long)]
    pub(crate) show_names: bool,
    /// Maximum number of characters of the text of an answer, and of its structured content,
    /// unless a call sets its own budget
    #[arg(long, value_name = "CHARACTERS", default_value_t = Budget::DEFAULT)]
    #[arg(value_parser = clap::value_parser!(u32).range(i64::from(Budget::LEAST)..=i64::from(Budget::MOST)))]
    pub(crate) budget: u32,
    /// Print the skill, a page that teaches an agent to profile, instead of serving
    #[arg(long)]
    pub(crate) skill: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print the shell's completions for `metalens-mcp`
    #[arg(long, value_name = "SHELL", hide = true)]
    pub(crate) completions: Option<clap_complete::Shell>,
}

const AFTER_HELP: &str = "\
A client starts this program with the command in its settings, such as `metalens mcp --root DIR`. \
docs/agents.md has settings for common clients.

Tools: list, analyze, compare, chart, query and, with --allow-record, record. They run metalens, \
which must be beside this program or on PATH.

Exit codes: 0 the client closed the connection, 1 failure, 2 wrong usage.";
