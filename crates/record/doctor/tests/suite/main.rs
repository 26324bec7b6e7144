//! Tests the verdicts on Macs in all conditions, given the output of their programs. The output
//! is as others published it, not recorded on a Mac.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    reason = "a panic is the failure report, in the helpers too"
)]

mod mac;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use metalens_doctor::{
    CheckVerdict, Condition, Diagnosis, Disk, MacFacts, PlannedRecording, ThermalPressure,
    diagnose, preflight,
};
use metalens_xctrace::FoundProgram;
use metalens_xctrace::{Error, Tool};

use mac::{Mac, exited};

/// Returns an `xctrace` made of a shell script.
fn xctrace(script: &str) -> Tool {
    let before: Vec<OsString> = vec!["-c".into(), script.into(), "sh".into()];
    Tool {
        before,
        ..Tool::at("/bin/sh".into())
    }
}

const GOOD: &str = "case $1 in version) echo 'xctrace version 26.0 (17C529)';; \
                    list) echo '== Standard Templates =='; echo 'Metal System Trace';; esac";

fn planned(folder: &Path) -> PlannedRecording<'_> {
    PlannedRecording {
        folder,
        temporary: None,
        template: "Metal System Trace",
        time_limit: Some(Duration::from_millis(1)),
        program: None,
        home: Some("/Users/ada"),
    }
}

/// Returns all checks with a verdict other than ok.
fn troubles(diagnosis: &Diagnosis) -> Vec<(&str, CheckVerdict)> {
    let all = diagnosis.checks.iter();
    let troubles = all.filter(|check| check.verdict != CheckVerdict::Ok);
    troubles
        .map(|check| (check.id.as_str(), check.verdict))
        .collect()
}

fn check(
    mac: &Mac,
    tool: Result<Tool, Error>,
    change: impl FnOnce(&mut PlannedRecording<'_>),
    expected: &[(&str, CheckVerdict)],
) {
    let folder = tempfile::tempdir().unwrap();
    let mut planned = planned(folder.path());
    change(&mut planned);
    let diagnosis = diagnose(mac, &planned, tool);
    assert_eq!(troubles(&diagnosis), expected, "{:#?}", diagnosis.checks);
    let has_problem = expected
        .iter()
        .any(|(_, verdict)| *verdict == CheckVerdict::Problem);
    assert_eq!(diagnosis.can_record, !has_problem);
    for check in &diagnosis.checks {
        // A problem of the program contains its own advice.
        let needs_remedy = check.verdict == CheckVerdict::Problem && check.id != "program";
        assert!(
            !needs_remedy || check.remedy.is_some(),
            "no remedy: {check:?}"
        );
    }
}

fn good() -> Result<Tool, Error> {
    Ok(xctrace(GOOD))
}

#[test]
fn a_healthy_mac_has_no_problems() {
    check(&Mac::laptop(), good(), |_| {}, &[]);
}

#[test]
fn command_line_tools_are_not_enough() {
    let error = "xcode-select: error: tool 'xcodebuild' requires Xcode, but active developer directory \
                '/Library/Developer/CommandLineTools' is a command line tools instance\n";
    let mac = Mac::laptop()
        .with(
            "xcode-select -p",
            exited(0, "/Library/Developer/CommandLineTools\n"),
        )
        .with("xcodebuild -version", exited(1, error))
        .with("xcodebuild -license check", exited(1, error))
        .with("xcodebuild -checkFirstLaunchStatus", exited(1, error));
    let tool = Err(Error::NoXcode {
        output: "xcrun: error: unable to find utility \"xctrace\"".to_owned(),
    });
    let expected = [
        ("xcode", CheckVerdict::Problem),
        ("license", CheckVerdict::NotApplicable),
        ("first-launch", CheckVerdict::NotApplicable),
        ("xctrace", CheckVerdict::Problem),
        ("template", CheckVerdict::NotApplicable),
    ];
    check(&mac, tool, |_| {}, &expected);
}

#[test]
fn an_xcode_that_was_never_opened_is_a_problem() {
    let mac = Mac::laptop()
        .with(
            "xcodebuild -license check",
            exited(69, "You have not agreed to the Xcode license agreements.\n"),
        )
        .with("xcodebuild -checkFirstLaunchStatus", exited(69, ""));

    let refuses =
        xctrace("echo 'You have not agreed to the Xcode license agreements.' >&2; exit 69");
    let expected = [
        ("license", CheckVerdict::Problem),
        ("first-launch", CheckVerdict::Warning),
        ("xctrace", CheckVerdict::Problem),
        ("template", CheckVerdict::NotApplicable),
    ];

    check(&mac, Ok(refuses), |_| {}, &expected);
    // If xctrace starts, neither is a problem.
    let expected = [
        ("license", CheckVerdict::Warning),
        ("first-launch", CheckVerdict::Warning),
    ];
    check(&mac, good(), |_| {}, &expected);
}

#[test]
fn a_missing_template_is_a_problem() {
    let mac = Mac::laptop();
    // An empty list in all attempts does not prove that there are no templates.
    let silent = xctrace("[ $1 = version ] && echo 'xctrace version 26.0 (17C529)'; true");
    check(
        &mac,
        Ok(silent),
        |_| {},
        &[("template", CheckVerdict::Unknown)],
    );
    let other = |planned: &mut PlannedRecording<'_>| planned.template = "Mettle System Trace";
    check(&mac, good(), other, &[("template", CheckVerdict::Problem)]);
    let file = |planned: &mut PlannedRecording<'_>| planned.template = "/no/such.tracetemplate";
    let folder = tempfile::tempdir().unwrap();
    let mut absent = planned(folder.path());
    file(&mut absent);
    let diagnosis = diagnose(&mac, &absent, good());
    assert_eq!(troubles(&diagnosis), [("template", CheckVerdict::Problem)]);
}

#[test]
fn missing_rights_are_warnings() {
    let mac = Mac::laptop().with(
        "DevToolsSecurity -status",
        exited(0, "Developer mode is currently disabled.\n"),
    );
    let expected = [("developer-mode", CheckVerdict::Warning)];
    check(&mac, good(), |_| {}, &expected);
}

#[test]
fn a_hot_mac_on_battery_that_records_has_warnings() {
    let mac = Mac::laptop()
        .with(
            "pmset -g batt",
            exited(0, "Now drawing from 'Battery Power'\n"),
        )
        .with("pmset -g", exited(0, " lowpowermode         1\n"))
        .with(
            "notifyutil",
            exited(0, "com.apple.system.thermalpressurelevel 2\n"),
        )
        .with(
            "ps",
            exited(
                0,
                "  12 /usr/bin/ktrace\n  13 /Applications/Xcode.app/x/Instruments\n",
            ),
        );

    let expected = [
        ("recorders", CheckVerdict::Warning),
        ("power", CheckVerdict::Warning),
        ("thermal", CheckVerdict::Warning),
    ];
    check(&mac, good(), |_| {}, &expected);

    // Instruments that is open and idle does not disturb a recording.
    let mac = Mac::laptop().with(
        "ps",
        exited(0, "  13 /Applications/Xcode.app/x/Instruments\n"),
    );
    check(&mac, good(), |_| {}, &[]);
}

#[test]
fn translated_programs_are_found() {
    let intel = "Mach-O 64-bit executable x86_64\n";
    let mac = Mac::laptop()
        .with(
            "codesign",
            exited(1, "/a/bench: code object is not signed at all\n"),
        )
        .with("file -b", exited(0, intel));
    let bench = |planned: &mut PlannedRecording<'_>| {
        planned.program = Some(Ok(FoundProgram {
            path: PathBuf::from("/a/bench"),
            first_line: Vec::new(),
            doubt: None,
        }));
    };
    let expected = [("architecture", CheckVerdict::Warning)];
    check(&mac, good(), bench, &expected);
    let both = "Mach-O universal binary with 2 architectures: [x86_64] [arm64]\n";
    let mac = mac.with("file -b", exited(0, both));
    check(&mac, good(), bench, &[]);
}

/// Without any answers, recording is not ruled out, and no check claims to be ok.
#[test]
fn without_answers_the_verdicts_are_unknown() {
    let mac = Mac(BTreeMap::new());
    let folder = tempfile::tempdir().unwrap();
    let diagnosis = diagnose(&mac, &planned(folder.path()), good());
    let fine = diagnosis
        .checks
        .iter()
        .filter(|check| check.verdict == CheckVerdict::Ok);
    let fine: Vec<&str> = fine.map(|check| check.id.as_str()).collect();
    assert_eq!(fine, ["xctrace", "template", "disk"]);
    assert!(diagnosis.can_record);
}

#[test]
fn protected_and_hardened_programs_are_found() {
    let mac = Mac::laptop().with(
        "codesign -d --verbose=4 --entitlements -",
        exited(
            0,
            "CodeDirectory v=20500 size=1 flags=0x10000(runtime) hashes=1\n",
        ),
    );

    let target = |doubt: Option<&str>| {
        let found = FoundProgram {
            path: PathBuf::from("/a/bench"),
            first_line: Vec::new(),
            doubt: doubt.map(str::to_owned),
        };
        move |planned: &mut PlannedRecording<'_>| planned.program = Some(Ok(found))
    };

    check(
        &mac,
        good(),
        target(None),
        &[("signature", CheckVerdict::Warning)],
    );
    check(
        &mac,
        good(),
        target(Some("it is macOS's")),
        &[("program", CheckVerdict::Warning)],
    );
    let absent = |planned: &mut PlannedRecording<'_>| {
        planned.program = Some(Err("bnech was not found in PATH".to_owned()));
    };
    check(&mac, good(), absent, &[("program", CheckVerdict::Problem)]);
}

#[test]
fn preflight_returns_warnings_before_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::gather(&Mac::laptop(), folder.path(), None);
    let warnings = |mac: &Mac| {
        preflight(
            &Condition::gather(mac),
            &disk,
            Some(Duration::from_millis(1)),
        )
    };

    assert_eq!(warnings(&Mac::laptop()), [""; 0]);
    // Unknown facts give no warning.
    assert_eq!(warnings(&Mac(BTreeMap::new())), [""; 0]);
    let mac = Mac::laptop()
        .with(
            "notifyutil",
            exited(0, "com.apple.system.thermalpressurelevel 2\n"),
        )
        .with("ps", exited(0, "  12 /usr/bin/ktrace\n"));
    assert_eq!(
        warnings(&mac),
        [
            "another recorder runs: ktrace (12); only one at a time can sample the kernel (kperf): wait until it ends, or quit it",
            "the Mac is hot: thermal pressure is heavy, and the GPU may be slower: let the Mac cool down before you measure",
        ]
    );
}

#[test]
fn facts_of_a_machine_are_gathered() {
    let machine = MacFacts::gather(&Mac::laptop());
    assert_eq!(machine.chip.value.as_deref(), Some("Apple M3 Max"));
    assert_eq!(machine.gpu_cores.value, Some(40));
    assert_eq!(machine.memory_bytes.value, Some(128 << 30));
    assert_eq!(machine.macos_build.value.as_deref(), Some("25D2128"));
    let condition = Condition::gather(&Mac::laptop());
    assert_eq!(
        condition.thermal_pressure.value,
        Some(ThermalPressure::Nominal)
    );
    assert_eq!(condition.low_power_mode.value, Some(false));

    // An older macOS does not know all names.
    let mac = Mac::laptop().with(
        "sysctl",
        exited(1, "machdep.cpu.brand_string: Intel(R) Core(TM) i9\n"),
    );
    let machine = MacFacts::gather(&mac);
    assert_eq!(machine.memory_bytes.value, None);
    let why = machine.memory_bytes.why_not.unwrap();
    assert_eq!(why, "sysctl has no such value on this Mac");
}

/// A home folder in an answer does not reach the diagnosis.
#[test]
fn the_home_folder_is_hidden() {
    let mac = Mac::laptop()
        .with(
            "xcode-select -p",
            exited(0, "/Users/ada/Xcode.app/Contents/Developer\n"),
        )
        .with(
            "codesign",
            exited(0, "CodeDirectory v=1 flags=0x10000(runtime) hashes=1\n"),
        );

    let folder = tempfile::tempdir().unwrap();
    let mut planned = planned(folder.path());
    planned.program = Some(Ok(FoundProgram {
        path: "/Users/ada/bench".into(),
        first_line: Vec::new(),
        doubt: None,
    }));
    let text = serde_json::to_string(&diagnose(&mac, &planned, good())).unwrap();
    assert!(!text.contains("/Users/ada"), "{text}");
    assert!(
        text.contains("~/Xcode.app") && text.contains("$HOME"),
        "{text}"
    );
}
