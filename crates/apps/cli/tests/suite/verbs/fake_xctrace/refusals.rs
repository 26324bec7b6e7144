//! Tests invalid options and settings of the fake `xctrace`, and commands that do not record.

use super::{code, folder, in_order, output, stderr, stdout, xctrace};

/// A refused `record` writes nothing.
#[test]
fn options_that_the_version_lacks_are_refused() {
    const ALL: &[&str] = &[
        "--all-processes",
        "--time-limit",
        "10ms",
        "--output",
        "out.trace",
    ];
    const OLD: &str = "VERSION=12.0 (12A7209)";
    const NEW: &str = "VERSION=27.0 (27A266a)";
    let cases: [(&str, &[&str], Option<&str>); 15] = [
        (NEW, &[], None),
        (OLD, &[], None),
        (
            OLD,
            &["--no-prompt"],
            Some("Unrecognized option: --no-prompt"),
        ),
        (
            OLD,
            &["--window", "5s"],
            Some("Unrecognized option: --window"),
        ),
        (
            "VERSION=13.2 (13C90)",
            &["--quiet"],
            Some("Unrecognized option: --quiet"),
        ),
        ("VERSION=14.0 (14A309)", &["--instrument", "GPU"], None),
        (
            "VERSION=13.4 (13F17a)",
            &["--instrument", "GPU"],
            Some("Unrecognized option: --instrument"),
        ),
        (
            NEW,
            &["--no-prompt", "--quiet", "--notify-tracing-started", "go"],
            None,
        ),
        (
            NEW,
            &["--target-stderr", "f"],
            Some("Unrecognized option: --target-stderr"),
        ),
        (
            NEW,
            &["--time-limit", "1s"],
            Some("more than once: --time-limit"),
        ),
        (
            NEW,
            &["--window", "1.5s"],
            Some("Invalid value for --window: 1.5s"),
        ),
        (NEW, &["--attach", "1"], Some("Exactly one of")),
        (NEW, &["--env", "A=b"], Some("--env is for --launch only")),
        (
            NEW,
            &["--template"],
            Some("Missing value for option: --template"),
        ),
        (NEW, &["--launch", "--"], Some("Exactly one of")),
    ];
    for (version, options, expected) in cases {
        let folder = folder();
        let arguments = [&["record"], ALL, options].concat();
        let done = output(xctrace(folder.path(), &[version], &arguments));
        match expected {
            None => assert_eq!(code(&done), 0, "{options:?}: {}", stderr(&done)),
            Some(text) => {
                assert_eq!(code(&done), 64, "{options:?}");
                assert!(
                    stderr(&done).contains(text),
                    "{options:?}: {}",
                    stderr(&done)
                );
                assert!(!folder.path().join("out.trace").exists());
            }
        }
    }
    for (name, text) in [
        ("Template", "Unable to find template"),
        ("Instrument", "cannot be found"),
    ] {
        let folder = folder();
        let option = format!("--{}", name.to_lowercase());
        let arguments = [&["record"], ALL, &[&option, "No Such"]].concat();
        let done = output(xctrace(folder.path(), &[], &arguments));
        assert_eq!(code(&done), 1, "{name}");
        assert!(stderr(&done).contains(text), "{name}: {}", stderr(&done));
    }
}

#[test]
fn the_version_and_the_templates_are_printed() {
    let cases: [(&[&str], &[&str]); 2] = [
        (&["version"], &["xctrace version 26.0 (17C529)\n"]),
        (
            &["list", "templates"],
            &[
                "== Standard Templates ==\n",
                "Allocations\n",
                "Game Performance\n",
                "Metal System Trace\n",
                "Time Profiler\n",
                "\n== Custom Templates ==\n",
            ],
        ),
    ];
    let folder = folder();
    for (arguments, expected) in cases {
        let done = output(xctrace(folder.path(), &[], arguments));
        assert_eq!(
            (code(&done), stderr(&done).as_str()),
            (0, ""),
            "{arguments:?}"
        );
        assert!(in_order(&stdout(&done), expected), "{}", stdout(&done));
    }
}

#[test]
fn invalid_settings_are_refused() {
    let folder = folder();
    for (setting, text) in [
        (
            "MISBEHAVE=silent,rudely",
            "has no misbehavior `rudely`; it has no-xcode, ",
        ),
        ("SCENARIO=none", "no built-in scenario or file `none`"),
        ("SLOW_MS=fast", "`fast` is not a number"),
        ("VERSION=26.0", "no build in the version `26.0`"),
    ] {
        let done = output(xctrace(folder.path(), &[setting], &["version"]));
        assert_eq!((code(&done), stdout(&done).as_str()), (64, ""), "{setting}");
        assert!(stderr(&done).contains(text), "{setting}: {}", stderr(&done));
    }
    let mut without_state = xctrace(folder.path(), &["MISBEHAVE=export-flaky"], &["version"]);
    without_state.env_remove("METALENS_FAKE_XCTRACE_STATE");
    assert_eq!(code(&output(without_state)), 64);
}
