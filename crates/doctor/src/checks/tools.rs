//! Xcode, its `xctrace`, and what its user may do.

use crate::check::{Check, Verdict};
use crate::facts::{Fact, Rights, Xcode};
use crate::recorder::Recorder;

/// A trouble with Xcode, which rules recording out only if `xctrace` does not
/// start: it may have been found another way (`DEVELOPER_DIR`, `METALENS_XCTRACE`).
fn trouble(id: &str, found: String, recorder: &Recorder) -> Check {
    match &recorder.version {
        Ok(_) => Check::warning(id, found),
        Err(_) => Check::problem(id, found),
    }
}

const CHOOSE: &str = "sudo xcode-select -s /Applications/Xcode.app/Contents/Developer";

pub(super) fn xcode(xcode: &Xcode, recorder: &Recorder) -> Check {
    let id = "xcode";
    let named = (xcode.version.value.as_deref(), xcode.build.value.as_deref());
    let why = |fact: &Fact<String>| fact.why_not.clone().unwrap_or_default();
    match (xcode.folder.value.as_deref(), named) {
        (Some(folder), (Some(version), Some(build))) => {
            Check::ok(id, format!("Xcode {version} ({build}), {folder}"))
        }
        (Some(folder), _) if folder.contains("CommandLineTools") => {
            let found =
                format!("only the Command Line Tools are chosen ({folder}), which have no xctrace");
            trouble(id, found, recorder).remedy(
                "install Xcode from the App Store, open it once, then choose it (or set \
                 DEVELOPER_DIR); `xcode-select --install` is not enough",
                &[CHOOSE],
            )
        }
        (Some(folder), _) => {
            let why = why(&xcode.version);
            let found = format!("{folder}; its version cannot be told: {why}");
            Check::new(id, Verdict::Unknown, found)
        }
        (None, _) => Check::unknown(id, Some(&why(&xcode.folder))).remedy(
            "if there is no Xcode: install it from the App Store, open it once, then choose it",
            &[CHOOSE],
        ),
    }
}

/// A fact that ought to be true.
fn done(id: &str, fact: &Fact<bool>, yes: &str, no: impl FnOnce() -> Check) -> Check {
    match (fact.value, &fact.why_not) {
        (Some(true), _) => Check::ok(id, yes),
        (Some(false), _) => no(),
        (None, Some(why)) if why.contains("requires Xcode") => {
            Check::new(id, Verdict::NotApplicable, "there is no Xcode to ask")
        }
        (None, why) => Check::unknown(id, why.as_ref()),
    }
}

pub(super) fn licence(xcode: &Xcode, recorder: &Recorder) -> Check {
    let id = "licence";
    done(id, &xcode.licence_accepted, "accepted", || {
        let found = "Xcode's licence is not accepted: its tools refuse to run";
        trouble(id, found.to_owned(), recorder)
            .remedy("read and accept it", &["sudo xcodebuild -license"])
    })
}

pub(super) fn first_launch(xcode: &Xcode) -> Check {
    let id = "first-launch";
    done(
        id,
        &xcode.first_launch_done,
        "Xcode has installed its parts",
        || {
            Check::warning(
                id,
                "Xcode has not installed all of its parts since it was updated",
            )
            .remedy("open Xcode once, or", &["sudo xcodebuild -runFirstLaunch"])
        },
    )
}

pub(super) fn xctrace(recorder: &Recorder) -> Check {
    let id = "xctrace";
    match &recorder.version {
        Ok(version) => Check::ok(id, format!("it starts: {version}")),
        Err(why) => Check::problem(id, why.clone()).remedy(
            "it comes with Xcode: see xcode, above (or METALENS_XCTRACE, if that is set)",
            &[],
        ),
    }
}

pub(super) fn template(recorder: &Recorder, template: &str) -> Check {
    let id = "template";
    if template.ends_with(".tracetemplate") {
        let is_there = std::path::Path::new(template).is_file();
        return match is_there {
            true => Check::ok(id, format!("{template} is there")),
            false => Check::problem(id, format!("{template} is no file")),
        };
    }
    if recorder.version.is_err() {
        return Check::new(id, Verdict::NotApplicable, "there is no xctrace to ask");
    }
    let templates = match &recorder.templates {
        Ok(templates) => templates,
        Err(why) => {
            let why = format!("xctrace listed no templates, asked several times: {why}");
            return Check::new(id, Verdict::Unknown, why).remedy(
                "if a recording says that there is no template, open Instruments once",
                &["xcrun xctrace list templates"],
            );
        }
    };
    let mut all = templates.standard.iter().chain(&templates.custom);
    match all.any(|one| one == template) {
        true => Check::ok(id, format!("{template} is there")),
        false => Check::problem(id, format!("xctrace has no template called {template}")).remedy(
            "choose one of those that it lists",
            &["xcrun xctrace list templates"],
        ),
    }
}

pub(super) fn developer_mode(rights: &Rights) -> Check {
    let id = "developer-mode";
    done(id, &rights.developer_mode, "on", || {
        Check::warning(
            id,
            "developer mode is off: macOS asks for an administrator's password, or refuses",
        )
        .remedy("switch it on, once", &["sudo DevToolsSecurity -enable"])
    })
}

pub(super) fn developer_group(rights: &Rights, is_root: bool) -> Check {
    let id = "developer-group";
    if is_root {
        return Check::new(id, Verdict::NotApplicable, "root needs no group");
    }
    done(
        id,
        &rights.in_developer_group,
        "you are in _developer",
        || {
            Check::warning(
                id,
                "you are not in the group _developer: macOS may ask for a password",
            )
            .remedy(
                "join it, and log in anew",
                &["sudo dseditgroup -o edit -a \"$USER\" -t user _developer"],
            )
        },
    )
}

pub(super) fn root(is_root: bool) -> Check {
    let id = "root";
    match is_root {
        false => Check::ok(id, "not root: a program of your own needs no sudo"),
        true => Check::warning(id, "this runs as root: the target would too").remedy(
            "record without sudo, unless the target is root's own; what sudo leaves to root, \
             metalens gives back to you",
            &[],
        ),
    }
}
