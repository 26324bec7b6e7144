//! Checks whether macOS allows the program to be traced.

use std::path::Path;

use metalens_xctrace::FoundProgram;

use crate::check::Check;
use crate::command::{CommandOutput, CommandRunner};
use crate::facts::MacFacts;
use crate::guarded::{WAY_OUT, guarded};
use crate::planned_recording::PlannedRecording;

/// Returns the checks of the program to record, if one was named.
pub(super) fn all(
    runner: &dyn CommandRunner,
    planned: &PlannedRecording<'_>,
    machine: &MacFacts,
) -> Vec<Check> {
    match &planned.program {
        None => Vec::new(),
        Some(Err(why)) => {
            vec![Check::problem("program", why.clone()).remedy("give the path of a program", &[])]
        }
        Some(Ok(program)) => {
            let protection = protection(program);
            let place = place(planned, program);
            // Apple signs the programs that macOS protects: nobody else can sign them again.
            if program.doubt.is_some() {
                return vec![protection, place];
            }
            vec![
                protection,
                place,
                architecture(runner, &program.path, machine),
                signature(runner, &program.path),
            ]
        }
    }
}

/// Warns about a program for Intel on Apple silicon, which runs through Rosetta.
fn architecture(runner: &dyn CommandRunner, path: &Path, machine: &MacFacts) -> Check {
    let id = "architecture";
    let is_apple = machine
        .chip
        .value
        .as_ref()
        .is_some_and(|chip| chip.starts_with("Apple"));
    let answer = runner.run("/usr/bin/file", &["-bL", &path.to_string_lossy()]);
    let text = answer.text();
    if answer.code() != Some(0) || text.trim().is_empty() {
        return Check::unknown(id, Some(&answer.summary()));
    }

    if is_apple && text.contains("x86_64") && !text.contains("arm64") {
        return Check::warning(
            id,
            "the program is for Intel: it runs through Rosetta, so its CPU times are those of \
             translated code",
        )
        .remedy("record a build for Apple silicon (arm64)", &[]);
    }
    Check::ok(id, "the program needs no Rosetta")
}

/// Warns about folders in which a program that `xctrace` starts may hang.
fn place(planned: &PlannedRecording<'_>, program: &FoundProgram) -> Check {
    let id = "guarded-folder";
    let mut paths: Vec<(&str, &Path)> = vec![("the program", &program.path)];
    paths.extend(program.interpreter().map(|path| ("its interpreter", path)));
    paths.push(("the current folder", Path::new(".")));
    paths.push(("the folder of the recording", planned.folder));
    match guarded(&paths, planned.home.map(Path::new)) {
        Some(reason) => Check::warning(id, reason).remedy(WAY_OUT, &[]),
        None => Check::ok(id, "the recording uses no folder that macOS guards"),
    }
}

/// Checks whether the program is one that macOS protects.
fn protection(program: &FoundProgram) -> Check {
    let id = "program";
    match &program.doubt {
        None => Check::ok(
            id,
            format!("{} is not part of macOS", program.path.display()),
        ),
        Some(doubt) => Check::warning(id, doubt.clone()),
    }
}

/// The entitlement that allows a program with the hardened runtime to be traced.
const ENTITLEMENT: &str = "com.apple.security.get-task-allow";

/// Asks for the code signature of a program, with its entitlements.
fn codesign(runner: &dyn CommandRunner, program: &Path) -> CommandOutput {
    let shown = program.to_string_lossy();
    let arguments = ["-d", "--verbose=4", "--entitlements", "-", &shown];
    runner.run("/usr/bin/codesign", &arguments)
}

/// Checks that the code signature allows tracing.
fn signature(runner: &dyn CommandRunner, path: &Path) -> Check {
    let id = "signature";
    let shown = path.to_string_lossy();
    let answer = codesign(runner, path);
    let text = answer.text();
    if text.contains("is not signed at all") {
        return unsigned(path);
    }
    let signed = match &answer {
        CommandOutput::Exited { code: Some(0), .. } => CodeSignature::parse(&text),
        _ => None,
    };
    let Some(signed) = signed else {
        return Check::unknown(id, Some(&answer.summary()));
    };

    if signed.is_restricted {
        return Check::problem(
            id,
            "the program is marked restricted: macOS does not allow tracing it",
        )
        .remedy("record a build of your own", &[]);
    }
    if signed.may_be_traced {
        return Check::ok(id, "the program allows tracing (get-task-allow)");
    }
    if !signed.is_hardened {
        return Check::ok(id, "the program does not have the hardened runtime");
    }

    let found = "the program has the hardened runtime without get-task-allow: macOS may refuse to \
                trace it";
    let commands = sign_again(&shown, signed.has_entitlements);
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let what = "sign the program again (use a copy if it is not your own)";
    Check::warning(id, found).remedy(what, &commands)
}

/// Entitlements without which a program with the hardened runtime takes in no library of others.
const LETS_LIBRARIES_IN: [&str; 2] = [
    "com.apple.security.cs.allow-dyld-environment-variables",
    "com.apple.security.cs.disable-library-validation",
];

/// Returns why the signature of a program keeps macOS from loading a library into it, with the way out;
/// `None` if it does not.
pub fn refuses_libraries(runner: &dyn CommandRunner, program: &Path) -> Option<String> {
    let shown = program.display();
    let text = codesign(runner, program).text();
    let signed = CodeSignature::parse(&text)?;
    let lets_in = LETS_LIBRARIES_IN.iter().all(|name| text.contains(name));
    (signed.is_restricted || signed.is_hardened && !lets_in).then(|| {
        format!(
            "macOS loads no library into {shown}, because it has the hardened runtime: sign a copy of it \
             (`codesign --force --sign - COPY`) and record that, or use --recorder xctrace"
        )
    })
}

/// Returns the check of a program without a signature, such as a script or a program that a
/// linker made on Intel.
fn unsigned(path: &Path) -> Check {
    let found = format!(
        "{} is not signed, so its signature does not forbid tracing",
        path.display()
    );
    Check::ok("signature", found)
}

/// The code signature of a program, as `codesign` describes it.
struct CodeSignature {
    is_hardened: bool,
    is_restricted: bool,
    may_be_traced: bool,
    has_entitlements: bool,
}

impl CodeSignature {
    /// Parses `flags=0x10000(runtime)`, and entitlements as XML or as `[Key] … [Bool] true`.
    fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once(" flags=0x")?;
        let flags = rest.split_whitespace().next()?;
        let names = flags.split_once('(').map_or("", |(_, names)| names);
        let names: Vec<&str> = names.trim_end_matches(')').split(',').collect();
        let rest = text.split_once(ENTITLEMENT).map(|(_, value)| value);
        let next_key = |value: &&str| value.find("[Key]").or_else(|| value.find("<key>"));
        let entitlement = rest.map(|value| match next_key(&value) {
            Some(end) => value.get(..end).unwrap_or(value),
            None => value,
        });
        Some(Self {
            is_hardened: names.contains(&"runtime"),
            is_restricted: names.contains(&"restrict"),
            may_be_traced: entitlement
                .is_some_and(|value| value.contains("<true/>") || value.contains("[Bool] true")),
            has_entitlements: text.contains("[Key]") || text.contains("<key>"),
        })
    }
}

/// Returns the commands that sign a program so that it can be traced, and keep its other
/// entitlements. `PlistBuddy` makes a file that does not exist.
fn sign_again(path: &str, has_entitlements: bool) -> Vec<String> {
    let path = format!("'{}'", path.replace('\'', r"'\''"));
    let name = "trace.entitlements";
    let keep = format!("codesign -d --xml --entitlements {name} {path}");
    let add = format!("/usr/libexec/PlistBuddy -c 'Add :{ENTITLEMENT} bool true' {name}");
    let sign = format!("codesign --force --sign - --entitlements {name} {path}");
    let keep = has_entitlements.then_some(keep);
    keep.into_iter().chain([add, sign]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CheckVerdict;

    struct Codesign(CommandOutput);

    impl CommandRunner for Codesign {
        fn run(&self, _: &str, _: &[&str]) -> CommandOutput {
            self.0.clone()
        }
    }

    const HARDENED: &str = "Executable=/a/bench\nIdentifier=bench\nCodeDirectory v=20500 size=500 flags=0x10000(runtime) hashes=5+7 location=embedded\nAuthority=Developer ID Application\n";
    const LINKER: &str = "Executable=/a/bench\nCodeDirectory v=20400 size=500 flags=0x20002(adhoc,linker-signed) hashes=5+0 location=embedded\nSignature=adhoc\n";

    fn checked(code: i32, out: &str, err: &str) -> Check {
        let answer = CommandOutput::Exited {
            code: Some(code),
            out: out.to_owned(),
            err: err.to_owned(),
        };
        signature(&Codesign(answer), Path::new("/a/it's"))
    }

    #[test]
    fn signatures_decide_whether_a_program_can_be_traced() {
        let check = |code: i32, out: &str, err: &str, expected: CheckVerdict| {
            assert_eq!(checked(code, out, err).verdict, expected, "{out} {err}");
        };
        let xml = |key: &str, value: &str| {
            format!("<dict><key>{key}</key>{value}<key>x</key><true/></dict>")
        };

        let words = |value: &str| {
            format!(
                "[Dict]\n\t[Key] {ENTITLEMENT}\n\t[Value]\n\t\t[Bool] {value}\n\t[Key] x\n\t[Value]\n\t\t[Bool] true\n"
            )
        };

        check(0, "", LINKER, CheckVerdict::Ok);
        check(0, "", HARDENED, CheckVerdict::Warning);
        check(0, &xml(ENTITLEMENT, "<true/>"), HARDENED, CheckVerdict::Ok);
        check(
            0,
            &xml(ENTITLEMENT, "<false/>"),
            HARDENED,
            CheckVerdict::Warning,
        );
        check(0, &xml("y", "<true/>"), HARDENED, CheckVerdict::Warning);
        check(0, &words("true"), HARDENED, CheckVerdict::Ok);
        check(0, &words("false"), HARDENED, CheckVerdict::Warning);
        let restricted = HARDENED.replace("0x10000(runtime)", "0x10800(restrict,runtime)");
        check(0, "", &restricted, CheckVerdict::Problem);
        check(
            0,
            "",
            &LINKER.replace("0x20002(adhoc,linker-signed)", "0x0(none)"),
            CheckVerdict::Ok,
        );
        check(
            1,
            "",
            "/a/it's: code object is not signed at all\n",
            CheckVerdict::Ok,
        );
        check(
            1,
            "",
            "/a/it's: No such file or directory\n",
            CheckVerdict::Unknown,
        );
        check(0, "", "something new", CheckVerdict::Unknown);
    }

    #[test]
    fn entitlements_are_kept_when_signing() {
        let bare = checked(0, "", HARDENED).remedy.unwrap();
        assert_eq!(
            bare.commands,
            [
                "/usr/libexec/PlistBuddy -c 'Add :com.apple.security.get-task-allow bool true' trace.entitlements",
                r"codesign --force --sign - --entitlements trace.entitlements '/a/it'\''s'"
            ]
        );
        let more = checked(0, "<dict><key>y</key><true/></dict>", HARDENED)
            .remedy
            .unwrap();
        assert_eq!(more.commands.len(), 3);
        assert!(more.commands[0].contains("-d --xml"));
        assert_eq!(more.commands[1..], bare.commands);
    }

    #[test]
    fn hardened_programs_take_in_no_library_without_their_entitlements() {
        let check = |text: &str, is_refused: bool| {
            let codesign = Codesign(CommandOutput::Exited {
                code: Some(0),
                out: String::new(),
                err: text.to_owned(),
            });
            let why = refuses_libraries(&codesign, Path::new("/a/bench"));
            assert_eq!(why.is_some(), is_refused, "{text}: {why:?}");
        };
        let [environment, validation] = LETS_LIBRARIES_IN;
        let entitled = |names: &[&str]| {
            let keys = names.iter().map(|name| format!("<key>{name}</key><true/>"));
            format!("{HARDENED}<dict>{}</dict>", keys.collect::<String>())
        };
        check(LINKER, false);
        check(HARDENED, true);
        check(&entitled(&[environment]), true);
        check(&entitled(&[environment, validation]), false);
        check(
            &HARDENED.replace("0x10000(runtime)", "0x800(restrict)"),
            true,
        );
        check("code object is not signed at all", false);
    }
}
