//! Tests `record --cargo`, which builds a program and then records it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::{Bench, stderr, stdout};

const MANIFEST: &str =
    "[package]\nname = \"tiny\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";

fn says(name: &str) -> String {
    format!(
        "fn main() {{ println!(\"{name} {{:?}}\", std::env::args().skip(1).collect::<Vec<_>>()); }}\n"
    )
}

/// Creates a cargo project without dependencies.
fn project() -> Bench {
    let bench = Bench::new();
    let write = |name: &str, text: &str| {
        let file = bench.here().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };

    write("Cargo.toml", MANIFEST);
    write("src/main.rs", &says("main"));
    write("src/bin/other.rs", &says("other"));
    write("examples/shown.rs", &says("shown"));
    write("examples/broken.rs", "fn main() { nonsense() }");
    bench
}

fn run(bench: &Bench, cargo: &str, more: &[&str]) -> Output {
    let arguments = [&["record", "-o", "x.trace", "--cargo", cargo], more].concat();
    let mut command: Command = bench.command(&[], &arguments);
    for name in [
        "PATH",
        "HOME",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "RUSTUP_TOOLCHAIN",
    ] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("CARGO_NET_OFFLINE", "true");
    command.output().unwrap()
}

#[test]
fn the_program_that_cargo_built_is_recorded() {
    let bench = project();
    let output = run(&bench, "--example 'shown'", &["--", "--count", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "shown [\"--count\", \"3\"]\n");
    let built = Path::new("target/debug/examples/shown");
    let [asked] = bench.asked().try_into().unwrap();
    let built = format!("|--launch|--|<top>/here/{}|--count|3|", built.display());
    assert!(asked.ends_with(&built), "{asked}");
    assert_eq!(bench.report("x.trace")["process"]["name"], "shown");
    assert_eq!(bench.json("x.recording.json")["command"][0], "shown");

    // Of several programs, the user must choose one.
    let output = run(&bench, "", &["--force"]);
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("error: cargo built several programs: "),
        "{said}"
    );
    assert!(
        said.contains("tiny") && said.contains("other") && said.contains("choose one with --bin"),
        "{said}"
    );
}

#[test]
fn a_failed_build_is_an_error_and_records_nothing() {
    let bench = project();
    let check = |options: &str, cargos: &str| {
        let output = run(&bench, options, &[]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(cargos), "{said}");
        assert!(said.ends_with("error: cargo build failed\n"), "{said}");
        assert!(!bench.here().join("x.trace").exists());
    };

    check("--example broken", "nonsense");
    check("--example no-such", "no-such");

    let output = run(&bench, "--example 'shown", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
