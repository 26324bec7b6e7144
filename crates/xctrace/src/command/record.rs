//! `xctrace record`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::Length;
use crate::error::{Error, Result};
use crate::version::{Feature, Version};

/// What is to be recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What to record with.
    pub template: Template,
    /// Instruments beside those of the template.
    pub instruments: Vec<String>,
    /// The bundle to write.
    pub output: PathBuf,
    /// Whether the bundle exists and gets one more run.
    pub append_run: bool,
    /// What the run is called.
    pub run_name: Option<String>,
    /// When to stop.
    pub time_limit: Option<Length>,
    /// Keep only the last part of the recording.
    pub window: Option<Length>,
    /// A device that is not this Mac.
    pub device: Option<String>,
    /// The Darwin notification to post once recording has begun.
    pub tracing_started: Option<String>,
    /// Whom to record.
    pub target: Target,
}

/// What to record with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Template {
    /// One that `xctrace list templates` lists.
    Named(String),
    /// A `.tracetemplate`.
    File(PathBuf),
}

/// Whom to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Everyone.
    AllProcesses,
    /// One that runs: its name or number.
    Attach(String),
    /// One that is started.
    Launch(Launch),
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Its absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What is set in its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether it reads what `xctrace` is given to read.
    pub reads_stdin: bool,
    /// The file that its standard output goes to.
    pub stdout: Option<PathBuf>,
}

impl Record {
    /// The arguments. The target comes last: nothing after `--` is `xctrace`'s.
    ///
    /// # Errors
    ///
    /// If this version lacks an option, or there is no way to say it.
    pub fn arguments(&self, version: &Version) -> Result<Vec<OsString>> {
        self.check(version)?;
        let mut all = Words::of(&["record"]);
        match &self.template {
            Template::Named(name) => all.pair("--template", name),
            Template::File(path) => all.pair("--template", path),
        }
        for instrument in &self.instruments {
            all.pair("--instrument", instrument);
        }
        all.pair("--output", &self.output);
        if self.append_run {
            all.one("--append-run");
        }
        if let Some(name) = &self.run_name {
            all.pair("--run-name", name);
        }
        if let Some(limit) = self.time_limit {
            all.pair("--time-limit", limit.to_string());
        }
        if let Some(window) = self.window {
            all.pair("--window", window.to_string());
        }
        if let Some(device) = &self.device {
            all.pair("--device", device);
        }
        if let Some(name) = &self.tracing_started {
            all.pair("--notify-tracing-started", name);
        }
        if version.has(Feature::NoPromptAndWindow) {
            // Without it some templates wait for Enter.
            all.one("--no-prompt");
        }
        all.target(&self.target);
        Ok(all.0)
    }

    fn check(&self, version: &Version) -> Result<()> {
        let needs = [
            (
                self.window.is_some(),
                "--window",
                Feature::NoPromptAndWindow,
            ),
            (self.run_name.is_some(), "--run-name", Feature::RunName),
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
            if is_asked && !version.has(feature) {
                let version = version.clone();
                return Err(Error::TooOld {
                    option,
                    feature,
                    version,
                });
            }
        }
        match &self.target {
            Target::Launch(launch) => launch.check(),
            Target::Attach(whom) if whom.is_empty() => Err(Error::Request(
                "--attach needs a process's name or number".to_owned(),
            )),
            Target::Attach(_) | Target::AllProcesses => Ok(()),
        }
    }
}

impl Launch {
    fn check(&self) -> Result<()> {
        if !self.program.is_absolute() {
            let path = self.program.display();
            return Err(Error::Request(format!("{path} is no absolute path")));
        }
        let is_odd = |name: &OsString| name.is_empty() || name.as_encoded_bytes().contains(&b'=');
        match self.environment.iter().find(|(name, _)| is_odd(name)) {
            Some((name, _)) => {
                let name = name.display();
                Err(Error::Request(format!(
                    "`{name}` is no name of an environment variable"
                )))
            }
            None => Ok(()),
        }
    }
}

/// Arguments as they are put together.
struct Words(Vec<OsString>);

impl Words {
    fn of(words: &[&str]) -> Self {
        Self(words.iter().map(OsString::from).collect())
    }

    fn one(&mut self, word: impl Into<OsString>) {
        self.0.push(word.into());
    }

    fn pair(&mut self, option: &str, value: impl AsRef<std::ffi::OsStr>) {
        self.one(option);
        self.one(value.as_ref());
    }

    fn target(&mut self, target: &Target) {
        match target {
            Target::AllProcesses => self.one("--all-processes"),
            Target::Attach(whom) => self.pair("--attach", whom),
            Target::Launch(launch) => self.launch(launch),
        }
    }

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
        self.one("--launch");
        self.one("--");
        self.one(&launch.program);
        self.0.extend(launch.arguments.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(target: Target) -> Record {
        Record {
            template: Template::Named("Metal System Trace".to_owned()),
            instruments: Vec::new(),
            output: "/o/a b.trace".into(),
            append_run: false,
            run_name: None,
            time_limit: None,
            window: None,
            device: None,
            tracing_started: None,
            target,
        }
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
        let found = found.map_err(|error| error.to_string()).map(|words| {
            let words: Vec<String> = words.iter().map(|one| one.display().to_string()).collect();
            words.join("|")
        });
        assert_eq!(found.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn the_usual_ones() {
        let whole = "record|--template|Metal System Trace|--output|/o/a b.trace|--no-prompt|";
        let expected = format!("{whole}--launch|--|/bin/bench|--time-limit|x y");
        check(&plain(Target::Launch(launch())), "17C529", Ok(&expected));
        let expected = format!("{whole}--all-processes");
        check(&plain(Target::AllProcesses), "17C529", Ok(&expected));
        let expected = format!("{whole}--attach|4711");
        check(
            &plain(Target::Attach("4711".to_owned())),
            "17C529",
            Ok(&expected),
        );
    }

    #[test]
    fn every_option() {
        let record = Record {
            template: Template::File("/t/x.tracetemplate".into()),
            instruments: vec!["Time Profiler".to_owned(), "GPU".to_owned()],
            append_run: true,
            run_name: Some("before".to_owned()),
            time_limit: Length::of_nanoseconds(2_500_000_000),
            window: Length::of_nanoseconds(3_000_000_000),
            device: Some("Mac".to_owned()),
            tracing_started: Some("a.b".to_owned()),
            ..plain(Target::Launch(Launch {
                environment: vec![("A".into(), "b=c d".into())],
                reads_stdin: true,
                stdout: Some("/o/out".into()),
                ..launch()
            }))
        };
        let expected = "record|--template|/t/x.tracetemplate|--instrument|Time Profiler|--instrument|GPU|--output|/o/a b.trace|--append-run|--run-name|before|--time-limit|2500ms|--window|3s|--device|Mac|--notify-tracing-started|a.b|--no-prompt|--env|A=b=c d|--target-stdin|-|--target-stdout|/o/out|--launch|--|/bin/bench|--time-limit|x y";
        check(&record, "17C529", Ok(expected));
        let old = "--run-name needs Xcode 26.0 or newer, and this is xctrace 1.0 (16F6)";
        check(&record, "16F6", Err(old));
    }

    #[test]
    fn an_old_xcode_is_not_asked_for_what_it_lacks() {
        let expected = "record|--template|Metal System Trace|--output|/o/a b.trace|--all-processes";
        check(&plain(Target::AllProcesses), "12A7209", Ok(expected));
    }

    #[test]
    fn what_cannot_be_said() {
        let relative = Launch {
            program: "bench".into(),
            ..launch()
        };
        check(
            &plain(Target::Launch(relative)),
            "17C529",
            Err("bench is no absolute path"),
        );
        let odd = Launch {
            environment: vec![("A=".into(), "b".into())],
            ..launch()
        };
        let expected = "`A=` is no name of an environment variable";
        check(&plain(Target::Launch(odd)), "17C529", Err(expected));
        let expected = "--attach needs a process's name or number";
        check(
            &plain(Target::Attach(String::new())),
            "17C529",
            Err(expected),
        );
    }
}
