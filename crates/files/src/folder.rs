//! Folders to write in, reached by their descriptors: what becomes of a path meanwhile does
//! not matter.

use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::draft::{self, Draft, give};
use crate::error::{Error, Result, io};
use crate::owner::Owner;

/// An open folder. What is made in it belongs to the user who ran `sudo`.
#[derive(Debug)]
pub struct Folder {
    pub(crate) opened: OwnedFd,
    /// For messages.
    pub(crate) path: PathBuf,
    pub(crate) owner: Option<Owner>,
}

impl Folder {
    /// Opens a folder that somebody named: a link to one is followed. Takes away what killed
    /// processes left in it.
    ///
    /// # Errors
    ///
    /// If it is no folder, or cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let named = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        let opened = openat(CWD, named, flags, Mode::empty());
        Self::of(opened.map_err(io("open", named))?, named.to_owned())
    }

    /// Opens a folder that somebody named. It is made first if it is not there, with those
    /// that it lies in.
    ///
    /// # Errors
    ///
    /// If it is no folder, or cannot be made.
    pub fn make(path: &Path) -> Result<Self> {
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

    /// Opens a folder in this one, by a path that leads inwards. It is made first if it is
    /// not there.
    ///
    /// # Errors
    ///
    /// If there is a link or a file on the way, or it cannot be made.
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
        let path = self.path.join(name);
        let made = match mkdirat(&self.opened, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(io("create", path)(error)),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = match openat(&self.opened, name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(_) if self.is_link(name) => return Err(Error::Link(path)),
            Err(error) => return Err(io("open", path)(error)),
        };
        let inner = Self::of(opened, path)?;
        // One with something in it has taken the place of ours, and is somebody's.
        if made && inner.is_empty() {
            give(&inner.opened, inner.owner);
        }
        Ok(inner)
    }

    fn of(opened: OwnedFd, path: PathBuf) -> Result<Self> {
        draft::clear_left_over(&opened, &path)?;
        let owner = Owner::who_ran_sudo();
        Ok(Self {
            opened,
            path,
            owner,
        })
    }

    /// Leaves to root what root makes here: for files of the system.
    #[must_use]
    pub fn of_the_system(self) -> Self {
        Self {
            owner: None,
            ..self
        }
    }

    fn is_link(&self, name: &OsStr) -> bool {
        let found = statat(&self.opened, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    }

    /// Whether a device or the like has a name, by itself or through a link: even who may
    /// replace files means none of these.
    fn is_odd(&self, name: &OsStr) -> bool {
        let is_odd = |flags| {
            let found = statat(&self.opened, name, flags);
            let kind = found.map(|found| FileType::from_raw_mode(found.st_mode));
            kind.is_ok_and(|kind| {
                let usual = [
                    FileType::RegularFile,
                    FileType::Symlink,
                    FileType::Directory,
                ];
                !usual.contains(&kind)
            })
        };
        is_odd(AtFlags::SYMLINK_NOFOLLOW) || is_odd(AtFlags::empty())
    }

    fn is_empty(&self) -> bool {
        let entries = Dir::read_from(&self.opened);
        entries.is_ok_and(|entries| {
            let is_own = |name: &[u8]| name == b"." || name == b"..";
            let mut names =
                entries.map(|entry| entry.map(|one| is_own(one.file_name().to_bytes())));
            names.all(|is_own| is_own == Ok(true))
        })
    }

    /// Writes a file whole or not at all, by a path that leads inwards.
    ///
    /// # Errors
    ///
    /// If the file exists and `force` is not set, if it cannot be written, or if `fill` fails.
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

    /// Begins a file in this folder. It has its name once it is finished.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or something that is no file has that name.
    pub fn draft(&self, name: &OsStr) -> Result<Draft<'_>> {
        let shown = self.path.join(name);
        if self.is_odd(name) {
            return Err(Error::NotReplaced(shown));
        }
        Draft::begin(self, name).map_err(io("write", shown))
    }

    /// Writes bytes as a file whole or not at all, by a path that leads inwards.
    ///
    /// # Errors
    ///
    /// If the file exists and `force` is not set, or it cannot be written.
    pub fn write_bytes(&self, path: &Path, force: bool, bytes: &[u8]) -> Result<()> {
        let shown = self.path.join(path);
        self.write(path, force, |out| {
            out.write_all(bytes).map_err(io("write", shown))
        })
    }

    /// Takes a file in that another program made elsewhere on this disk, in the place of one
    /// that is there.
    ///
    /// # Errors
    ///
    /// If it is no plain file, or cannot be moved.
    pub fn take_in(&self, file: &Path, name: &str) -> Result<()> {
        let opened = crate::open_unlinked(file).map_err(io("open", file))?;
        give(&opened, self.owner);
        let path = self.path.join(name);
        renameat(CWD, file, &self.opened, name).map_err(io("write", path))
    }

    /// Makes a file, and takes it away again: whether there is room and leave for one.
    ///
    /// # Errors
    ///
    /// If there is not.
    pub fn try_to_write(&self) -> std::io::Result<()> {
        Ok(Draft::begin(self, OsStr::new("draft")).map(drop)?)
    }

    /// Opens a file in this folder for reading and writing, made first if it is not there,
    /// and never cut. A link is refused.
    ///
    /// # Errors
    ///
    /// If it is no plain file, or cannot be made.
    pub fn open_or_make(&self, name: &str) -> Result<std::fs::File> {
        let path = self.path.join(name);
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let new = flags | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::from_raw_mode(0o666);
        let opened = match openat(&self.opened, name, new, mode) {
            Ok(made) => {
                give(&made, self.owner);
                made
            }
            Err(Errno::EXIST) if self.is_link(OsStr::new(name)) => return Err(Error::Link(path)),
            Err(Errno::EXIST) => {
                openat(&self.opened, name, flags, mode).map_err(io("open", &*path))?
            }
            Err(error) => return Err(io("create", path)(error)),
        };
        let file = std::fs::File::from(opened);
        let checked = file
            .metadata()
            .and_then(|facts| crate::refuse_others(&facts));
        checked.map_err(io("open", path))?;
        Ok(file)
    }

    /// Removes a file, if it is there, by a path that leads inwards.
    ///
    /// # Errors
    ///
    /// If there is a link on the way, or it cannot be removed.
    pub fn remove(&self, path: &Path) -> Result<()> {
        let (outer, name) = self.outer(path)?;
        let outer = outer.as_ref().unwrap_or(self);
        match unlinkat(&outer.opened, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(io("remove", self.path.join(path))(error)),
        }
    }

    /// Returns the folder that the last part of a path lies in, if it is not this one, and
    /// that part.
    fn outer<'p>(&self, path: &'p Path) -> Result<(Option<Self>, &'p OsStr)> {
        let name = path.file_name().unwrap_or_default();
        let outer = path.parent().filter(|outer| !outer.as_os_str().is_empty());
        Ok((outer.map(|outer| self.inner(outer)).transpose()?, name))
    }
}
