//! Defines the tool `record`, which only a server with --allow-record offers.

use std::ffi::OsString;

use metalens_text::shown_lines;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ToolCall;
use super::call::check;
use super::doctor::doctor;
use crate::answer::ToolAnswer;
use crate::child::{ChildCommand, Ending};
use crate::problem::ToolProblem;

pub(super) const RECORD: &str = "\
Runs a program, records its GPU work with Apple's xctrace, and writes a .trace bundle to analyze. It \
runs the program with the rights of this server: record only what the user asked for. Record one \
steady step many times, for a few seconds, with a release build; record three or more runs to compare. \
Canceling stops the recording and saves it. With check it records nothing, and says whether this \
machine can record: each check has a result and a remedy; a recording that fails says so, too. \
Recording needs a Mac with Xcode. simulate uses a fake xctrace on any machine: it shows the \
steps, and measures nothing.";

/// Arguments of `record`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordArguments {
    /// Bundle to write below a root: a name that ends in .trace and does not exist.
    output: Option<String>,
    /// Program and its arguments, such as ["python", "bench.py"]. It runs in the first root.
    #[serde(default)]
    program: Vec<String>,
    /// Bundled workload to record instead of a program, such as eager or fused.
    workload: Option<String>,
    /// Stop after this time, such as 5s; the program is killed if it still runs [default: 60s].
    time_limit: Option<String>,
    /// Add CPU samples, which show what the program did while the GPU waited.
    #[serde(default)]
    cpu: bool,
    /// Add hardware counters of the GPU, where the chip and Xcode deliver them.
    #[serde(default)]
    counters: bool,
    /// Use a fake xctrace: measures nothing.
    #[serde(default)]
    simulate: bool,
    /// Record nothing: only check whether this machine can record.
    #[serde(default)]
    check: bool,
}

/// Answers a call of `record`.
pub(super) async fn record(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: RecordArguments = call.parse()?;
    if arguments.check {
        return doctor(call).await;
    }
    let bundle = arguments.output.as_deref().unwrap_or_default();
    let command = ChildCommand {
        activity: format!("recording {bundle}"),
        arguments: words(call, &arguments, bundle)?,
        most_lines: None,
        ending: Ending::Interrupt,
    };
    let finished = match check(call.run(command).await?, &[]) {
        Ok(finished) => finished,
        // The fake xctrace needs no Mac.
        Err(problem) if arguments.simulate => return Err(problem),
        Err(problem) => {
            let machine = doctor(call).await.map(|answer| answer.text);
            let machine = machine.unwrap_or_default();
            return Err(problem.details(shown_lines(&machine).into_owned()));
        }
    };
    let structured: Map<String, Value> = Map::from_iter([
        ("bundle".to_owned(), json!(bundle)),
        ("simulated".to_owned(), json!(arguments.simulate)),
    ]);
    Ok(ToolAnswer {
        text: finished.messages + "\n",
        structured,
        ..ToolAnswer::default()
    })
}

/// Returns the command line of `metalens record`.
fn words(
    call: &ToolCall<'_>,
    arguments: &RecordArguments,
    bundle: &str,
) -> Result<Vec<OsString>, ToolProblem> {
    if !bundle.ends_with(".trace") {
        return Err(
            ToolProblem::new(format!("output {bundle:?} does not end in .trace"))
                .hint("name the bundle to write, such as run.trace"),
        );
    }

    let output = call.roots.output(bundle)?;
    let mut words: Vec<OsString> = vec!["record".into(), "-o".into(), output.into_os_string()];
    let limit = arguments.time_limit.as_deref().unwrap_or("60s");
    words.push(format!("--time-limit={limit}").into());
    let flags = [
        ("--cpu", arguments.cpu),
        ("--counters", arguments.counters),
        ("--simulate", arguments.simulate),
    ];
    words.extend(flags.iter().filter(|flag| flag.1).map(|flag| flag.0.into()));
    match (arguments.program.as_slice(), &arguments.workload) {
        ([], Some(workload)) => words.push(format!("--workload={workload}").into()),
        ([_, ..], None) => {
            words.push("--".into());
            words.extend(arguments.program.iter().map(OsString::from));
        }
        ([], None) => {
            return Err(ToolProblem::new("there is nothing to record")
                .hint("give program, or workload for a bundled one"));
        }
        ([_, ..], Some(_)) => {
            return Err(ToolProblem::new("program and workload exclude each other")
                .hint("give one of them"));
        }
    }
    Ok(words)
}
