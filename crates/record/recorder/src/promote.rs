//! Moves a bundle from the staging folder to its requested path.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::{Error, Result, file};

/// Moves a bundle to its path. Replaces an existing one only if that is allowed: the old bundle
/// is moved aside first, and put back if anything fails.
pub(crate) fn promote(from: &Path, to: &Path, may_replace: bool, aside: &Path) -> Result<()> {
    if !may_replace || to.symlink_metadata().is_err() {
        return move_new(from, to);
    }

    fs::rename(to, aside).map_err(file("move away", to))?;
    move_new(from, to).map_err(|error| match rename_new(aside, to) {
        Ok(()) => error,
        // Another process has taken the name in between.
        Err(_) => Error::Displaced {
            why: Box::new(error),
            was: to.to_owned(),
            is: aside.to_owned(),
        },
    })
}

/// Moves a folder to a name that does not exist.
pub(crate) fn move_new(from: &Path, to: &Path) -> Result<()> {
    rename_new(from, to).map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(to.to_owned()),
        _ => file("write", to)(cause),
    })
}

/// Moves a folder from where `xctrace` ran, perhaps on another disk, into the staging folder. If
/// that fails, the folder is unchanged where it was.
pub(crate) fn move_or_copy(from: &Path, to: &Path) -> Result<()> {
    match rename_new(from, to) {
        Err(cause) if cause.kind() == io::ErrorKind::CrossesDevices => {}
        renamed => return renamed.map_err(file("write", to)),
    }

    if let Err(error) = copy(from, to) {
        let _ = fs::remove_dir_all(to);
        return Err(error);
    }
    // The copy is complete, so that a failure to remove the original does no harm.
    let _ = fs::remove_dir_all(from);
    Ok(())
}

/// Renames a folder, unless the new name exists.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(refused) => rename_after(refused, from, to),
    }
}

/// Errors of a file system that does not support the flag, such as exFAT, SMB or NFS.
const WITHOUT_FLAG: [Errno; 5] = [
    Errno::INVAL,
    Errno::NOSYS,
    Errno::NOTSUP,
    Errno::OPNOTSUPP,
    Errno::PERM,
];

/// Renames without the flag if its lack is the reason why `refused` came.
fn rename_after(refused: Errno, from: &Path, to: &Path) -> io::Result<()> {
    if !WITHOUT_FLAG.contains(&refused) {
        return Err(refused.into());
    }
    match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(from, to),
    }
}

/// Copies a bundle. The copy shares its data on APFS.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to).map_err(file("create", to))?;
    let entries = fs::read_dir(from).map_err(file("read", from))?;
    for entry in entries {
        let entry = entry.map_err(file("read", from))?;
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(file("read", &source))?;

        if kind.is_dir() {
            copy(&source, &copied)?;
        } else if kind.is_symlink() {
            copy_link(&source, &copied)?;
        } else {
            // Opening refuses pipes, on which a copy would wait forever.
            let data = metalens_files::open(&source).map_err(file("copy", &source))?;
            copy_file(&source, data, &copied).map_err(file("copy", &source))?;
        }
    }
    Ok(())
}

/// Copies a file with its permissions, or without them where the file system has none.
fn copy_file(from: &Path, mut data: File, to: &Path) -> io::Result<()> {
    if let Err(cause) = fs::copy(from, to) {
        let has_no_permissions = matches!(
            cause.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported
        );
        if !has_no_permissions {
            return Err(cause);
        }
        io::copy(&mut data, &mut File::create(to)?)?;
    }

    // Some file systems tell only here that the disk is full. This is not `sync_all`, which SMB
    // refuses on macOS.
    let copied = File::open(to)?;
    match rustix::fs::fsync(&copied) {
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => {}
        Err(cause) => return Err(cause.into()),
    }
    if copied.metadata()?.len() == data.metadata()?.len() {
        Ok(())
    } else {
        Err(io::Error::other("the copy is incomplete"))
    }
}

fn copy_link(from: &Path, to: &Path) -> Result<()> {
    let target = fs::read_link(from).map_err(file("read", from))?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, to).map_err(file("create", to))?;
    Ok(())
}

/// Returns the first of `STEM`, `STEM-2`, … with this ending that is free.
pub(crate) fn first_free(stem: &Path, ending: &str, is_free: impl Fn(&Path) -> bool) -> PathBuf {
    let path = |number: u32| {
        let mut path = stem.as_os_str().to_owned();
        match number {
            1 => path.push(ending),
            _ => path.push(format!("-{number}{ending}")),
        }
        PathBuf::from(path)
    };
    let mut paths = (1..).map(path);
    paths.find(|path| is_free(path)).unwrap_or_else(|| path(1))
}

/// Returns whether nothing has this path.
pub(crate) fn is_unused(path: &Path) -> bool {
    path.symlink_metadata().is_err()
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
    fn no_bundle_is_lost() {
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

        // The new bundle does not exist, so that the old one is put back.
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

    /// The errors are those that exFAT, SMB and NFS are known to give for the flag, and others.
    #[test]
    fn a_file_system_without_the_flag_costs_no_bundle() {
        let check = |refused: Errno, is_taken: bool, is_moved: bool| {
            let root = tempfile::tempdir().unwrap();
            let (new, to) = (root.path().join("new"), root.path().join("x.trace"));
            bundle(&new, "new");
            if is_taken {
                bundle(&to, "old");
            }
            assert_eq!(rename_after(refused, &new, &to).is_ok(), is_moved);
            assert_eq!(text(if is_moved { &to } else { &new }), "new", "{refused}");
            assert!(!is_taken || text(&to) == "old", "{refused}");
        };
        for refused in WITHOUT_FLAG {
            check(refused, false, true);
            check(refused, true, false);
        }
        for refused in [Errno::ACCESS, Errno::ROFS, Errno::NOSPC, Errno::IO] {
            check(refused, false, false);
        }
    }

    /// A bundle on another disk is copied completely or not at all.
    #[test]
    fn bundles_come_from_any_disk() {
        use std::os::unix::fs::MetadataExt;
        let root = tempfile::tempdir().unwrap();

        let disk = |path: &Path| fs::metadata(path).map(|facts| facts.dev());
        let memory = Path::new("/dev/shm");
        let is_other = disk(memory).is_ok_and(|disk_of| disk_of != disk(root.path()).unwrap());
        let elsewhere = if is_other {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            // Without a second disk, only moving is tested.
            tempfile::tempdir().unwrap()
        };
        let (from, to) = (elsewhere.path().join("x"), root.path().join("y"));
        bundle(&from, "new");
        move_or_copy(&from, &to).unwrap();
        assert_eq!((text(&to).as_str(), from.exists()), ("new", false));

        bundle(&from, "newer");
        std::os::unix::net::UnixListener::bind(from.join("odd")).unwrap();
        let other = root.path().join("z");
        match move_or_copy(&from, &other) {
            Ok(()) => assert!(!is_other && text(&other) == "newer"),
            Err(_) => assert!(is_other && text(&from) == "newer" && !other.exists()),
        }
    }

    #[test]
    fn unused_names_are_numbered() {
        let root = tempfile::tempdir().unwrap();
        let output = root.path().join("a b.trace");
        let name = |output: &Path| {
            let path = first_free(&output.with_extension("incomplete"), ".trace", is_unused);
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(name(&output), "a b.incomplete.trace");
        fs::create_dir(root.path().join("a b.incomplete.trace")).unwrap();
        assert_eq!(name(&output), "a b.incomplete-2.trace");
    }
}
