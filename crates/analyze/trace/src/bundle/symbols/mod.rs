//! Finds the names of stack frames in the symbol archives of the bundle.
//!
//! ```text
//! address ─ process → addresses of its binaries → binary ─ archive → function
//! ```
//!
//! A frame has a name only if all of that is certain. Nothing is read before the first name is
//! needed.

mod archive;
mod dyld;
mod images;
mod ranges;
mod signature;

pub(super) use signature::shown as shown_uuid;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::files::{Files, SYMBOLS, TEMPLATE};
use super::manager::Store;
use super::process_names::ProcessNames;
use super::uniquing::Uniques;
use crate::mangled::FunctionName;
use crate::note::TraceNote;
use archive::{ArchiveError, Cpu, SymbolArchive};
use images::{Image, Images};
use ranges::Ranges;

/// The names of the functions of a run.
pub(crate) struct Symbols<'a> {
    files: &'a Files,
    stores: &'a [Store],
    uniques: &'a Uniques,
    run: u64,
    images: OnceCell<Images>,
    processes: RefCell<BTreeMap<u32, Rc<Ranges<LoadedBinary>>>>,
    archives: RefCell<BTreeMap<[u8; 16], Option<Rc<SymbolArchive>>>>,
    /// Number of bytes of archives that may still be read.
    left: Cell<u64>,
    /// Files that could not be read, with the reason.
    refused: RefCell<BTreeSet<(String, &'static str)>>,
}

/// The function and the binary of a frame, if they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FrameSymbol {
    pub(crate) function: Option<FunctionName>,
    pub(crate) binary: Option<String>,
}

impl FrameSymbol {
    /// Returns the parts that both have in common.
    fn and(self, other: Self) -> Self {
        let same = self == other;
        Self {
            function: self.function.filter(|_| same),
            binary: self
                .binary
                .filter(|name| other.binary.as_ref() == Some(name)),
        }
    }
}

/// A binary with its address and its functions.
#[derive(Debug, Clone)]
struct LoadedBinary {
    image: Image,
    archive: Option<Rc<SymbolArchive>>,
}

impl PartialEq for LoadedBinary {
    fn eq(&self, other: &Self) -> bool {
        self.image == other.image
    }
}

impl<'a> Symbols<'a> {
    /// Returns the symbols of the run `corespace/runN`, before anything is read.
    pub(crate) fn new(
        files: &'a Files,
        stores: &'a [Store],
        uniques: &'a Uniques,
        run: u64,
    ) -> Self {
        Self {
            files,
            stores,
            uniques,
            run,
            images: OnceCell::new(),
            processes: RefCell::default(),
            archives: RefCell::default(),
            left: Cell::new(SYMBOLS),
            refused: RefCell::default(),
        }
    }

    /// Returns an empty set of symbols, for callers that need no names.
    pub(crate) fn none(files: &'a Files, uniques: &'a Uniques) -> Self {
        let none = Self::new(files, &[], uniques, 0);
        let _ = none.images.set(Images::default());
        none
    }

    /// Returns the symbol of a frame in the stack of a process. `top` is true for the first frame
    /// of its piece.
    ///
    /// All ARM instructions are at multiples of 4. A stack has the address after a call, or for the
    /// current instruction its address plus one. At the top, the address after a call may also be
    /// the current instruction. Those of Intel are anywhere, so that each top may be either.
    ///
    /// The upper bits of a signed return address of ARM are its signature, except bit 55, which is
    /// set in addresses of the kernel.
    pub(crate) fn find(&self, process: u64, address: u64, top: bool) -> FrameSymbol {
        let is_of_kernel = address >> 55 & 1 == 1;
        let stored = address;
        let address = if is_of_kernel {
            stored
        } else {
            stored & ((1 << 47) - 1)
        };
        let at = |address| self.at(process, address).unwrap_or_default();
        let (before, cpu) = at(address.saturating_sub(1));
        let both = |before: FrameSymbol| before.and(at(address).0);
        match (cpu, address % 4, top) {
            (Some(Cpu::Intel64), ..) if address != stored => FrameSymbol::default(),
            (Some(Cpu::Intel64), _, true) => both(before),
            (Some(Cpu::Intel64), _, false) | (_, 1, _) | (_, 0, false) => before,
            (_, 0, true) => both(before),
            _ => FrameSymbol::default(),
        }
    }

    /// Returns notes on files that could not be read.
    pub(crate) fn notes(&self) -> Vec<TraceNote> {
        let refused = self.refused.borrow();
        let notes = refused.iter().map(|(file, why)| TraceNote::Unreadable {
            file: file.clone(),
            why: (*why).to_owned(),
        });
        notes.collect()
    }

    /// Returns what is at an address, and the processor if the functions there are known.
    fn at(&self, process: u64, address: u64) -> Option<(FrameSymbol, Option<Cpu>)> {
        let pid = u32::try_from(ProcessNames::pid(process, self.uniques)?).ok()?;
        let ranges = self.process(pid);
        let (start, binary) = ranges.at(address)?;
        let archive = binary.archive.as_ref();
        let function = archive.and_then(|archive| archive.function(address - start));
        let symbol = FrameSymbol {
            function: function.cloned(),
            binary: binary.image.name().map(str::to_owned),
        };
        Some((symbol, archive.map(|archive| archive.cpu)))
    }

    fn process(&self, pid: u32) -> Rc<Ranges<LoadedBinary>> {
        if let Some(known) = self.processes.borrow().get(&pid) {
            return Rc::clone(known);
        }
        let images = self.images.get_or_init(|| self.read_images());
        let images = images.of_process(pid);
        let spans = images.into_iter().filter_map(|image| self.span(image));
        let ranges = Rc::new(Ranges::new(spans));
        let mut processes = self.processes.borrow_mut();
        processes.insert(pid, Rc::clone(&ranges));
        ranges
    }

    /// Returns the address range of a binary, and the binary if it is certain. None if its size is
    /// unknown.
    fn span(&self, image: Image) -> Option<(u64, u64, Option<LoadedBinary>)> {
        let archive = self.archive(image.uuid);
        let archive_size = archive.as_ref().map(|archive| archive.text_size);
        let size = image.size.max(archive_size)?;
        let agreed = [image.size, archive_size]
            .iter()
            .flatten()
            .all(|&known| known == size);
        let (start, gone) = (image.start, image.gone);
        let binary = (agreed && !gone).then_some(LoadedBinary { image, archive });
        Some((start, size, binary))
    }

    fn archive(&self, uuid: [u8; 16]) -> Option<Rc<SymbolArchive>> {
        if let Some(known) = self.archives.borrow().get(&uuid) {
            return known.clone();
        }
        let archive = self.read_archive(uuid).map(Rc::new);
        let mut archives = self.archives.borrow_mut();
        archives.insert(uuid, archive.clone());
        archive
    }

    /// Reads the symbol archive of a binary, if the bundle has a valid one.
    fn read_archive(&self, uuid: [u8; 16]) -> Option<SymbolArchive> {
        let path = format!("symbols/stores/{}.symbolsarchive", signature::shown(uuid));
        if !self.files.exists(&path) {
            return None;
        }

        let Ok(bytes) = self.files.read(&path, self.left.get()) else {
            self.refuse(
                &path,
                "it cannot be read or is too large, so its functions have no names",
            );
            return None;
        };

        self.left
            .set(self.left.get().saturating_sub(bytes.len() as u64));
        match SymbolArchive::parse(&bytes, uuid) {
            Ok(archive) => return Some(archive),
            Err(ArchiveError::Unknown) => self.refuse(
                &path,
                "its version or processor is unknown, so its functions have no names",
            ),
            Err(ArchiveError::Broken) => {
                self.refuse(&path, "it is inconsistent, so its functions have no names");
            }
        }

        None
    }

    fn read_images(&self) -> Images {
        let mut images = signature::images(self.files, self.run).unwrap_or_else(|| {
            let why = "its image signatures have an unknown form, so functions may have no names";
            self.refuse(TEMPLATE, why);
            Images::default()
        });
        let loaded = dyld::images(self.files, self.stores, self.uniques);
        if !loaded.is_ok_and(|loaded| images.merge(loaded)) {
            let why = "the loaded libraries cannot be read, so functions have no names";
            self.refuse("kdebug", why);
            return Images::default();
        }
        images
    }

    fn refuse(&self, file: &str, why: &'static str) {
        self.refused.borrow_mut().insert((file.to_owned(), why));
    }
}

#[cfg(test)]
mod tests {
    use super::archive::tests::archive;
    use super::*;

    const APP: [u8; 16] = [0xa0; 16];
    const LIBRARY: [u8; 16] = [0xb0; 16];

    fn image(uuid: [u8; 16], start: u64, size: Option<u64>, name: &str) -> Image {
        Image {
            uuid,
            start,
            size,
            path: Some(format!("/usr/{name}")),
            gone: false,
        }
    }

    /// Returns the symbols at addresses of process 12 (which is array 0), in a bundle with these
    /// archives and binaries, and the number of notes.
    fn finder(
        archives: &[([u8; 16], Vec<u8>)],
        images: Vec<Image>,
        ask: impl Fn(&dyn Fn(u64, bool) -> FrameSymbol) -> Vec<FrameSymbol>,
    ) -> (Vec<FrameSymbol>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let stores = folder.path().join("symbols/stores");
        std::fs::create_dir_all(&stores).unwrap();
        for (uuid, bytes) in archives {
            let name = format!("{}.symbolsarchive", signature::shown(*uuid));
            std::fs::write(stores.join(name), bytes).unwrap();
        }
        let files = Files::folder(folder.path());
        let uniques = Uniques::from_arrays(&[&[12, 0]]);
        let symbols = Symbols::new(&files, &[], &uniques, 1);
        let mut all = Images::default();
        assert!(all.add(12, images));
        assert!(symbols.images.set(all).is_ok());
        let found = ask(&|address, top| symbols.find(0, address, top));
        (found, symbols.notes().len())
    }

    fn sample() -> Vec<u8> {
        archive(
            APP,
            &[(0x100, 0x40, "one", "_one"), (0x140, 0x40, "two", "_two")],
        )
    }

    fn names(found: &[FrameSymbol]) -> Vec<(Option<&str>, Option<&str>)> {
        let names = found.iter().map(|found| {
            let function = found.function.as_ref();
            (
                function.map(|name| name.text.as_str()),
                found.binary.as_deref(),
            )
        });
        names.collect()
    }

    #[test]
    fn frames_have_names() {
        let images = vec![
            image(APP, 0x10_0000, Some(0x4000), "app"),
            image(LIBRARY, 0x20_0000, Some(0x4000), "library"),
        ];
        let (found, notes) = finder(&[(APP, sample())], images, |at| {
            vec![
                at(0x10_0141, true),
                at(0x10_0140, false),
                at(0x10_0140, true),
                at(0x10_0144, true),
                at(0x10_0142, false),
                at(0x5219_8000_0010_0144, false),
                at(0x5299_8000_0010_0144, false),
                at(0x20_0140, false),
                at(0x30_0000, false),
                at(0, false),
            ]
        });

        assert_eq!(
            names(&found),
            [
                (Some("two"), Some("app")),
                (Some("one"), Some("app")),
                (None, Some("app")),
                (Some("two"), Some("app")),
                (None, None),
                (Some("two"), Some("app")),
                (None, None),
                (None, Some("library")),
                (None, None),
                (None, None),
            ]
        );
        assert_eq!(notes, 0);
    }

    #[test]
    fn frames_of_intel_programs_have_names() {
        let mut intel = sample();
        intel[0x44] = 7;
        let images = vec![image(APP, 0x10_0000, Some(0x4000), "app")];
        let (found, notes) = finder(&[(APP, intel)], images, |at| {
            vec![
                at(0x10_0142, false),
                at(0x10_0140, false),
                at(0x5219_8000_0010_0142, false),
                at(0x10_0143, true),
                at(0x10_0140, true),
            ]
        });
        assert_eq!(
            names(&found),
            [
                (Some("two"), Some("app")),
                (Some("one"), Some("app")),
                (None, None),
                (Some("two"), Some("app")),
                (None, Some("app")),
            ]
        );
        assert_eq!(notes, 0);
    }

    #[test]
    fn uncertain_binaries_give_no_names() {
        let app = image(APP, 0x10_0000, None, "app");
        let function = |images: Vec<Image>| {
            let (found, _) = finder(&[(APP, sample())], images, |at| vec![at(0x10_0104, false)]);
            found[0].function.clone()
        };
        assert_eq!(function(vec![app.clone()]), Some(FunctionName::sure("one")));
        let gone = Image {
            gone: true,
            ..app.clone()
        };
        assert_eq!(function(vec![gone]), None);
        let longer = Image {
            size: Some(0x5000),
            ..app.clone()
        };
        assert_eq!(function(vec![longer]), None, "not the size in the archive");
        let over = image(LIBRARY, 0x0f_f000, Some(0x4000), "library");
        assert_eq!(function(vec![app, over]), None);
    }

    #[test]
    fn archives_of_other_versions_give_a_note() {
        let mut newer = sample();
        newer[0] = 8;
        for archive in [newer, b"short".to_vec(), Vec::new()] {
            let images = vec![image(APP, 0x10_0000, Some(0x4000), "app")];
            let (found, notes) = finder(&[(APP, archive)], images, |at| vec![at(0x10_0104, false)]);
            assert_eq!(names(&found), [(None, Some("app"))]);
            assert_eq!(notes, 1);
        }
    }
}
