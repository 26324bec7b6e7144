//! Makes a copy of Apple's template with the Shader Timeline, for which `xctrace record` has no
//! option. Others have recorded this way. The authors have never run it with a real Xcode, and some
//! GPUs ignore the setting: the recorder checks the effect.

mod patch;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result, file};

/// File name of Apple's template.
const STOCK: &str = "Metal System Trace.tracetemplate";
/// Folders of the template inside Instruments: in present and in older versions of Xcode.
const PLACES: [&str; 2] = [
    "Contents/Packages/GPU.instrdst/Contents/Templates",
    "Contents/Resources/templates",
];
/// Largest size of a template, in bytes. Apple's has a few hundred kilobytes.
const MAX_BYTES: u64 = 16 << 20;
/// Largest size of the template of a bundle, which has the names of functions, too.
const MAX_BUNDLE_BYTES: u64 = 256 << 20;

/// A copy of a template, which is removed when this is dropped.
#[derive(Debug)]
pub struct Copy {
    file: NamedTempFile,
}

impl Copy {
    /// Copies the template that belongs to an `xctrace`, with the Shader Timeline switched on.
    ///
    /// # Errors
    ///
    /// If the template is not found, or does not have this setting.
    pub fn with_shader_timeline(xctrace: &Path) -> Result<Self> {
        let stock = find(xctrace)?;
        let unusable = |why: &str| refused(format!("{}: {why}", stock.display()));

        let bytes = match metalens_files::read(&stock, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(unusable("it is too large"));
            }
            read => read.map_err(file("read", &stock))?,
        };
        let changed = patch::patched(&bytes).map_err(unusable)?;
        Self::of_bytes(&changed, "metalens-shader-timeline-")
    }

    /// Copies the template that a bundle was recorded with, with all its settings, as it is.
    ///
    /// # Errors
    ///
    /// If the bundle has none.
    pub fn of_bundle(bundle: &Path) -> Result<Self> {
        let template = bundle.join("form.template");
        let bytes = metalens_files::read(&template, MAX_BUNDLE_BYTES)
            .map_err(file("read the template", &template))?;
        Self::of_bytes(&bytes, "metalens-template-")
    }

    /// Writes a template with a name of its own: `xctrace` rejects Apple's with exit code 30.
    fn of_bytes(bytes: &[u8], prefix: &str) -> Result<Self> {
        let mut copy = tempfile::Builder::new()
            .prefix(prefix)
            .suffix(".tracetemplate")
            .tempfile()
            .map_err(file("create a file in", std::env::temp_dir()))?;
        let path = copy.path().to_owned();
        copy.write_all(bytes).map_err(file("write", path))?;
        Ok(Self { file: copy })
    }

    /// Returns whether it has an instrument of the GPU.
    pub fn is_about_gpu(&self) -> bool {
        const METAL: &[u8] = b"com.apple.xray.instrument-type.metal-";
        let bytes = fs::read(self.path()).unwrap_or_default();
        bytes.windows(METAL.len()).any(|part| part == METAL)
    }

    /// Returns the path of the copy.
    pub fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Returns the error of a template that cannot be changed.
fn refused(why: String) -> Error {
    Error::Template { why }
}

/// Returns the path of the template in the Xcode that an `xctrace` belongs to.
fn find(xctrace: &Path) -> Result<PathBuf> {
    // `xctrace` may be a link: resolve it to find its Xcode.
    let real = fs::canonicalize(xctrace).map_err(file("find", xctrace))?;
    let mut instruments = real
        .ancestors()
        .map(|folder| folder.join("Applications/Instruments.app"));
    let Some(instruments) = instruments.find(|folder| folder.is_dir()) else {
        return Err(refused(format!(
            "{} is not part of an Xcode, so its template cannot be found",
            real.display()
        )));
    };

    let mut known = PLACES
        .iter()
        .map(|place| instruments.join(place).join(STOCK));
    known
        .find(|path| path.is_file())
        .ok_or_else(|| refused(format!("`{STOCK}` is missing in {}", instruments.display())))
}

#[cfg(test)]
mod tests {
    use metalens_failure::Failure;

    use super::*;

    #[test]
    fn the_template_of_the_same_xcode_is_copied() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let developer = root.join("Xcode.app/Contents/Developer/usr/bin");
        let instruments = root.join("Xcode.app/Contents/Applications/Instruments.app");
        fs::create_dir_all(&developer).unwrap();
        let tool = developer.join("xctrace");
        fs::write(&tool, "").unwrap();
        let error = find(&tool).unwrap_err().to_string();
        assert!(error.contains("is not part of an Xcode"), "{error}");
        fs::create_dir_all(&instruments).unwrap();
        let error = find(&tool).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`Metal System Trace.tracetemplate` is missing in"),
            "{error}"
        );
        let hint = error.hint().unwrap();
        assert!(hint.contains("save it as a template"), "{hint}");
        let put = |place: &str| {
            let folder = instruments.join(place);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(STOCK), patch::template_for_test()).unwrap();
            assert_eq!(find(&tool).unwrap(), folder.join(STOCK));
        };
        put("Contents/Resources/templates");
        put("Contents/Packages/GPU.instrdst/Contents/Templates");

        let copy = Copy::with_shader_timeline(&tool).unwrap();
        let name = copy
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert!(name.starts_with("metalens-shader-timeline-"), "{name}");
        assert!(name != STOCK && name.ends_with(".tracetemplate"));
        let path = copy.path().to_owned();
        assert!(patch::patched(&fs::read(&path).unwrap()).is_ok());
        drop(copy);
        assert!(!path.exists());
    }
}
