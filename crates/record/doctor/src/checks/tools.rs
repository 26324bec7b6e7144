//! Checks Xcode, its `xctrace`, and the rights of the user.

use std::path::Path;

use crate::check::{Check, CheckVerdict};
use crate::facts::{Fact, Xcode};
use crate::xctrace_status::XctraceStatus;

/// Returns a problem with Xcode. It is only a warning if `xctrace` starts, which
/// `DEVELOPER_DIR` or `METALENS_XCTRACE` may have named.
fn xcode_problem(id: &str, found: String, xctrace: &XctraceStatus) -> Check {
    match &xctrace.version {
        Ok(_) => Check::warning(id, found),
        Err(_) => Check::problem(id, found),
    }
}

const SELECT_XCODE: &str = "sudo xcode-select -s /Applications/Xcode.app/Contents/Developer";

/// Checks that Xcode is selected, not only the Command Line Tools.
pub(super) fn xcode(xcode: &Xcode, xctrace: &XctraceStatus) -> Check {
    let id = "xcode";
    let named = (xcode.version.value.as_deref(), xcode.build.value.as_deref());
    let why = |fact: &Fact<String>| fact.why_not.clone().unwrap_or_default();

    match (xcode.folder.value.as_deref(), named) {
        (Some(folder), (Some(version), Some(build))) => {
            Check::ok(id, format!("Xcode {version} ({build}), {folder}"))
        }
        (Some(folder), _) if folder.contains("CommandLineTools") => {
            let found = format!(
                "only the Command Line Tools are selected ({folder}), which have no xctrace"
            );
            xcode_problem(id, found, xctrace).remedy(
                "install Xcode from the App Store, open it once, then select it (or set \
                    DEVELOPER_DIR); `xcode-select --install` is not enough",
                &[SELECT_XCODE],
            )
        }
        (Some(folder), _) => {
            let why = why(&xcode.version);
            let found = format!("{folder}; its version is unknown: {why}");
            Check::new(id, CheckVerdict::Unknown, found)
        }
        (None, _) => Check::unknown(id, Some(&why(&xcode.folder))).remedy(
            "if Xcode is missing: install it from the App Store, open it once, then select it",
            &[SELECT_XCODE],
        ),
    }
}

/// Returns the check of a fact that should be true.
fn expect_true(id: &str, fact: &Fact<bool>, yes: &str, no: impl FnOnce() -> Check) -> Check {
    match (fact.value, &fact.why_not) {
        (Some(true), _) => Check::ok(id, yes),
        (Some(false), _) => no(),
        (None, Some(why)) if why.contains("requires Xcode") => {
            Check::new(id, CheckVerdict::NotApplicable, "Xcode is missing")
        }
        (None, why) => Check::unknown(id, why.as_ref()),
    }
}

/// Checks that the license of Xcode is accepted.
pub(super) fn license(xcode: &Xcode, xctrace: &XctraceStatus) -> Check {
    let id = "license";
    expect_true(id, &xcode.license_accepted, "accepted", || {
        let found = "the Xcode license is not accepted: Xcode's tools refuse to run";
        xcode_problem(id, found.to_owned(), xctrace)
            .remedy("read and accept the license", &["sudo xcodebuild -license"])
    })
}

/// Checks that Xcode has installed its components.
pub(super) fn first_launch(xcode: &Xcode) -> Check {
    let id = "first-launch";
    expect_true(
        id,
        &xcode.first_launch_done,
        "Xcode has installed its components",
        || {
            Check::warning(
                id,
                "Xcode has not installed all of its components since its last update",
            )
            .remedy(
                "open Xcode once, or run this command",
                &["sudo xcodebuild -runFirstLaunch"],
            )
        },
    )
}

/// Checks that `xctrace` starts.
pub(super) fn xctrace(xctrace: &XctraceStatus) -> Check {
    let id = "xctrace";
    match &xctrace.version {
        Ok(version) => Check::ok(id, format!("xctrace starts: version {version}")),
        Err(why) => Check::problem(id, why.clone()).remedy(
            "xctrace comes with Xcode: see the check `xcode` above, or check METALENS_XCTRACE if \
             it is set",
            &[],
        ),
    }
}

/// Checks that the template exists, as a file or in the list of `xctrace`.
pub(super) fn template(xctrace: &XctraceStatus, template: &str) -> Check {
    let id = "template";
    let file = match template.trim_end_matches('/') {
        bundle if bundle.ends_with(".trace") => Some(Path::new(bundle).join("form.template")),
        file if file.ends_with(".tracetemplate") => Some(file.into()),
        _ => None,
    };
    if let Some(file) = file {
        if file.is_file() {
            return Check::ok(id, format!("{template} exists"));
        }
        return Check::problem(id, format!("{template} is not a file"));
    }

    if xctrace.version.is_err() {
        return Check::new(id, CheckVerdict::NotApplicable, "xctrace does not start");
    }

    let templates = match &xctrace.templates {
        Ok(templates) => templates,
        Err(why) => {
            let why = format!("xctrace listed no templates, in several attempts: {why}");
            return Check::new(id, CheckVerdict::Unknown, why).remedy(
                "if a recording fails because a template is missing, open Instruments once",
                &["xcrun xctrace list templates"],
            );
        }
    };

    let mut names = templates.standard.iter().chain(&templates.custom);
    if names.any(|name| name == template) {
        Check::ok(id, format!("{template} exists"))
    } else {
        Check::problem(id, format!("xctrace has no template `{template}`")).remedy(
            "choose a template from this list",
            &["xcrun xctrace list templates"],
        )
    }
}

/// Checks that developer mode is on.
pub(super) fn developer_mode(is_on: &Fact<bool>) -> Check {
    let id = "developer-mode";
    expect_true(id, is_on, "on", || {
        Check::warning(
            id,
            "developer mode is off: macOS asks for an administrator's password, or refuses",
        )
        .remedy(
            "turn developer mode on, once",
            &["sudo DevToolsSecurity -enable"],
        )
    })
}
