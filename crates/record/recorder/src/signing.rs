//! Signs a program so that macOS lets it be traced.

use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result, file};

/// Entitlement that allows other processes to inspect a program.
const ENTITLEMENT: &str = "com.apple.security.get-task-allow";

/// Property list with that entitlement.
const ENTITLEMENTS: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">
<plist version=\"1.0\">
<dict>
\t<key>com.apple.security.get-task-allow</key>
\t<true/>
</dict>
</plist>
";

/// Signs a program for tracing on this machine, unless it is signed so already. Returns
/// whether it signed the program.
///
/// # Errors
///
/// If `codesign` cannot be started or refuses.
pub(crate) fn sign_for_tracing(codesign: &Path, program: &Path) -> Result<bool> {
    let shown = duct::cmd!(codesign, "-d", "--entitlements", "-", "--xml", program);
    let shown = shown.stdout_capture().stderr_capture().unchecked().run();
    let shown = shown.map_err(|cause| cannot(codesign, &cause.to_string()))?;
    if String::from_utf8_lossy(&shown.stdout).contains(ENTITLEMENT) {
        return Ok(false);
    }

    let mut entitlements = tempfile::Builder::new()
        .suffix(".plist")
        .tempfile()
        .map_err(file("create", std::env::temp_dir()))?;
    let path = entitlements.path().to_owned();
    entitlements
        .write_all(ENTITLEMENTS.as_bytes())
        .map_err(file("write", path))?;

    let signed = duct::cmd!(
        codesign,
        "--force",
        "--sign",
        "-",
        "--entitlements",
        entitlements.path(),
        program
    );
    let signed = signed.stdout_capture().stderr_capture().unchecked().run();
    let signed = signed.map_err(|cause| cannot(codesign, &cause.to_string()))?;
    if signed.status.success() {
        Ok(true)
    } else {
        Err(cannot(
            codesign,
            String::from_utf8_lossy(&signed.stderr).trim(),
        ))
    }
}

/// Returns the error of a program that cannot be signed.
fn cannot(codesign: &Path, why: &str) -> Error {
    let shown = codesign.display();
    Error::Target(format!(
        "cannot sign the program for tracing: {shown}: {why}"
    ))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes a fake `codesign` that keeps its input.
    fn codesign(folder: &Path, script: &str) -> std::path::PathBuf {
        let path = folder.join("codesign");
        metalens_testing::write_script(&path, script);
        path
    }

    #[test]
    fn a_program_is_signed_once() {
        let folder = tempfile::tempdir().unwrap();
        let kept = folder.path().join("kept");
        let script = format!(
            "case $1 in -d) cat {0} 2>/dev/null; exit 0;; *) cp \"$5\" {0}; echo \"$6\" > {0}.program;; esac",
            kept.display()
        );
        let tool = codesign(folder.path(), &script);
        let program = folder.path().join("a program");
        assert!(sign_for_tracing(&tool, &program).unwrap());
        assert_eq!(fs::read_to_string(&kept).unwrap(), ENTITLEMENTS);
        let signed = fs::read_to_string(kept.with_extension("program")).unwrap();
        assert_eq!(signed.trim(), program.display().to_string());
        assert!(!sign_for_tracing(&tool, &program).unwrap());
    }

    #[test]
    fn errors_quote_codesign() {
        let folder = tempfile::tempdir().unwrap();
        let tool = codesign(
            folder.path(),
            "[ $1 = -d ] && exit 1; echo 'no identity' >&2; exit 1",
        );
        let error = sign_for_tracing(&tool, Path::new("/x"))
            .unwrap_err()
            .to_string();
        assert!(error.ends_with("/codesign: no identity"), "{error}");
    }
}
