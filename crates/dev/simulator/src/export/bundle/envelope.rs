//! Writes the parts of a bundle around the runs: the mark of a saved document, the manifest with our
//! mark, and the leftovers of a recording.

use std::path::Path;

use plist::{Dictionary, Value};

use super::file::{create_dir, io_error, write_file};
use super::integers::Integers;
use super::store;
use crate::MARK;
use crate::error::Error;
use crate::export::toc::Contents;
use crate::sheet::Kind;

/// Number of the document format since 2024.
const FORMAT: u64 = 5;

/// Key of the manifest that marks a bundle as ours.
const SYNTHETIC: &str = "synthetic";

/// Returns whether a folder is a bundle that this crate wrote.
pub(super) fn is_ours(bundle: &Path) -> bool {
    let manifest = Value::from_file(bundle.join("corespace/MANIFEST.plist"))
        .ok()
        .and_then(Value::into_dictionary);
    manifest.is_some_and(|manifest| manifest.contains_key(SYNTHETIC))
}

/// Writes a bundle that is not saved yet: the leftovers of a recording, marked as synthetic.
pub(crate) fn write_stub(bundle: &Path) -> Result<(), Error> {
    let corespace = create_dir(bundle.join("corespace"))?;
    write_leftovers(&corespace)?;
    write_manifest(&corespace, &[], 0)
}

/// Writes `open.creq`, the requirements for opening the document. It exists only once the document
/// is saved.
pub(super) fn write_requirements(bundle: &Path) -> Result<(), Error> {
    let mut requirements = Dictionary::new();
    let mut require = |key: String, version: u64| {
        let requirement = vec![Value::Integer(version.into()), Value::from(MARK)];
        requirements.insert(key, Value::Array(requirement));
    };

    require("com.apple.dt.Instruments.Hierarchies".to_owned(), 1);
    for topology in ["XRT64_CC32_R_TypeID", "XRTD64_CC32_R_TypeID"] {
        require(format!("com.apple.dt.ac.topology.{topology}"), 1);
    }
    for kind in Kind::ALL {
        require(
            format!("com.apple.dt.etype.{}", kind.facts().bundle_name),
            1,
        );
    }
    require("com.apple.dt.path-manager.compression".to_owned(), 1);
    require("com.apple.dt.trace".to_owned(), FORMAT);

    requirements.sort_keys();
    write_xml(&bundle.join("open.creq"), requirements)
}

/// Writes `MANIFEST.plist`: the compressed folders, and the mark that all is synthetic.
pub(super) fn write_manifest(
    corespace: &Path,
    runs: &[Contents],
    stores: usize,
) -> Result<(), Error> {
    let mut paths = vec!["currentRun/core/uniquing".to_owned()];
    for run in runs.iter().map(|contents| contents.run) {
        for part in ["core-config", "table-manager", "uniquing"] {
            paths.push(format!("run{run}/core/{part}"));
        }
        paths.extend((0..stores).map(|number| store::subpath(run, number)));
    }

    let paths = Value::Array(paths.into_iter().map(Value::String).collect());
    let mut manifest = Dictionary::new();
    manifest.insert("compressed-paths".to_owned(), paths.clone());
    manifest.insert("paths".to_owned(), paths);
    manifest.insert(SYNTHETIC.to_owned(), MARK.into());
    write_xml(&corespace.join("MANIFEST.plist"), manifest)
}

/// Writes `currentRun`: uniquers of a recording in progress, without a list. Readers ignore it.
pub(super) fn write_leftovers(corespace: &Path) -> Result<(), Error> {
    for name in ["arrayUniquer", "typedArrayUniquer"] {
        let dir = create_dir(corespace.join("currentRun/core/uniquing").join(name))?;
        Integers::create(&dir)?.finish()?;
        // The index is not written before the recording ends.
        write_file(&dir.join("integeruniquer.index"), |_| Ok(()))?;
    }
    Ok(())
}

fn write_xml(path: &Path, dictionary: Dictionary) -> Result<(), Error> {
    write_file(path, |out| {
        let written = Value::Dictionary(dictionary).to_writer_xml(out);
        written.map_err(io_error)
    })
}
