//! Runs `metalens doctor`: checks whether this machine can record, and says what to do if not.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use metalens_doctor::{
    Check, CheckVerdict, Diagnosis, PlannedRecording, Remedy, SystemCommands, diagnose, elsewhere,
};
use metalens_render::terminal::style::{BAD, FAINT, GOOD, LOUD, VERDICT};
use metalens_text::columns::wrap;
use metalens_text::units::counted;
use metalens_text::{Style, shown};
use metalens_xctrace::{Tool, ToolSource, resolve};

use crate::args::recording::DoctorArguments;
use crate::{exit, out, view};

pub(crate) fn run(arguments: &DoctorArguments) -> anyhow::Result<ExitCode> {
    let source = ToolSource::from_environment();
    let diagnosis = if source.is_mac {
        diagnose_this_mac(arguments, &source)?
    } else {
        elsewhere(std::env::consts::OS)
    };

    if arguments.json {
        view::print_json(&diagnosis)?;
    } else {
        out::page().write_all(screen(&diagnosis, out::text_width()).as_bytes())?;
    }

    Ok(if diagnosis.can_record {
        ExitCode::SUCCESS
    } else {
        exit::unavailable()
    })
}

/// Checks this Mac for the recording that the arguments plan.
fn diagnose_this_mac(
    arguments: &DoctorArguments,
    source: &ToolSource,
) -> anyhow::Result<Diagnosis> {
    let here = std::env::current_dir()?;
    let path = std::env::var_os("PATH");
    let program = arguments
        .command
        .first()
        .map(|program| resolve(program, path.as_deref(), &here).map_err(|error| error.to_string()));
    let home = std::env::var("HOME").ok();
    let output = arguments
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from("x.trace"));

    let temporary = std::env::temp_dir();
    let planned = PlannedRecording {
        folder: metalens_files::parent(&output),
        temporary: Some(&temporary),
        template: &arguments.template,
        time_limit: arguments.time_limit.map(Duration::from_nanos),
        program,
        home: home.as_deref(),
    };
    Ok(diagnose(
        &SystemCommands::default(),
        &planned,
        Tool::find(source),
    ))
}

/// Width of the column with a check's name.
const NAME: usize = 18;

/// Formats a line for each check, and below those with a remedy what to do.
fn screen(diagnosis: &Diagnosis, width: usize) -> String {
    let mut text = format!("{VERDICT}{}{VERDICT:#}\n\n", verdict(diagnosis));
    for check in &diagnosis.checks {
        write_check(check, width, &mut text);
    }
    text
}

/// Says whether the machine can record, with the numbers of problems and warnings.
fn verdict(diagnosis: &Diagnosis) -> String {
    let count = |verdict: CheckVerdict| {
        let checks = diagnosis.checks.iter();
        checks.filter(|check| check.verdict == verdict).count() as u64
    };
    let warnings = |before: &str| match count(CheckVerdict::Warning) {
        0 => String::new(),
        many => format!("{before}{}", counted(many, "warning")),
    };

    match count(CheckVerdict::Problem) {
        0 => format!("This Mac can record{}.", warnings(", with ")),
        many if diagnosis.facts.is_some() => {
            format!(
                "This Mac cannot record yet: {}{}.",
                counted(many, "problem"),
                warnings(", ")
            )
        }
        _ => "This machine cannot record, but it can read recordings.".to_owned(),
    }
}

/// Formats a check, wrapped beside its name, and its remedy.
fn write_check(check: &Check, width: usize, text: &mut String) {
    let (style, mark) = match check.verdict {
        CheckVerdict::Ok => (GOOD, '✓'),
        CheckVerdict::NotApplicable => (FAINT, '·'),
        CheckVerdict::Unknown => (FAINT, '?'),
        CheckVerdict::Warning => (LOUD, '!'),
        CheckVerdict::Problem => (BAD, '✗'),
    };
    let text_style = match check.verdict {
        CheckVerdict::NotApplicable | CheckVerdict::Unknown => FAINT,
        _ => Style::NONE,
    };

    let indent = " ".repeat(NAME + 4);
    for (at, part) in wrap(&shown(&check.found), width - NAME - 4)
        .iter()
        .enumerate()
    {
        match at {
            0 => text.push_str(&format!("  {style}{mark}{style:#} {:NAME$}", check.id)),
            _ => text.push_str(&indent),
        }
        text.push_str(&format!("{text_style}{part}{text_style:#}\n"));
    }

    if let Some(remedy) = &check.remedy {
        write_remedy(remedy, width, &indent, text);
    }
}

/// Formats a remedy. Each command has a line of its own, not wrapped, so that it can be copied.
fn write_remedy(remedy: &Remedy, width: usize, indent: &str, text: &mut String) {
    for (at, part) in wrap(&shown(&remedy.what), width - NAME - 6)
        .iter()
        .enumerate()
    {
        let mark = if at == 0 { '→' } else { ' ' };
        text.push_str(&format!("{indent}{FAINT}{mark}{FAINT:#} {part}\n"));
    }

    for command in &remedy.commands {
        text.push_str(&format!(
            "{indent}  {VERDICT}{}{VERDICT:#}\n",
            shown(command)
        ));
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::path::Path;

    use metalens_doctor::{CommandOutput, CommandRunner};

    use super::*;

    /// A laptop without problems, but for these answers: start of the command line, exit code and
    /// output.
    struct Mac(&'static [(&'static str, i32, &'static str)]);

    const LAPTOP: &[(&str, i32, &str)] = &[
        (
            "sysctl",
            0,
            "machdep.cpu.brand_string: Apple M3 Max\nhw.model: Mac15,9\nkern.hv_vmm_present: 0\n",
        ),
        ("file -b", 0, "Mach-O 64-bit executable arm64\n"),
        (
            "sw_vers",
            0,
            "ProductVersion:\t\t26.3.1\nBuildVersion:\t\t25D2128\n",
        ),
        (
            "xcode-select",
            0,
            "/Applications/Xcode.app/Contents/Developer\n",
        ),
        (
            "xcodebuild -version",
            0,
            "Xcode 26.3\nBuild version 17C529\n",
        ),
        ("xcodebuild -", 0, ""),
        (
            "DevToolsSecurity",
            0,
            "Developer mode is currently enabled.\n",
        ),
        ("pmset -g batt", 0, "Now drawing from 'AC Power'\n"),
        ("pmset -g", 0, " lowpowermode         0\n"),
        ("notifyutil", 0, "com.apple.system.thermalpressurelevel 0\n"),
        ("ps", 0, "    1 /sbin/launchd\n"),
        (
            "codesign",
            0,
            "CodeDirectory v=20500 size=1 flags=0x10000(runtime) hashes=1\n",
        ),
    ];

    const TROUBLED: &[(&str, i32, &str)] = &[
        ("xcode-select", 0, "/Library/Developer/CommandLineTools\n"),
        (
            "xcodebuild",
            1,
            "xcode-select: error: tool 'xcodebuild' requires Xcode, but active developer directory '/Library/Developer/CommandLineTools' is a command line tools instance\n",
        ),
        (
            "DevToolsSecurity",
            0,
            "Developer mode is currently disabled.\n",
        ),
        ("pmset -g batt", 0, "Now drawing from 'Battery Power'\n"),
        ("pmset -g", 0, " lowpowermode         1\n"),
        ("notifyutil", 0, "com.apple.system.thermalpressurelevel 2\n"),
        ("ps", 0, "  431 /usr/bin/ktrace\n"),
    ];

    impl CommandRunner for Mac {
        fn run(&self, program: &str, arguments: &[&str]) -> CommandOutput {
            let name = program.rsplit('/').next().unwrap_or(program);
            let line = format!("{name} {}", arguments.join(" "));
            let mut all = self.0.iter().chain(LAPTOP);
            match all.find(|(start, ..)| line.starts_with(start)) {
                Some(&(_, code, out)) => CommandOutput::Exited {
                    code: Some(code),
                    out: out.to_owned(),
                    err: String::new(),
                },
                None => CommandOutput::Failed(format!("{program} did not answer within 10 s")),
            }
        }
    }

    fn shown(mac: &Mac, tool: Result<Tool, metalens_xctrace::Error>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let program = resolve("sh".as_ref(), Some("/bin".as_ref()), Path::new("/"));
        let mut program = program.unwrap();
        (program.path, program.doubt) = ("/Users/ada/bench".into(), None);

        let planned = PlannedRecording {
            folder: folder.path(),
            temporary: None,
            template: "Metal System Trace",
            time_limit: Some(Duration::ZERO),
            program: Some(Ok(program)),
            home: Some("/Users/ada"),
        };
        let text = screen(&diagnose(mac, &planned, tool), 100);
        let text = anstream::adapter::strip_str(&text).to_string();

        // Free disk space is not the same on all machines.
        let lines = text.lines().map(|line| match line.split_once("✓ disk") {
            Some((before, _)) => format!("{before}✓ disk              …"),
            None => line.to_owned(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn screens_of_a_ready_and_of_a_troubled_mac() {
        let script = "case $1 in version) echo 'xctrace version 26.0 (17C529)';; list) \
                      echo '== Standard Templates =='; echo 'Metal System Trace';; esac";
        let tool = Tool {
            before: vec!["-c".into(), script.into(), "sh".into()],
            ..Tool::at("/bin/sh".into())
        };
        insta::assert_snapshot!("doctor-good", shown(&Mac(&[]), Ok(tool)));
        let none = metalens_xctrace::Error::NoXcode {
            output:
                "xcrun: error: unable to find utility \"xctrace\", not a developer tool or in PATH"
                    .to_owned(),
        };
        insta::assert_snapshot!("doctor-troubled", shown(&Mac(TROUBLED), Err(none)));
    }
}
