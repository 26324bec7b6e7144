//! The names of a stack's frames, from the symbol archives of the bundle.
//!
//! ```text
//! address ─ process → where its binaries lay → binary ─ archive → function
//! ```
//!
//! A frame has a name only where all of that is certain. Nothing is read before
//! somebody asks for the first name.

mod archive;
mod dyld;
mod images;
mod mangled;
mod ranges;
mod signature;

pub(crate) use mangled::is_mangled;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::files::{Files, SYMBOLS, TEMPLATE};
use super::manager::Store;
use super::people::People;
use super::uniquing::Uniques;
use crate::note::Note;
use archive::{Archive, Refusal};
use images::{Image, Images};
use ranges::Ranges;

/// The names of a run's functions.
pub(crate) struct Symbols<'a> {
    files: &'a Files,
    stores: &'a [Store],
    uniques: &'a Uniques,
    run: u64,
    images: OnceCell<Images>,
    processes: RefCell<BTreeMap<u32, Rc<Ranges<Binary>>>>,
    archives: RefCell<BTreeMap<[u8; 16], Option<Rc<Archive>>>>,
    /// How many more bytes of archives are read.
    left: Cell<u64>,
    /// File and reason of what could not be read.
    refused: RefCell<BTreeSet<(String, &'static str)>>,
}

/// What is known of a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) function: Option<String>,
    pub(crate) binary: Option<String>,
}

impl Found {
    /// What both say.
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

/// A binary where it lay.
#[derive(Debug, Clone)]
struct Binary {
    image: Image,
    archive: Option<Rc<Archive>>,
}

impl PartialEq for Binary {
    fn eq(&self, other: &Self) -> bool {
        self.image == other.image
    }
}

impl<'a> Symbols<'a> {
    /// The symbols of the run `corespace/runN`; nothing is read yet.
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

    /// Knows no symbols, for whoever wants no names.
    pub(crate) fn none(files: &'a Files, uniques: &'a Uniques) -> Self {
        let none = Self::new(files, &[], uniques, 0);
        let _ = none.images.set(Images::default());
        none
    }

    /// What is known of a frame of a process's stack, `top` being the first of
    /// its piece.
    ///
    /// Of ARM's instructions, all of which are at multiples of 4, a stack has
    /// the address behind a call, or, where the processor stood, the address
    /// and one. At the top the former may be either's.
    pub(crate) fn find(&self, process: u64, address: u64, top: bool) -> Found {
        let known = |address| self.at(process, address).unwrap_or_default();
        let before = known(address.saturating_sub(1));
        match (address % 4, top) {
            (1, _) | (0, false) => before,
            (0, true) => before.and(known(address)),
            _ => Found::default(),
        }
    }

    /// What kept names from being found.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let refused = self.refused.borrow();
        let notes = refused.iter().map(|(file, why)| Note::Unreadable {
            file: file.clone(),
            why: (*why).to_owned(),
        });
        notes.collect()
    }

    fn at(&self, process: u64, address: u64) -> Option<Found> {
        let pid = u32::try_from(People::pid(process, self.uniques)?).ok()?;
        let ranges = self.process(pid);
        let (start, binary) = ranges.at(address)?;
        let archive = binary.archive.as_ref();
        let function = archive.and_then(|archive| archive.function(address - start));
        Some(Found {
            function: function.map(str::to_owned),
            binary: binary.image.name().map(str::to_owned),
        })
    }

    fn process(&self, pid: u32) -> Rc<Ranges<Binary>> {
        if let Some(known) = self.processes.borrow().get(&pid) {
            return Rc::clone(known);
        }
        let images = self.images.get_or_init(|| self.read_images()).of(pid);
        let spans = images.into_iter().filter_map(|image| self.span(image));
        let ranges = Rc::new(Ranges::new(spans));
        let mut processes = self.processes.borrow_mut();
        processes.insert(pid, Rc::clone(&ranges));
        ranges
    }

    /// Where a binary lay, and which, if that is certain. A binary whose
    /// length nobody says is left out.
    fn span(&self, image: Image) -> Option<(u64, u64, Option<Binary>)> {
        let archive = self.archive(image.uuid);
        let said = archive.as_ref().map(|archive| archive.text_size);
        let size = image.size.max(said)?;
        let agreed = [image.size, said].iter().flatten().all(|&one| one == size);
        let (start, gone) = (image.start, image.gone);
        let binary = (agreed && !gone).then_some(Binary { image, archive });
        Some((start, size, binary))
    }

    fn archive(&self, uuid: [u8; 16]) -> Option<Rc<Archive>> {
        if let Some(known) = self.archives.borrow().get(&uuid) {
            return known.clone();
        }
        let archive = self.read_archive(uuid).map(Rc::new);
        let mut archives = self.archives.borrow_mut();
        archives.insert(uuid, archive.clone());
        archive
    }

    fn read_archive(&self, uuid: [u8; 16]) -> Option<Archive> {
        let path = format!("symbols/stores/{}.symbolsarchive", signature::shown(uuid));
        if !self.files.exists(&path) {
            return None;
        }
        let Ok(bytes) = self.files.read(&path, self.left.get()) else {
            self.refuse(
                &path,
                "it cannot be read, or is too large, so that its functions have no names",
            );
            return None;
        };
        self.left
            .set(self.left.get().saturating_sub(bytes.len() as u64));
        match Archive::parse(&bytes, uuid) {
            Ok(archive) => return Some(archive),
            Err(Refusal::Unknown) => self.refuse(
                &path,
                "its version or processor was never seen, so that its functions have no names",
            ),
            Err(Refusal::Broken) => self.refuse(
                &path,
                "it contradicts itself, so that its functions have no names",
            ),
        }
        None
    }

    fn read_images(&self) -> Images {
        let mut images = signature::images(self.files, self.run).unwrap_or_else(|| {
            let why = "its image signatures were never seen in this form, so that functions may \
                       have no names";
            self.refuse(TEMPLATE, why);
            Images::default()
        });
        let loaded = dyld::images(self.files, self.stores, self.uniques);
        if !loaded.is_ok_and(|loaded| images.merge(loaded)) {
            let why = "which libraries were loaded cannot be read, so that functions have no names";
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

    /// What is found at an address of process 12 (which is array 0), of a
    /// bundle with these archives, when its binaries lay so.
    fn finder(
        archives: &[([u8; 16], Vec<u8>)],
        images: Vec<Image>,
        ask: impl Fn(&dyn Fn(u64, bool) -> Found) -> Vec<Found>,
    ) -> (Vec<Found>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let stores = folder.path().join("symbols/stores");
        std::fs::create_dir_all(&stores).unwrap();
        for (uuid, bytes) in archives {
            let name = format!("{}.symbolsarchive", signature::shown(*uuid));
            std::fs::write(stores.join(name), bytes).unwrap();
        }
        let files = Files::folder(folder.path());
        let uniques = Uniques::of_arrays(&[&[12, 0]]);
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

    fn names(found: &[Found]) -> Vec<(Option<&str>, Option<&str>)> {
        let found = found.iter();
        let names = found.map(|found| (found.function.as_deref(), found.binary.as_deref()));
        names.collect()
    }

    #[test]
    fn frames() {
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
                (None, Some("library")),
                (None, None),
                (None, None),
            ]
        );
        assert_eq!(notes, 0);
    }

    #[test]
    fn binaries_that_are_not_certain() {
        let app = image(APP, 0x10_0000, None, "app");
        let of = |images: Vec<Image>| {
            let (found, _) = finder(&[(APP, sample())], images, |at| vec![at(0x10_0104, false)]);
            found[0].function.clone()
        };
        assert_eq!(of(vec![app.clone()]).as_deref(), Some("one"));
        let gone = Image {
            gone: true,
            ..app.clone()
        };
        assert_eq!(of(vec![gone]), None);
        let longer = Image {
            size: Some(0x5000),
            ..app.clone()
        };
        assert_eq!(of(vec![longer]), None, "not the archive's length");
        let over = image(LIBRARY, 0x0f_f000, Some(0x4000), "library");
        assert_eq!(of(vec![app, over]), None);
    }

    #[test]
    fn archives_of_other_versions_are_told_of() {
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
