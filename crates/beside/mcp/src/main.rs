//! Runs `metalens-mcp`, the program behind `metalens mcp`: a Model Context Protocol server on
//! standard input and output, for coding agents.
//!
//! ```text
//! client ─▶ server ─▶ tools ─▶ child: metalens … --json ─▶ report ─▶ names hidden ─▶ budget ─▶ client
//! ```
//!
//! Each answer comes from a `metalens` that runs as a child process. So every option has the same
//! meaning as on the command line, and a canceled call ends a process and frees its memory. This
//! program itself only hides names and writes sections, with the library that makes pages.

mod answer;
mod arguments;
mod child;
mod lines;
mod problem;
mod resources;
mod roots;
mod server;
mod tools;

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{CommandFactory, Parser};
use metalens_failure::in_plain_words;
use metalens_text::{shown_message, streams};
use rmcp::ServiceExt;
use tokio::signal::unix::{SignalKind, signal};

use crate::arguments::Arguments;
use crate::lines::Lines;
use crate::server::Server;

/// Time in which calls may end their child processes after the client has left. xctrace needs some
/// time to stop and save a recording.
const LEAVING: Duration = Duration::from_secs(130);

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // If this cannot be written, no other output can report it.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };

    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = in_plain_words(&format!("{error:#}"));
            let text = format!("error: {}\n", shown_message(&message));
            // If this cannot be written, no other output can report it.
            let _ = streams::messages().write_all(text.as_bytes());
            ExitCode::FAILURE
        }
    }
}

/// Prints the text that an option requests, or serves.
fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(text) = text(arguments)? {
        // While the server runs, standard output belongs to the protocol.
        let mut out = streams::answer();
        out.write_all(&text)?;
        return Ok(out.flush()?);
    }

    let server = Server::new(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let served = runtime.block_on(serve(server));
    // A pending read of standard input must not keep the program alive.
    runtime.shutdown_background();
    served
}

/// Returns the text that an option requests; `None` if the server is to start.
fn text(arguments: &Arguments) -> anyhow::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    let mut command = Arguments::command().name("metalens-mcp");
    if let Some(shell) = arguments.completions {
        clap_complete::generate(shell, &mut command, "metalens-mcp", &mut text);
    } else if arguments.skill {
        text = resources::SKILL.as_bytes().to_vec();
    } else {
        return Ok(None);
    }
    Ok(Some(text))
}

/// Serves until the client closes its end or a signal arrives. Then ends all child processes.
async fn serve(server: Server) -> anyhow::Result<()> {
    let children = server.children();
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;

    let service = server.serve(Lines::of_standard_streams()).await.context(
        "no client spoke the protocol on standard input: a client must start this \
                  program",
    )?;
    let stop = service.cancellation_token();
    let signals = tokio::spawn(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        stop.cancel();
    });
    service.waiting().await?;
    signals.abort();

    // Each call ends its own child process. A call that takes longer is dropped, which kills it.
    let _ = tokio::time::timeout(LEAVING, children.all_ended()).await;
    Ok(())
}
