//! Builds the arguments of `xctrace record`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Length;
use crate::error::{Error, Result, require};
use crate::version::{Feature, Version};

/// A recording to make with `xctrace record`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The template to record with.
    pub template: Template,
    /// Instruments to add to those of the template.
    pub instruments: Vec<String>,
    /// The bundle to write.
    pub output: PathBuf,
    /// Length after which the recording stops, if there is a limit.
    pub time_limit: Option<Length>,
    /// Length of the last part of the recording to keep; None keeps everything.
    pub window: Option<Length>,
    /// The Darwin notification to post when recording has begun.
    pub tracing_started: Option<String>,
    /// The processes to record.
    pub target: Target,
}

/// A template to record with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Template {
    /// A template that `xctrace list templates` prints.
    Named(String),
    /// A `.tracetemplate` file.
    File(PathBuf),
}

/// The processes to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// All processes on the machine.
    AllProcesses,
    /// A running process, by its name or process id.
    Attach(String),
    /// A program that `xctrace` starts.
    Launch(Launch),
}

/// A program that `xctrace` starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Arguments of the program.
    pub arguments: Vec<OsString>,
    /// Environment variables to set for the program.
    pub environment: Vec<(OsString, OsString)>,
    /// True if the program reads the standard input of `xctrace`.
    pub reads_stdin: bool,
    /// File for the standard output of the program; None leaves it to `xctrace`.
    pub stdout: Option<PathBuf>,
}

impl Record {
    /// Returns a recording with the template alone: without a limit.
    #[must_use]
    pub fn new(template: Template, output: PathBuf, target: Target) -> Self {
        Self {
            template,
            instruments: Vec::new(),
            output,
            time_limit: None,
            window: None,
            tracing_started: None,
            target,
        }
    }

    /// Returns the arguments of `xctrace`. The program comes last, since everything after `--`
    /// belongs to it.
    ///
    /// # Errors
    ///
    /// Fails if this version lacks an option, or the request cannot be expressed in arguments.
    pub fn arguments(&self, version: &Version) -> Result<Vec<OsString>> {
        self.check(version)?;
        let mut arguments = Arguments::new("record");
        match &self.template {
            Template::Named(name) => arguments.pair("--template", name),
            Template::File(path) => arguments.pair("--template", path),
        }

        for instrument in &self.instruments {
            arguments.pair("--instrument", instrument);
        }
        arguments.pair("--output", &self.output);
        if let Some(limit) = self.time_limit {
            arguments.pair("--time-limit", limit.to_string());
        }

        if let Some(window) = self.window {
            arguments.pair("--window", window.to_string());
        }
        if let Some(name) = &self.tracing_started {
            arguments.pair("--notify-tracing-started", name);
        }
        if version.has(Feature::NoPromptAndWindow) {
            // Without this option some templates wait for Enter.
            arguments.push("--no-prompt");
        }

        arguments.target(&self.target);
        Ok(arguments.0)
    }

    /// Checks the request, and that the version has all features that it needs.
    fn check(&self, version: &Version) -> Result<()> {
        let needs = [
            (
                self.window.is_some(),
                "--window",
                Feature::NoPromptAndWindow,
            ),
            (
                !self.instruments.is_empty(),
                "--instrument",
                Feature::Instruments,
            ),
            (
                self.tracing_started.is_some(),
                "--notify-tracing-started",
                Feature::TracingStarted,
            ),
        ];

        for (is_asked, option, feature) in needs {
            if is_asked {
                require(version, feature, option)?;
            }
        }

        match &self.target {
            Target::Launch(launch) => launch.check(),
            Target::Attach(process) if process.is_empty() => Err(Error::Request(
                "--attach needs a process name or process id".to_owned(),
            )),
            Target::Attach(_) | Target::AllProcesses => Ok(()),
        }
    }
}

impl Launch {
    /// Checks the path of the program and the names of the variables.
    fn check(&self) -> Result<()> {
        if !self.program.is_absolute() {
            let path = self.program.display();
            return Err(Error::Request(format!("{path} is not an absolute path")));
        }

        let is_invalid =
            |name: &OsString| name.is_empty() || name.as_encoded_bytes().contains(&b'=');
        match self.environment.iter().find(|(name, _)| is_invalid(name)) {
            Some((name, _)) => {
                let name = name.display();
                Err(Error::Request(format!(
                    "`{name}` is not a valid name of an environment variable"
                )))
            }
            None => Ok(()),
        }
    }
}

/// The arguments of `xctrace` while they are built.
struct Arguments(Vec<OsString>);

impl Arguments {
    fn new(command: &str) -> Self {
        Self(vec![command.into()])
    }

    fn push(&mut self, argument: impl Into<OsString>) {
        self.0.push(argument.into());
    }

    fn pair(&mut self, option: &str, value: impl AsRef<std::ffi::OsStr>) {
        self.push(option);
        self.push(value.as_ref());
    }

    fn target(&mut self, target: &Target) {
        match target {
            Target::AllProcesses => self.push("--all-processes"),
            Target::Attach(process) => self.pair("--attach", process),
            Target::Launch(launch) => self.launch(launch),
        }
    }

    /// Adds the arguments of a launch. `--launch` must come last.
    fn launch(&mut self, launch: &Launch) {
        for (name, value) in &launch.environment {
            let mut both = name.clone();
            both.push("=");
            both.push(value);
            self.pair("--env", both);
        }
        if launch.reads_stdin {
            self.pair("--target-stdin", "-");
        }
        if let Some(file) = &launch.stdout {
            self.pair("--target-stdout", file);
        }
        self.push("--launch");
        self.push("--");
        self.push(&launch.program);
        self.0.extend(launch.arguments.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(target: Target) -> Record {
        let template = Template::Named("Metal System Trace".to_owned());
        Record::new(template, "/o/a b.trace".into(), target)
    }

    fn launch() -> Launch {
        Launch {
            program: "/bin/bench".into(),
            arguments: vec!["--time-limit".into(), "x y".into()],
            environment: Vec::new(),
            reads_stdin: false,
            stdout: None,
        }
    }

    fn version(build: &str) -> Version {
        Version {
            dotted: "1.0".to_owned(),
            build: build.to_owned(),
        }
    }

    fn check(record: &Record, build: &str, expected: Result<&str, &str>) {
        let found = record.arguments(&version(build));
        let found = found
            .map(|arguments| arguments.join("|".as_ref()).display().to_string())
            .map_err(|error| error.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn common_requests_have_their_arguments() {
        let start = "record|--template|Metal System Trace|--output|/o/a b.trace|--no-prompt|";
        let expected = format!("{start}--launch|--|/bin/bench|--time-limit|x y");
        check(&plain(Target::Launch(launch())), "17C529", Ok(&expected));
        let expected = format!("{start}--all-processes");
        check(&plain(Target::AllProcesses), "17C529", Ok(&expected));
        let expected = format!("{start}--attach|4711");
        check(
            &plain(Target::Attach("4711".to_owned())),
            "17C529",
            Ok(&expected),
        );
    }

    #[test]
    fn every_option_has_its_argument() {
        let record = Record {
            template: Template::File("/t/x.tracetemplate".into()),
            instruments: vec!["Time Profiler".to_owned(), "GPU".to_owned()],
            time_limit: Length::from_nanoseconds(2_500_000_000),
            window: Length::from_nanoseconds(3_000_000_000),
            tracing_started: Some("a.b".to_owned()),
            ..plain(Target::Launch(Launch {
                environment: vec![("A".into(), "b=c d".into())],
                reads_stdin: true,
                stdout: Some("/o/out".into()),
                ..launch()
            }))
        };

        let expected = "record|--template|/t/x.tracetemplate|--instrument|Time Profiler|--instrument|GPU|--output|/o/a b.trace|--time-limit|2500ms|--window|3s|--notify-tracing-started|a.b|--no-prompt|--env|A=b=c d|--target-stdin|-|--target-stdout|/o/out|--launch|--|/bin/bench|--time-limit|x y";
        check(&record, "17C529", Ok(expected));
        let old = "--instrument needs Xcode 14.0 or later; this is xctrace 1.0 (13E113)";
        check(&record, "13E113", Err(old));
    }

    #[test]
    fn old_versions_get_no_unknown_options() {
        let expected = "record|--template|Metal System Trace|--output|/o/a b.trace|--all-processes";
        check(&plain(Target::AllProcesses), "12A7209", Ok(expected));
    }

    #[test]
    fn invalid_requests_are_refused() {
        let relative = Launch {
            program: "bench".into(),
            ..launch()
        };
        check(
            &plain(Target::Launch(relative)),
            "17C529",
            Err("bench is not an absolute path"),
        );
        let odd = Launch {
            environment: vec![("A=".into(), "b".into())],
            ..launch()
        };

        let expected = "`A=` is not a valid name of an environment variable";
        check(&plain(Target::Launch(odd)), "17C529", Err(expected));
        let expected = "--attach needs a process name or process id";
        check(
            &plain(Target::Attach(String::new())),
            "17C529",
            Err(expected),
        );
    }
}
