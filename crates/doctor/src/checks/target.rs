//! Whether macOS lets the target be traced.

use std::path::Path;

use metalens_xctrace::FoundProgram;

use crate::ask::{Answer, Ask};
use crate::asked::Asked;
use crate::check::{Check, Remedy, TextFile, Verdict};
use crate::facts::{Protection, Rights};

pub(super) fn all(ask: &dyn Ask, asked: &Asked<'_>, rights: &Rights) -> Vec<Check> {
    match &asked.program {
        None => Vec::new(),
        Some(Err(why)) => {
            vec![Check::problem("target", why.clone()).remedy("give the path of a program", &[])]
        }
        Some(Ok(found)) => {
            let protection = protection(found, rights);
            // What macOS protects is signed by Apple: nobody can sign it anew.
            match protection.verdict {
                Verdict::Problem => vec![protection],
                _ => vec![protection, signature(ask, &found.path)],
            }
        }
    }
}

fn protection(found: &FoundProgram, rights: &Rights) -> Check {
    let id = "target";
    let path = found.path.display();
    match (&found.doubt, rights.protection.value) {
        (None, _) => Check::ok(id, format!("{path} is no part of macOS")),
        (Some(doubt), Some(Protection::Off)) => Check::warning(
            id,
            format!("System Integrity Protection is off, else: {doubt}"),
        ),
        (Some(doubt), Some(Protection::On)) => Check::problem(id, doubt.clone()),
        (Some(doubt), _) => Check::warning(id, doubt.clone()),
    }
}

/// The entitlement without which a hardened program refuses.
const ENTITLEMENT: &str = "com.apple.security.get-task-allow";
const ENTITLEMENTS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>com.apple.security.get-task-allow</key>
    <true/>
</dict>
</plist>
"#;

fn signature(ask: &dyn Ask, path: &Path) -> Check {
    let id = "signature";
    let shown = path.to_string_lossy();
    let arguments = ["-d", "--verbose=4", "--entitlements", "-", &shown];
    let answer = ask.ask("/usr/bin/codesign", &arguments);
    let text = answer.text();
    if text.contains("is not signed at all") {
        return unsigned(path);
    }
    let signed = match &answer {
        Answer::Said { code: Some(0), .. } => Signature::read(&text),
        _ => None,
    };
    let Some(signed) = signed else {
        return Check::unknown(id, Some(&answer.gist()));
    };
    match &signed {
        Signature {
            is_restricted: true,
            ..
        } => Check::problem(
            id,
            "the program is marked restricted, and macOS lets nobody trace it",
        )
        .remedy("record a build of your own", &[]),
        Signature {
            may_be_traced: true,
            ..
        } => Check::ok(id, "it allows to be traced (get-task-allow)"),
        Signature {
            is_hardened: false, ..
        } => Check::ok(id, "it is not hardened"),
        _ => {
            let found =
                "it has the hardened runtime and no get-task-allow: macOS may refuse to trace it";
            let mut check = Check::warning(id, found);
            check.remedy = Some(sign_anew(&shown, signed.has_entitlements));
            check
        }
    }
}

/// Scripts are, and so is what Intel's linkers make.
fn unsigned(path: &Path) -> Check {
    let found = format!(
        "{} is not signed: nothing in it refuses to be traced",
        path.display()
    );
    Check::ok("signature", found)
}

/// What `codesign` says of a program.
struct Signature {
    is_hardened: bool,
    is_restricted: bool,
    may_be_traced: bool,
    has_entitlements: bool,
}

impl Signature {
    /// `flags=0x10000(runtime)`, and entitlements as XML or as `[Key] … [Bool] true`.
    fn read(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once(" flags=0x")?;
        let flags = rest.split_whitespace().next()?;
        let names = flags.split_once('(').map_or("", |(_, names)| names);
        let names: Vec<&str> = names.trim_end_matches(')').split(',').collect();
        let entitlement = text.split_once(ENTITLEMENT).map(|(_, value)| value);
        let next_key = |value: &&str| value.find("[Key]").or_else(|| value.find("<key>"));
        let entitlement = entitlement.map(|value| match next_key(&value) {
            Some(end) => value.get(..end).unwrap_or(value),
            None => value,
        });
        let is_true = |value: &str| value.contains("<true/>") || value.contains("[Bool] true");
        Some(Self {
            is_hardened: names.contains(&"runtime"),
            is_restricted: names.contains(&"restrict"),
            may_be_traced: entitlement.is_some_and(is_true),
            has_entitlements: text.contains("[Key]") || text.contains("<key>"),
        })
    }
}

/// How to sign a program so that it can be traced, keeping what it may do.
fn sign_anew(path: &str, has_entitlements: bool) -> Remedy {
    let path = format!("'{}'", path.replace('\'', r"'\''"));
    let name = "trace.entitlements";
    let sign = format!("codesign --force --sign - --entitlements {name} {path}");
    let what = "sign it anew (a copy, if it is not your own)".to_owned();
    match has_entitlements {
        true => Remedy {
            what,
            commands: vec![
                format!("codesign -d --xml --entitlements {name} {path}"),
                format!("/usr/libexec/PlistBuddy -c 'Add :{ENTITLEMENT} bool true' {name}"),
                sign,
            ],
            file: None,
        },
        false => Remedy {
            what,
            commands: vec![sign],
            file: Some(TextFile {
                name: name.to_owned(),
                content: ENTITLEMENTS.to_owned(),
            }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Codesign(Answer);

    impl Ask for Codesign {
        fn ask(&self, _: &str, _: &[&str]) -> Answer {
            self.0.clone()
        }
    }

    const HARDENED: &str = "Executable=/a/bench\nIdentifier=bench\nCodeDirectory v=20500 size=500 flags=0x10000(runtime) hashes=5+7 location=embedded\nAuthority=Developer ID Application\n";
    const LINKER: &str = "Executable=/a/bench\nCodeDirectory v=20400 size=500 flags=0x20002(adhoc,linker-signed) hashes=5+0 location=embedded\nSignature=adhoc\n";

    fn checked(code: i32, out: &str, err: &str) -> Check {
        let answer = Answer::Said {
            code: Some(code),
            out: out.to_owned(),
            err: err.to_owned(),
        };
        signature(&Codesign(answer), Path::new("/a/it's"))
    }

    #[test]
    fn signatures() {
        let check = |code: i32, out: &str, err: &str, expected: Verdict| {
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
        check(0, "", LINKER, Verdict::Ok);
        check(0, "", HARDENED, Verdict::Warning);
        check(0, &xml(ENTITLEMENT, "<true/>"), HARDENED, Verdict::Ok);
        check(0, &xml(ENTITLEMENT, "<false/>"), HARDENED, Verdict::Warning);
        check(0, &xml("y", "<true/>"), HARDENED, Verdict::Warning);
        check(0, &words("true"), HARDENED, Verdict::Ok);
        check(0, &words("false"), HARDENED, Verdict::Warning);
        let restricted = HARDENED.replace("0x10000(runtime)", "0x10800(restrict,runtime)");
        check(0, "", &restricted, Verdict::Problem);
        check(
            0,
            "",
            &LINKER.replace("0x20002(adhoc,linker-signed)", "0x0(none)"),
            Verdict::Ok,
        );
        check(
            1,
            "",
            "/a/it's: code object is not signed at all\n",
            Verdict::Ok,
        );
        check(
            1,
            "",
            "/a/it's: No such file or directory\n",
            Verdict::Unknown,
        );
        check(0, "", "something new", Verdict::Unknown);
    }

    #[test]
    fn how_to_sign() {
        let bare = checked(0, "", HARDENED).remedy.unwrap();
        assert_eq!(
            bare.commands,
            [r"codesign --force --sign - --entitlements trace.entitlements '/a/it'\''s'"]
        );
        assert!(bare.file.unwrap().content.contains(ENTITLEMENT));
        let more = checked(0, "<dict><key>y</key><true/></dict>", HARDENED)
            .remedy
            .unwrap();
        assert_eq!(more.commands.len(), 3);
        assert!(more.file.is_none() && more.commands[0].contains("-d --xml"));
    }
}
