//! From the staging folder to the name that was asked for.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::error::{Error, Result, file};

/// Moves a bundle to its name. One that is there is replaced only if that is
/// allowed: it is moved aside first, and put back if anything fails.
pub(crate) fn promote(from: &Path, to: &Path, may_replace: bool, aside: &Path) -> Result<()> {
    if may_replace && to.symlink_metadata().is_ok() {
        fs::rename(to, aside).map_err(file("move away", to))?;
        if let Err(error) = move_new(from, to) {
            // Nobody else can be there: it was theirs a moment ago.
            let _ = fs::rename(aside, to);
            return Err(error);
        }
        return Ok(());
    }
    move_new(from, to)
}

/// Moves a folder to a name that nothing has.
pub(crate) fn move_new(from: &Path, to: &Path) -> Result<()> {
    match rename_new(from, to) {
        Ok(()) => Ok(()),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::Exists(to.to_owned()))
        }
        // From where the recorder ran, which may be another disk.
        Err(cause) if cause.kind() == io::ErrorKind::CrossesDevices => {
            copy(from, to)?;
            fs::remove_dir_all(from).map_err(file("remove", from))
        }
        Err(cause) => Err(file("write", to)(cause)),
    }
}

fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // Some file systems cannot be asked for that.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {
            match to.symlink_metadata() {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => fs::rename(from, to),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// Copies a bundle. On APFS that shares the data.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to).map_err(file("create", to))?;
    let entries = fs::read_dir(from).map_err(file("read", from))?;
    for entry in entries {
        let entry = entry.map_err(file("read", from))?;
        let (source, place) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(file("read", &source))?;
        if kind.is_dir() {
            copy(&source, &place)?;
        } else if kind.is_symlink() {
            copy_link(&source, &place)?;
        } else {
            fs::copy(&source, &place).map_err(file("copy", &source))?;
        }
    }
    Ok(())
}

fn copy_link(from: &Path, to: &Path) -> Result<()> {
    let target = fs::read_link(from).map_err(file("read", from))?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, to).map_err(file("create", to))?;
    Ok(())
}

/// A name beside another that nothing has: `a.incomplete.trace`, `a.incomplete-2.trace`, …
pub(crate) fn free_name(output: &Path, what: &str) -> PathBuf {
    let name = |at: u32| {
        let mut name = output.file_stem().unwrap_or_default().to_owned();
        name.push(match at {
            1 => format!(".{what}.trace"),
            _ => format!(".{what}-{at}.trace"),
        });
        output.with_file_name(name)
    };
    let mut names = (1..).map(name);
    let free = names.find(|path| path.symlink_metadata().is_err());
    free.unwrap_or_else(|| name(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(path: &Path, text: &str) {
        fs::create_dir_all(path.join("a")).unwrap();
        fs::write(path.join("a/b"), text).unwrap();
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path.join("a/b")).unwrap()
    }

    #[test]
    fn nothing_is_lost() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let (new, to, aside) = (path("new"), path("x.trace"), path("aside"));
        bundle(&new, "new");
        promote(&new, &to, false, &aside).unwrap();
        assert_eq!(text(&to), "new");

        bundle(&new, "newer");
        let refused = promote(&new, &to, false, &aside);
        assert!(matches!(refused, Err(Error::Exists(_))));
        assert_eq!(
            (text(&new), text(&to)),
            ("newer".to_owned(), "new".to_owned())
        );

        promote(&new, &to, true, &aside).unwrap();
        assert_eq!(
            (text(&to), text(&aside)),
            ("newer".to_owned(), "new".to_owned())
        );

        // What is to come is gone: what was there is there again.
        fs::remove_dir_all(&aside).unwrap();
        assert!(promote(&path("absent"), &to, true, &aside).is_err());
        assert_eq!(text(&to), "newer");
    }

    #[test]
    fn an_empty_folder_is_not_replaced_either() {
        let root = tempfile::tempdir().unwrap();
        let (new, to) = (root.path().join("new"), root.path().join("x.trace"));
        bundle(&new, "new");
        fs::create_dir(&to).unwrap();
        assert!(matches!(move_new(&new, &to), Err(Error::Exists(_))));
    }

    #[test]
    fn free_names() {
        let root = tempfile::tempdir().unwrap();
        let output = root.path().join("a b.trace");
        let name = |output: &Path| {
            let path = free_name(output, "incomplete");
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(name(&output), "a b.incomplete.trace");
        fs::create_dir(root.path().join("a b.incomplete.trace")).unwrap();
        assert_eq!(name(&output), "a b.incomplete-2.trace");
    }
}
