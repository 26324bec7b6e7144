//! Macs in all conditions: what their programs answer goes in, verdicts come out.
//! The answers are as others published them; no Mac was at hand.
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
    Asked, Condition, Diagnosis, Disk, Machine, ThermalPressure, Verdict, diagnose, json_schema,
    preflight,
};
use metalens_xctrace::FoundProgram;
use metalens_xctrace::{Error, Tool};

use mac::{Mac, said};

/// An `xctrace` that is a line of shell.
fn xctrace(script: &str) -> Tool {
    let before: Vec<OsString> = vec!["-c".into(), script.into(), "sh".into()];
    Tool {
        before,
        ..Tool::at("/bin/sh".into())
    }
}

const GOOD: &str = "case $1 in version) echo 'xctrace version 26.0 (17C529)';; \
                    list) echo '== Standard Templates =='; echo 'Metal System Trace';; esac";

fn asked(folder: &Path) -> Asked<'_> {
    Asked {
        folder,
        template: "Metal System Trace",
        time_limit: Some(Duration::from_millis(1)),
        program: None,
        is_root: false,
        home: Some("/Users/ada"),
    }
}

/// All that is not as it should be, but for the performance state, which is never told.
fn troubles(diagnosis: &Diagnosis) -> Vec<(&str, Verdict)> {
    let all = diagnosis.checks.iter();
    let troubles = all.filter(|one| one.verdict != Verdict::Ok && one.id != "performance-state");
    troubles.map(|one| (one.id.as_str(), one.verdict)).collect()
}

fn check(
    mac: &Mac,
    tool: Result<Tool, Error>,
    change: impl FnOnce(&mut Asked<'_>),
    expected: &[(&str, Verdict)],
) {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = asked(folder.path());
    change(&mut asked);
    let diagnosis = diagnose(mac, &asked, tool);
    assert_eq!(troubles(&diagnosis), expected, "{:#?}", diagnosis.checks);
    let has_problem = expected
        .iter()
        .any(|(_, verdict)| *verdict == Verdict::Problem);
    assert_eq!(diagnosis.can_record, !has_problem);
    for one in &diagnosis.checks {
        // What is in the way of a target says itself what to do.
        let needs = one.verdict == Verdict::Problem && one.id != "target";
        assert!(!needs || one.remedy.is_some(), "no remedy: {one:?}");
    }
}

fn good() -> Result<Tool, Error> {
    Ok(xctrace(GOOD))
}

#[test]
fn a_mac_in_good_order() {
    check(&Mac::laptop(), good(), |_| {}, &[]);
}

#[test]
fn only_the_command_line_tools() {
    let says = "xcode-select: error: tool 'xcodebuild' requires Xcode, but active developer directory \
                '/Library/Developer/CommandLineTools' is a command line tools instance\n";
    let mac = Mac::laptop()
        .with(
            "xcode-select -p",
            said(0, "/Library/Developer/CommandLineTools\n"),
        )
        .with("xcodebuild -version", said(1, says))
        .with("xcodebuild -license check", said(1, says))
        .with("xcodebuild -checkFirstLaunchStatus", said(1, says));
    let tool = Err(Error::NoXcode {
        said: "xcrun: error: unable to find utility \"xctrace\"".to_owned(),
    });
    let expected = [
        ("xcode", Verdict::Problem),
        ("licence", Verdict::NotApplicable),
        ("first-launch", Verdict::NotApplicable),
        ("xctrace", Verdict::Problem),
        ("template", Verdict::NotApplicable),
    ];
    check(&mac, tool, |_| {}, &expected);
}

#[test]
fn xcode_as_it_was_never_opened() {
    let mac = Mac::laptop()
        .with(
            "xcodebuild -license check",
            said(69, "You have not agreed to the Xcode license agreements.\n"),
        )
        .with("xcodebuild -checkFirstLaunchStatus", said(69, ""));
    let refuses =
        xctrace("echo 'You have not agreed to the Xcode license agreements.' >&2; exit 69");
    let expected = [
        ("licence", Verdict::Problem),
        ("first-launch", Verdict::Warning),
        ("xctrace", Verdict::Problem),
        ("template", Verdict::NotApplicable),
    ];
    check(&mac, Ok(refuses), |_| {}, &expected);
    // Where xctrace starts, neither is in the way.
    let expected = [
        ("licence", Verdict::Warning),
        ("first-launch", Verdict::Warning),
    ];
    check(&mac, good(), |_| {}, &expected);
}

#[test]
fn templates() {
    let mac = Mac::laptop();
    // It lists nothing however often it is asked: no proof that there are none.
    let silent = xctrace("[ $1 = version ] && echo 'xctrace version 26.0 (17C529)'; true");
    check(&mac, Ok(silent), |_| {}, &[("template", Verdict::Unknown)]);
    let other = |asked: &mut Asked<'_>| asked.template = "Mettle System Trace";
    check(&mac, good(), other, &[("template", Verdict::Problem)]);
    let file = |asked: &mut Asked<'_>| asked.template = "/no/such.tracetemplate";
    let folder = tempfile::tempdir().unwrap();
    let mut absent = asked(folder.path());
    file(&mut absent);
    let diagnosis = diagnose(&mac, &absent, good());
    assert_eq!(troubles(&diagnosis), [("template", Verdict::Problem)]);
}

#[test]
fn rights() {
    let mac = Mac::laptop()
        .with(
            "DevToolsSecurity -status",
            said(0, "Developer mode is currently disabled.\n"),
        )
        .with("id -Gn", said(0, "staff everyone\n"));
    let expected = [
        ("developer-mode", Verdict::Warning),
        ("developer-group", Verdict::Warning),
    ];
    check(&mac, good(), |_| {}, &expected);
    let root = |asked: &mut Asked<'_>| asked.is_root = true;
    let expected = [
        ("developer-group", Verdict::NotApplicable),
        ("root", Verdict::Warning),
    ];
    check(&Mac::laptop(), good(), root, &expected);
}

#[test]
fn a_busy_hot_and_tired_mac() {
    let busy = "+-o AGXDeviceUserClient\n {\n \"IOUserClientCreator\" = \"pid 7, Game\"\n \"AppUsage\" = ({\"accumulatedGPUTime\"=1})\n }\n";
    let mac = Mac::laptop()
        .with(
            "pmset -g batt",
            said(0, "Now drawing from 'Battery Power'\n"),
        )
        .with("pmset -g", said(0, " lowpowermode         1\n"))
        .with(
            "notifyutil",
            said(0, "com.apple.system.thermalpressurelevel 2\n"),
        )
        .with(
            "ps",
            said(
                0,
                "  12 /usr/bin/ktrace\n  13 /Applications/Xcode.app/x/Instruments\n",
            ),
        )
        .with("ioreg -r -l", said(0, busy));
    let expected = [
        ("recorders", Verdict::Warning),
        ("power", Verdict::Warning),
        ("thermal", Verdict::Warning),
    ];
    check(&mac, good(), |_| {}, &expected);
    // Open and idle, Instruments is in nobody's way.
    let mac = Mac::laptop().with(
        "ps",
        said(0, "  13 /Applications/Xcode.app/x/Instruments\n"),
    );
    check(&mac, good(), |_| {}, &[]);
}

/// Nothing answers: nothing is ruled out, and nothing is said to be fine.
#[test]
fn a_mac_that_says_nothing() {
    let mac = Mac(BTreeMap::new());
    let folder = tempfile::tempdir().unwrap();
    let diagnosis = diagnose(&mac, &asked(folder.path()), good());
    let fine = diagnosis
        .checks
        .iter()
        .filter(|one| one.verdict == Verdict::Ok);
    let fine: Vec<&str> = fine.map(|one| one.id.as_str()).collect();
    assert_eq!(fine, ["xctrace", "template", "root", "disk", "left-over"]);
    assert!(diagnosis.can_record);
}

#[test]
fn targets() {
    let mac = Mac::laptop().with(
        "codesign -d --verbose=4 --entitlements -",
        said(
            0,
            "CodeDirectory v=20500 size=1 flags=0x10000(runtime) hashes=1\n",
        ),
    );
    let target = |doubt: Option<&str>| {
        let found = FoundProgram {
            path: PathBuf::from("/a/bench"),
            doubt: doubt.map(str::to_owned),
        };
        move |asked: &mut Asked<'_>| asked.program = Some(Ok(found))
    };
    check(
        &mac,
        good(),
        target(None),
        &[("signature", Verdict::Warning)],
    );
    check(
        &mac,
        good(),
        target(Some("it is macOS's")),
        &[("target", Verdict::Problem)],
    );
    let off = mac.with(
        "csrutil status",
        said(0, "System Integrity Protection status: disabled.\n"),
    );
    let expected = [
        ("target", Verdict::Warning),
        ("signature", Verdict::Warning),
    ];
    check(&off, good(), target(Some("it is macOS's")), &expected);
    let absent =
        |asked: &mut Asked<'_>| asked.program = Some(Err("bnech was not found in PATH".to_owned()));
    check(&off, good(), absent, &[("target", Verdict::Problem)]);
}

#[test]
fn what_is_told_before_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::gather(folder.path());
    let told = |mac: &Mac| {
        preflight(
            &Condition::gather(mac),
            &disk,
            Some(Duration::from_millis(1)),
        )
    };
    assert_eq!(told(&Mac::laptop()), [""; 0]);
    // What cannot be told is no trouble.
    assert_eq!(told(&Mac(BTreeMap::new())), [""; 0]);
    let mac = Mac::laptop()
        .with("pmset -g therm", said(0, "\tCPU_Speed_Limit \t= 62\n"))
        .with("ps", said(0, "  12 /usr/bin/ktrace\n"));
    assert_eq!(
        told(&mac),
        [
            "ktrace (12) runs: two at a time cannot sample the kernel (kperf): let it end, or end it, if it is yours",
            "it is hot: the CPU is limited to 62 %: let it cool down before you measure",
        ]
    );
}

#[test]
fn facts_of_a_machine() {
    let machine = Machine::gather(&Mac::laptop());
    assert_eq!(machine.chip.value.as_deref(), Some("Apple M3 Max"));
    assert_eq!(machine.gpu_cores.value, Some(40));
    assert_eq!(machine.performance_cores.value, Some(12));
    assert_eq!(machine.memory_bytes.value, Some(128 << 30));
    assert_eq!(machine.macos_build.value.as_deref(), Some("25D2128"));
    let condition = Condition::gather(&Mac::laptop());
    assert_eq!(
        condition.thermal_pressure.value,
        Some(ThermalPressure::Nominal)
    );
    assert_eq!(condition.low_power_mode.value, Some(false));
    // An Intel Mac has no levels of performance.
    let mac = Mac::laptop().with(
        "sysctl",
        said(1, "machdep.cpu.brand_string: Intel(R) Core(TM) i9\n"),
    );
    let machine = Machine::gather(&mac);
    assert_eq!(machine.performance_cores.value, None);
    let why = machine.performance_cores.why_not.unwrap();
    assert_eq!(why, "this Mac has no such number");
}

/// A home folder in an answer does not get out.
#[test]
fn nobody_is_named() {
    let mac = Mac::laptop()
        .with(
            "xcode-select -p",
            said(0, "/Users/ada/Xcode.app/Contents/Developer\n"),
        )
        .with(
            "codesign",
            said(0, "CodeDirectory v=1 flags=0x10000(runtime) hashes=1\n"),
        );
    let folder = tempfile::tempdir().unwrap();
    let mut asked = asked(folder.path());
    asked.program = Some(Ok(FoundProgram {
        path: "/Users/ada/bench".into(),
        doubt: None,
    }));
    let text = serde_json::to_string(&diagnose(&mac, &asked, good())).unwrap();
    assert!(!text.contains("/Users/ada"), "{text}");
    assert!(
        text.contains("~/Xcode.app") && text.contains("$HOME"),
        "{text}"
    );
}

/// The JSON Schema that is shipped is the one the code makes.
#[test]
fn the_schema_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/doctor.schema.json");
    let schema = format!(
        "{}\n",
        serde_json::to_string_pretty(&json_schema()).unwrap()
    );
    if std::env::var_os("METALENS_BLESS").is_some() {
        std::fs::write(&file, &schema).unwrap();
    }
    let shipped = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        shipped == schema,
        "docs/doctor.schema.json is old: scripts/bless renews it"
    );
}
