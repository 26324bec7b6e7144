//! Defines a call of a tool: parses its arguments, checks its paths, and runs `metalens` for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rmcp::RoleServer;
use rmcp::model::{JsonObject, ProgressNotificationParam};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::child::{ChildCommand, Children, Ending, Finished};
use crate::problem::ToolProblem;
use crate::roots::Roots;

/// A call of a tool, with the settings of the server.
pub(crate) struct ToolCall<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: JsonObject,
    pub(crate) roots: &'a Roots,
    pub(crate) children: &'a Children,
    pub(crate) context: &'a RequestContext<RoleServer>,
    pub(crate) show_names: bool,
    pub(crate) allow_record: bool,
}

impl ToolCall<'_> {
    /// Parses the arguments into the type of the tool.
    pub(super) fn parse<A: DeserializeOwned>(&self) -> Result<A, ToolProblem> {
        let mut arguments = self.arguments.clone();
        // Every tool has this argument, and the server has read it already.
        arguments.remove("budget");
        serde_json::from_value(Value::Object(arguments)).map_err(|error| {
            ToolProblem::new(format!("the arguments of {} are wrong: {error}", self.name))
                .hint("the schema of the tool describes each argument")
        })
    }

    /// Checks the path of an input, and returns it as an argument of metalens.
    pub(super) fn input(&self, named: &str) -> Result<OsString, ToolProblem> {
        self.roots.input(named).map(PathBuf::into_os_string)
    }

    /// Checks the paths of inputs, and returns them as arguments of metalens.
    pub(super) fn inputs(&self, named: &[String]) -> Result<Vec<OsString>, ToolProblem> {
        named.iter().map(|named| self.input(named)).collect()
    }

    /// Runs metalens. An exit code other than 0 and `accepted` becomes a problem with the message of
    /// metalens.
    pub(crate) async fn metalens(
        &self,
        activity: String,
        arguments: Vec<OsString>,
        accepted: &[i32],
    ) -> Result<Finished, ToolProblem> {
        self.run(ChildCommand {
            activity,
            arguments,
            most_lines: None,
            ending: Ending::Terminate,
        })
        .await
        .and_then(|finished| check(finished, accepted))
    }

    /// Runs metalens for the first lines of its output.
    pub(super) async fn first_lines(
        &self,
        activity: String,
        arguments: Vec<OsString>,
        lines: usize,
    ) -> Result<Finished, ToolProblem> {
        self.run(ChildCommand {
            activity,
            arguments,
            most_lines: Some(lines),
            ending: Ending::Terminate,
        })
        .await
        .and_then(|finished| check(finished, &[]))
    }

    /// Runs metalens until it ends, or the client cancels the call.
    pub(super) async fn run(&self, command: ChildCommand) -> Result<Finished, ToolProblem> {
        self.roots.refuse_settings_outside()?;
        let token = self.context.meta.get_progress_token();
        let canceled = self.context.ct.cancelled();
        self.children
            .run(command, canceled, |seconds: f64, message: &str| {
                let Some(token) = &token else {
                    return;
                };
                // The total duration is unknown.
                let param = ProgressNotificationParam::new(token.clone(), seconds)
                    .with_message(format!("{message} ({seconds:.0} s)"));
                let peer = self.context.peer.clone();
                // A client that has left, or reads slowly, must not delay the call.
                tokio::spawn(async move { peer.notify_progress(param).await });
            })
            .await
    }
}

/// Turns a failed process into a problem with the message of the process.
pub(super) fn check(finished: Finished, accepted: &[i32]) -> Result<Finished, ToolProblem> {
    match finished.code {
        Some(0) => Ok(finished),
        // A code may be of a result or of an error, which has no output.
        Some(code) if accepted.contains(&code) && !finished.stdout.is_empty() => Ok(finished),
        code => {
            let messages = finished.messages.trim();
            let (error, hint) = match messages.split_once("\nhint: ") {
                Some((error, hint)) => (error, Some(hint.to_owned())),
                None => (messages, None),
            };
            let error = error.strip_prefix("error: ").unwrap_or(error);
            let why = match (error.is_empty(), code) {
                (false, _) => error.to_owned(),
                (true, Some(code)) => format!("metalens ended with exit code {code}"),
                (true, None) => "a signal ended metalens".to_owned(),
            };
            let problem = ToolProblem::new(why);
            Err(match hint {
                Some(hint) => problem.hint(hint),
                None => problem,
            })
        }
    }
}

/// Returns the last part of a path, for progress.
pub(super) fn name(path: &OsString) -> String {
    let name = Path::new(path).file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
