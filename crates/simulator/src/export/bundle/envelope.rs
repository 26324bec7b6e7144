//! What surrounds the runs: the mark of a finished document, the manifest with ours, and what a
//! recording leaves behind.

use std::path::Path;

use plist::{Dictionary, Value};

use super::zlib::ZlibFile;
use super::{create_dir, etypes, store, write_file};
use crate::MARK;
use crate::error::Error;
use crate::export::toc::Contents;

/// The document format's number since 2024.
const FORMAT: u64 = 5;

/// Key of the manifest that says a bundle is ours.
const SYNTHETIC: &str = "synthetic";

/// Whether a folder is a bundle of ours.
pub(super) fn is_ours(bundle: &Path) -> bool {
    let manifest = Value::from_file(bundle.join("corespace/MANIFEST.plist"));
    let manifest = manifest.ok().and_then(Value::into_dictionary);
    manifest.is_some_and(|manifest| manifest.contains_key(SYNTHETIC))
}

/// What lies under a bundle's name until it is saved: the leftovers, marked as ours.
pub(crate) fn write_stub(bundle: &Path) -> Result<(), Error> {
    let corespace = create_dir(bundle.join("corespace"))?;
    write_leftovers(&corespace)?;
    write_manifest(&corespace, &[], 0)
}

/// `open.creq`: what a program must know to open the document; there only once it is saved.
pub(super) fn write_requirements(bundle: &Path) -> Result<(), Error> {
    let mut all = Dictionary::new();
    let mut require = |key: String, version: u64| {
        let requirement = vec![Value::Integer(version.into()), Value::from(MARK)];
        all.insert(key, Value::Array(requirement));
    };
    require("com.apple.dt.Instruments.Hierarchies".to_owned(), 1);
    for topology in ["XRT64_CC32_R_TypeID", "XRTD64_CC32_R_TypeID"] {
        require(format!("com.apple.dt.ac.topology.{topology}"), 1);
    }
    for known in etypes::all() {
        require(format!("com.apple.dt.etype.{}", known.id), 1);
    }
    require("com.apple.dt.path-manager.compression".to_owned(), 1);
    require("com.apple.dt.trace".to_owned(), FORMAT);
    all.sort_keys();
    write_xml(&bundle.join("open.creq"), all)
}

/// `MANIFEST.plist`: which folders are compressed, and that it is all made up.
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
        paths.extend((0..stores).map(|place| store::subpath(run, place)));
    }
    let paths = Value::Array(paths.into_iter().map(Value::String).collect());
    let mut manifest = Dictionary::new();
    manifest.insert("compressed-paths".to_owned(), paths.clone());
    manifest.insert("paths".to_owned(), paths);
    manifest.insert(SYNTHETIC.to_owned(), MARK.into());
    write_xml(&corespace.join("MANIFEST.plist"), manifest)
}

/// `currentRun`: uniquers of a recording under way, without a list in them. To be ignored.
pub(super) fn write_leftovers(corespace: &Path) -> Result<(), Error> {
    for name in ["arrayUniquer", "typedArrayUniquer"] {
        let dir = create_dir(corespace.join("currentRun/core/uniquing").join(name))?;
        write_file(&dir.join("integeruniquer.index"), |_| Ok(()))?;
        let mut data = ZlibFile::create(&dir.join("integeruniquer.data"))?;
        for word in LEFTOVER {
            data.push(&word.to_le_bytes());
        }
        data.fill_to(1 << 20)?;
        data.finish()?;
    }
    Ok(())
}

/// The header of a uniquer's data.
const LEFTOVER: [u32; 5] = [0x0123_4567, 0x000a_337e, 1, 0, 1];

fn write_xml(path: &Path, dictionary: Dictionary) -> Result<(), Error> {
    write_file(path, |out| {
        let written = Value::Dictionary(dictionary).to_writer_xml(out);
        written.map_err(super::io_error)
    })
}
