//! Requests for benchmarks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;
use metalens_analyzer::StepChoice;
use metalens_bench::{BasisChoice, BenchRequest, CommandTemplate, Hooks, Parameter, Variant};
use metalens_recorder::RecordRequest;

use super::analyzing;
use crate::analyzing::Analyzing;
use crate::args::bench::{BenchArguments, PerChoice, WorkloadWords};
use crate::args::recording::{RecorderArguments, Recorders};
use crate::args::shared::PartArguments;
use crate::exit::Misuse;
use crate::reading::Reading;

impl BenchArguments {
    /// Returns what is to be measured.
    pub(crate) fn request(&self) -> anyhow::Result<BenchRequest> {
        let mut parameters = Vec::new();
        for words in self.parameter_list.chunks(2) {
            if let [name, values] = words {
                parameters.push(Parameter::list(name, values)?);
            }
        }

        let programs = self.commands.iter().cloned().map(CommandTemplate::Program);
        let workloads = self
            .workloads
            .iter()
            .cloned()
            .map(CommandTemplate::Workload);
        Ok(BenchRequest {
            sources: programs.chain(workloads).collect(),
            names: self.names.clone(),
            parameters,
            variables: self.recorder.env.clone(),
            hooks: Hooks {
                setup: self.setup.clone(),
                prepare: self.prepare.clone(),
                cleanup: self.cleanup.clone(),
            },
        })
    }

    /// Returns how the recordings are to be analyzed.
    pub(crate) fn analyzing(&self) -> anyhow::Result<Analyzing> {
        analyzing(&self.part, &self.measure, Reading::default())
    }

    /// Returns who records.
    pub(crate) fn recorders(&self) -> anyhow::Result<Recorders> {
        match self.recorder.chosen(self.simulate)? {
            Recorders::Both => {
                let text = "bench compares runs of one recorder: --recorder xctrace or probe";
                Err(Misuse(text.to_owned()).into())
            }
            by => Ok(by),
        }
    }

    /// Returns the unit of work that was chosen.
    pub(crate) fn unit(&self) -> BasisChoice {
        match self.per {
            None => BasisChoice::Auto,
            Some(PerChoice::Run) => BasisChoice::Run,
            Some(PerChoice::Unit) => BasisChoice::Unit,
        }
    }

    /// Returns what is asked of a recording of a variant. Simulated ones differ by `seed`.
    pub(crate) fn recording_of(
        &self,
        variant: &Variant,
        output: PathBuf,
        seed: u32,
    ) -> anyhow::Result<RecordRequest> {
        let arguments = if variant.is_workload {
            let words = WorkloadWords::try_parse_from(&variant.run.words).map_err(|error| {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default();
                let why = first.trim_start_matches("error: ").to_owned();
                Misuse(format!(
                    "--workload '{}': {why}",
                    variant.run.words.join(" ")
                ))
            })?;
            self.recording(Vec::new(), Some(words))
        } else {
            self.recording(variant.run.words.iter().map(Into::into).collect(), None)
        };
        let subject = arguments.subject()?;
        Ok(RecordRequest {
            published_command: (!variant.is_workload).then(|| variant.words.clone()),
            discards_output: !self.show_output,
            environment: variant.run.variables.clone(),
            ..arguments.request_of_run(subject, output, Some(seed))?
        })
    }

    /// Returns the options that change what a run is, by name: runs with other options do not
    /// belong to the same benchmark.
    pub(crate) fn fingerprint(&self) -> BTreeMap<String, String> {
        // Without `..`: a new option has to be told apart here, unless it changes no run.
        let RecorderArguments {
            who,
            template,
            instruments,
            cpu,
            counters,
            no_signposts,
            shader_timeline,
            time_limit,
            window,
            env,
            keep_log: _,
            start_patience: _,
            save_patience: _,
        } = &self.recorder;
        let PartArguments {
            processes,
            from,
            to,
            step,
        } = &self.part;

        let time = |ns: &Option<u64>| ns.map(|ns| format!("{ns} ns"));
        let flag = |is_set: &bool| is_set.then(|| "set".to_owned());
        let list = |words: &[String]| (!words.is_empty()).then(|| words.join(", "));
        // Values may be secrets, and the file stays: only a digest is kept.
        let digest = || metalens_files::sha256(format!("{env:?}").as_bytes());
        let options = [
            ("--simulate", flag(&self.simulate)),
            (
                "--recorder",
                who.map(|who| format!("{who:?}").to_lowercase()),
            ),
            ("--template", Some(template.clone())),
            ("--instrument", list(instruments)),
            ("--cpu", flag(cpu)),
            ("--counters", flag(counters)),
            ("--no-signposts", flag(no_signposts)),
            ("--shader-timeline", flag(shader_timeline)),
            ("--time-limit", time(time_limit)),
            ("--window", time(window)),
            ("--env", (!env.is_empty()).then(digest)),
            ("--process", list(processes)),
            ("--from", time(from)),
            ("--to", time(to)),
            ("--step", step.as_ref().map(StepChoice::to_string)),
        ];
        let set = options.into_iter();
        set.filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }
}
