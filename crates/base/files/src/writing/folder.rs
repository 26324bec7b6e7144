//! Writes in folders through their descriptors, so that a path that changes meanwhile does not
//! matter.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::draft::{self, Draft, DraftPlace, give};
use super::error::{Error, Result, io};
use super::inside::refuse_inside_bundle;
use super::owner::Owner;
use super::walk;
use crate::open::{open_unlinked, read_opened_text, refuse_others, refused_link};

/// An open folder. Files made in it belong to the user who ran `sudo`.
#[derive(Debug)]
pub struct Folder {
    pub(crate) opened: OwnedFd,
    /// The path of the folder, only for messages.
    pub(crate) path: PathBuf,
    pub(crate) owner: Option<Owner>,
}

impl Folder {
    /// Opens a folder that a user named: a link to a folder is followed. Removes the drafts that
    /// killed processes left in it.
    ///
    /// # Errors
    ///
    /// Fails if the path is not a folder, or cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let named = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        let opened = openat(CWD, named, flags, Mode::empty());
        Self::from_descriptor(opened.map_err(io("open", named))?, named.to_owned())
    }

    /// Opens a folder that a user named. Creates it first if it is missing, with its parents.
    ///
    /// # Errors
    ///
    /// Fails if the path is not a folder, is inside a bundle, or cannot be created.
    pub fn make(path: &Path) -> Result<Self> {
        refuse_inside_bundle(path)?;
        match Self::open(path) {
            Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        // A bare name lies in the current folder.
        let outer = Self::make(path.parent().unwrap_or(Path::new("")))?;
        match path.components().next_back() {
            Some(last) => outer.inner(Path::new(last.as_os_str())),
            None => Ok(outer),
        }
    }

    /// Opens a folder inside this one, by a relative path. Creates it first if it is missing.
    ///
    /// # Errors
    ///
    /// Fails if a link or a file is on the way, or the folder cannot be created.
    pub fn inner(&self, path: &Path) -> Result<Self> {
        let mut names = path.components();
        let Some(name) = names.next() else {
            return Self::open(&self.path);
        };
        let inner = self.next(name)?;
        match names.as_path() {
            rest if rest.as_os_str().is_empty() => Ok(inner),
            rest => inner.inner(rest),
        }
    }

    fn next(&self, name: Component<'_>) -> Result<Self> {
        let name = name.as_os_str();
        let made = match mkdirat(&self.opened, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(io("create", self.path.join(name))(error)),
        };
        let inner = self.enter(name)?;
        // A folder that is not empty replaced the new one, and belongs to somebody else.
        if made && inner.is_empty() {
            give(&inner.opened, inner.owner);
        }
        Ok(inner)
    }

    /// Opens a folder of this one.
    fn enter(&self, name: &OsStr) -> Result<Self> {
        let path = self.path.join(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.opened, name, flags, Mode::empty()) {
            Ok(opened) => Self::from_descriptor(opened, path),
            Err(_) if self.is_link(name) => Err(Error::Link(path)),
            Err(error) => Err(io("open", path)(error)),
        }
    }

    /// Opens a folder inside this one, by a relative path. None if it is missing.
    ///
    /// # Errors
    ///
    /// Fails if a link or a file is on the way.
    pub fn find(&self, path: &Path) -> Result<Option<Self>> {
        let mut folder = None;
        for name in path.components() {
            match folder.as_ref().unwrap_or(self).enter(name.as_os_str()) {
                Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
                    return Ok(None);
                }
                entered => folder = Some(entered?),
            }
        }
        Ok(folder)
    }

    /// Returns whether something has a name in this folder, also a link that leads nowhere.
    pub fn has(&self, name: &str) -> bool {
        // Only one answer of the system means absence.
        let status = statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW);
        !matches!(status, Err(Errno::NOENT))
    }

    /// Returns the names of everything in this folder.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be read.
    pub fn names(&self) -> Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.opened).map_err(io("read", &*self.path))? {
            let entry = entry.map_err(io("read", &*self.path))?;
            if ![c".", c".."].contains(&entry.file_name()) {
                names.push(OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
            }
        }
        Ok(names)
    }

    /// Reads a regular file in this folder as UTF-8 text, unless it has more than `limit` bytes.
    /// Follows no link.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read_text`](crate::read_text), also for a link.
    pub fn read_text(&self, name: &str, limit: u64) -> std::io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(&self.opened, name, flags, Mode::empty()).map_err(|error| {
            if self.is_link(OsStr::new(name)) {
                refused_link()
            } else {
                error.into()
            }
        })?;
        let file = File::from(opened);
        refuse_others(&file.metadata()?)?;
        read_opened_text(file, limit)
    }

    fn from_descriptor(opened: OwnedFd, path: PathBuf) -> Result<Self> {
        draft::clear_abandoned(&opened, &path)?;
        let owner = Owner::sudo_user();
        Ok(Self {
            opened,
            path,
            owner,
        })
    }

    fn is_link(&self, name: &OsStr) -> bool {
        statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Symlink)
    }

    /// Returns true if a name belongs to a device, a pipe or a socket, directly or through a
    /// link. These are never replaced, not even with `--force`.
    fn is_special(&self, name: &OsStr) -> bool {
        [AtFlags::SYMLINK_NOFOLLOW, AtFlags::empty()]
            .into_iter()
            .filter_map(|flags| statat(&self.opened, name, flags).ok())
            .any(|facts| {
                !matches!(
                    FileType::from_raw_mode(facts.st_mode),
                    FileType::RegularFile | FileType::Symlink | FileType::Directory
                )
            })
    }

    fn is_empty(&self) -> bool {
        self.names().is_ok_and(|names| names.is_empty())
    }

    /// Writes a file completely or not at all, by a path inside this folder.
    ///
    /// # Errors
    ///
    /// Fails if the file exists and `force` is not set, if it cannot be written, or if `fill`
    /// fails.
    pub fn write<E: From<Error>>(
        &self,
        path: &Path,
        force: bool,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<(), E>,
    ) -> Result<(), E> {
        let (outer, name) = self.outer(path)?;
        let draft = outer.as_ref().unwrap_or(self).draft(name)?;
        let mut out = BufWriter::new(draft.file());
        fill(&mut out)?;
        out.flush().map_err(io("write", self.path.join(path)))?;
        drop(out);
        Ok(draft.finish(force)?)
    }

    /// Begins a file in this folder. The file gets its name when it is finished.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written, or a device, a pipe or a socket has that name.
    pub fn draft(&self, name: &OsStr) -> Result<Draft<'_>> {
        let shown = self.path.join(name);
        if self.is_special(name) {
            return Err(Error::NotReplaced(shown));
        }
        Draft::begin(self.place(), name).map_err(io("write", shown))
    }

    fn place(&self) -> DraftPlace<'_> {
        DraftPlace {
            folder: &self.opened,
            path: &self.path,
            owner: self.owner,
        }
    }

    /// Writes bytes as a file completely or not at all, by a path inside this folder.
    ///
    /// # Errors
    ///
    /// Fails if the file exists and `force` is not set, or it cannot be written.
    pub fn write_bytes(&self, path: &Path, force: bool, bytes: &[u8]) -> Result<()> {
        let shown = self.path.join(path);
        self.write(path, force, |out| {
            out.write_all(bytes).map_err(io("write", shown))
        })
    }

    /// Moves a file that another program wrote on this disk into this folder, and replaces a
    /// file of that name.
    ///
    /// # Errors
    ///
    /// Fails if the file is not a regular one, or cannot be moved.
    pub fn move_in(&self, file: &Path, name: &str) -> Result<()> {
        let opened = open_unlinked(file).map_err(io("open", file))?;
        give(&opened, self.owner);
        let path = self.path.join(name);
        renameat(CWD, file, &self.opened, name).map_err(io("write", path))
    }

    /// Creates a file and removes it again, to check that the folder is writable.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses the file.
    pub fn try_to_write(&self) -> std::io::Result<()> {
        Ok(Draft::begin(self.place(), OsStr::new("draft")).map(drop)?)
    }

    /// Removes a file, if it exists, by a path inside this folder.
    ///
    /// # Errors
    ///
    /// Fails if a link is on the way, or the file cannot be removed.
    pub fn remove(&self, path: &Path) -> Result<()> {
        let (outer, name) = self.outer(path)?;
        let outer = outer.as_ref().unwrap_or(self);
        match unlinkat(&outer.opened, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(io("remove", self.path.join(path))(error)),
        }
    }

    /// Removes a folder with everything in it, if it exists, by a path inside this folder.
    ///
    /// # Errors
    ///
    /// Fails if a link or a file is on the way or in its place, or something cannot be removed.
    pub fn remove_folder(&self, path: &Path) -> Result<()> {
        let Some(folder) = self.find(path)? else {
            return Ok(());
        };
        walk::remove_contents(&folder.opened, &folder.path)?;
        let (outer, name) = self.outer(path)?;
        let outer = outer.as_ref().unwrap_or(self);
        unlinkat(&outer.opened, name, AtFlags::REMOVEDIR).map_err(io("remove", folder.path))
    }

    /// Removes a folder of this one, unless something is in it.
    ///
    /// # Errors
    ///
    /// Fails if the system refuses for another reason.
    pub fn remove_empty(&self, name: &str) -> Result<()> {
        match unlinkat(&self.opened, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            Err(error) => Err(io("remove", self.path.join(name))(error)),
        }
    }

    /// Returns the folder that contains the last part of a path, if it is not this one, and the
    /// last part.
    fn outer<'p>(&self, path: &'p Path) -> Result<(Option<Self>, &'p OsStr)> {
        let name = path.file_name().unwrap_or_default();
        let outer = path.parent().filter(|outer| !outer.as_os_str().is_empty());
        Ok((outer.map(|outer| self.inner(outer)).transpose()?, name))
    }
}
