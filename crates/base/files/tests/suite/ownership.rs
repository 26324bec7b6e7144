//! Tests that files of root become the user's again, and no other files do.
//!
//! Only root can change owners: for other users these tests print that and are skipped.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use metalens_files::{Error, Owner, OwnershipChanges, give_file, give_folder};

const ADA: Owner = Owner {
    uid: 4_242,
    gid: 4_243,
};

fn may_run() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("skipped: only root can give files away");
    }
    is_root
}

fn owner(path: &Path) -> (u32, u32) {
    let facts = fs::symlink_metadata(path).unwrap();
    (facts.uid(), facts.gid())
}

/// Creates a bundle, and a folder outside it that must stay unchanged.
fn bundle(root: &Path) {
    fs::create_dir_all(root.join("x.trace/a/b")).unwrap();
    fs::write(root.join("x.trace/top"), "1").unwrap();
    fs::write(root.join("x.trace/a/b/deep"), "2").unwrap();
    fs::create_dir(root.join("outside")).unwrap();
    fs::write(root.join("outside/secret"), "3").unwrap();
}

#[test]
fn a_bundle_changes_its_owner_and_nothing_else_does() {
    if !may_run() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    bundle(root.path());
    let changes = give_folder(&path("x.trace"), ADA).unwrap();
    assert_eq!(
        changes,
        OwnershipChanges {
            changed: 5,
            ..OwnershipChanges::default()
        }
    );
    for name in [
        "x.trace",
        "x.trace/a",
        "x.trace/a/b",
        "x.trace/a/b/deep",
        "x.trace/top",
    ] {
        assert_eq!(owner(&path(name)), (ADA.uid, ADA.gid), "{name}");
    }
    for name in ["outside", "outside/secret"] {
        assert_eq!(owner(&path(name)), (0, 0), "{name}");
    }
    let again = give_folder(&path("x.trace"), ADA).unwrap();
    assert_eq!(
        again,
        OwnershipChanges {
            already: 5,
            ..OwnershipChanges::default()
        }
    );
}

#[test]
fn planted_links_change_no_owner_outside() {
    if !may_run() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    bundle(root.path());
    symlink("../outside/secret", path("x.trace/to-file")).unwrap();
    symlink("../../outside", path("x.trace/a/to-folder")).unwrap();
    fs::hard_link(path("outside/secret"), path("x.trace/a/b/same")).unwrap();
    let changes = give_folder(&path("x.trace"), ADA).unwrap();
    let shared = vec![path("x.trace/a/b/same")];
    assert_eq!(
        changes,
        OwnershipChanges {
            changed: 5,
            links: 2,
            shared,
            ..OwnershipChanges::default()
        }
    );
    for name in [
        "outside",
        "outside/secret",
        "x.trace/to-file",
        "x.trace/a/to-folder",
    ] {
        assert_eq!(owner(&path(name)), (0, 0), "{name}");
    }
}

#[test]
fn a_link_to_a_bundle_is_refused() {
    if !may_run() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    bundle(root.path());
    symlink("outside", path("y.trace")).unwrap();
    symlink("outside/secret", path("file")).unwrap();
    // The system follows a link with a slash behind it, so every spelling must be refused.
    for end in ["", "/", "//", "/.", "/./", "/.//."] {
        let named = PathBuf::from(format!("{}{end}", path("y.trace").display()));
        let refused = give_folder(&named, ADA);
        assert!(matches!(refused, Err(Error::Link(_))), "{named:?}");
    }
    assert!(matches!(
        give_file(&path("file"), ADA),
        Err(Error::Io { .. })
    ));
    let changes = give_folder(&path("x.trace/"), ADA).unwrap();
    assert_eq!(changes.changed, 5);
    assert_eq!(owner(&path("outside")), (0, 0));
    assert_eq!(owner(&path("outside/secret")), (0, 0));
}

/// A folder of the bundle is swapped for a link again and again during the change of owners.
/// Files outside must stay root's, whatever the outcome.
#[test]
fn swapped_folders_change_no_owner_outside() {
    if !may_run() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    bundle(root.path());
    symlink("../../outside", path("link")).unwrap();
    let (inner, aside, link) = (path("x.trace/a/b"), path("aside"), path("link"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fs::rename(&inner, &aside);
                let _ = fs::rename(&link, &inner);
                let _ = fs::rename(&inner, &link);
                let _ = fs::rename(&aside, &inner);
            }
        });
        for _ in 0..300 {
            // The call may be refused, or find the folder missing.
            let _ = give_folder(&path("x.trace"), ADA);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(owner(&path("outside")), (0, 0));
    assert_eq!(owner(&path("outside/secret")), (0, 0));
}

#[test]
fn unreadable_files_become_readable() {
    if !may_run() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    bundle(root.path());
    fs::set_permissions(path("x.trace/top"), fs::Permissions::from_mode(0o040)).unwrap();
    fs::set_permissions(path("x.trace/a"), fs::Permissions::from_mode(0o500)).unwrap();
    give_folder(&path("x.trace"), ADA).unwrap();
    let mode = |name: &str| fs::metadata(path(name)).unwrap().mode() & 0o777;
    assert_eq!((mode("x.trace/top"), mode("x.trace/a")), (0o640, 0o700));
}

#[test]
fn pipes_keep_their_owner() {
    if !may_run() {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    bundle(root.path());
    let pipe = root.path().join("x.trace/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: there is no mkfifo");
        return;
    }
    let changes = give_folder(&root.path().join("x.trace"), ADA).unwrap();
    assert_eq!((changes.changed, changes.others), (5, 1));
    assert_eq!(owner(&pipe), (0, 0));
}
