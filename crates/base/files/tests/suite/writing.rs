//! Tests that files appear complete, in the right place, and replace others only on request.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use metalens_files::{Error, Folder, write};

fn text(text: &'static str) -> impl FnOnce(&mut (dyn Write + Send)) -> Result<(), Error> {
    move |out| {
        out.write_all(text.as_bytes()).unwrap();
        Ok(())
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_file_is_written_completely_or_not_at_all() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a");
    write(&file, false, text("one")).unwrap();
    assert!(matches!(
        write(&file, false, text("two")),
        Err(Error::Exists(_))
    ));
    assert_eq!(read(&file), "one");
    write(&file, true, text("two")).unwrap();
    assert_eq!(read(&file), "two");
    let broken = write(&file, true, |out| {
        out.write_all(b"three").unwrap();
        Err(Error::Tampered(file.clone()))
    });
    assert!(matches!(broken, Err(Error::Tampered(_))));
    assert_eq!((read(&file).as_str(), count(root.path())), ("two", 1));
}

/// A file that appears between the check and the writing is somebody else's.
#[test]
fn a_file_that_appears_meanwhile_stays() {
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("a");
    let refused = write(&file, false, |out| {
        fs::write(&file, "theirs").unwrap();
        text("ours")(out)
    });
    assert!(matches!(refused, Err(Error::Exists(_))), "{refused:?}");
    assert_eq!((read(&file).as_str(), count(root.path())), ("theirs", 1));
}

#[test]
fn only_a_link_to_the_named_folder_is_followed() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("real")).unwrap();
    fs::create_dir(at("elsewhere")).unwrap();
    fs::write(at("victim"), "mine").unwrap();
    symlink("real", at("named")).unwrap();
    symlink("../elsewhere", at("real/charts")).unwrap();
    symlink("../victim", at("real/a")).unwrap();

    for named in [at("named"), at("named/"), at("real")] {
        let folder = Folder::make(&named).unwrap();
        let refused = folder.write_bytes(Path::new("charts/x"), true, b"1");
        assert!(matches!(refused, Err(Error::Link(_))), "{refused:?}");
        assert!(matches!(
            folder.inner(Path::new("charts/new")),
            Err(Error::Link(_))
        ));
        let refused = folder.write_bytes(Path::new("a"), false, b"1");
        assert!(matches!(refused, Err(Error::Exists(_))), "{refused:?}");
    }
    // A link in the place of a file is replaced.
    write(&at("named/a"), true, text("new")).unwrap();
    assert!(!at("real/a").is_symlink());
    assert_eq!(
        (read(&at("real/a")), read(&at("victim"))),
        ("new".into(), "mine".into())
    );
    assert_eq!(count(&at("elsewhere")), 0);
    symlink("nowhere", at("dangling")).unwrap();
    assert!(matches!(Folder::make(&at("dangling")), Err(Error::Link(_))));
}

/// Folders are removed and read without following links, and the target of a link stays.
#[test]
fn removing_and_reading_follow_no_link() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir_all(at("elsewhere/run-1")).unwrap();
    fs::write(at("elsewhere/run-1/text"), "mine").unwrap();
    fs::create_dir_all(at("real/a/run-1/deep/er")).unwrap();
    fs::write(at("real/a/run-1/deep/text"), "1").unwrap();
    symlink(at("elsewhere"), at("real/a/run-1/deep/link")).unwrap();
    symlink(at("elsewhere"), at("real/linked")).unwrap();
    symlink(at("elsewhere/run-1/text"), at("real/text")).unwrap();
    symlink("nowhere", at("real/dangling")).unwrap();

    let folder = Folder::open(&at("real")).unwrap();
    for path in ["linked", "linked/run-1", "dangling"] {
        let refused = folder.remove_folder(Path::new(path));
        assert!(
            matches!(refused, Err(Error::Link(_))),
            "{path}: {refused:?}"
        );
        let refused = folder.find(Path::new(path));
        assert!(
            matches!(refused, Err(Error::Link(_))),
            "{path}: {refused:?}"
        );
        assert!(folder.has(path), "{path}");
    }
    let refused = folder.read_text("text", 9).unwrap_err();
    assert!(refused.to_string().contains("a link"), "{refused}");
    assert!(
        folder.remove_folder(Path::new("text")).is_err(),
        "it is no folder"
    );

    folder.remove_folder(Path::new("a/run-1")).unwrap();
    folder.remove_folder(Path::new("a/run-1")).unwrap();
    folder.remove_folder(Path::new("absent/run-1")).unwrap();
    assert!(at("real/a").is_dir() && !at("real/a/run-1").exists());
    assert!(!at("real/absent").exists() && !folder.has("absent"));
    assert!(folder.find(Path::new("a/run-1")).unwrap().is_none());
    assert_eq!(read(&at("elsewhere/run-1/text")), "mine");

    fs::write(at("real/plain"), "1").unwrap();
    assert_eq!(folder.read_text("plain", 1).unwrap(), "1");
    folder.remove_empty("a").unwrap();
    fs::create_dir_all(at("real/full/x")).unwrap();
    folder.remove_empty("full").unwrap();
    let mut names = folder.names().unwrap();
    names.sort();
    assert_eq!(names, ["dangling", "full", "linked", "plain", "text"]);
}

/// Root writing to `/dev/null` with `--force` must not replace it by a file.
#[test]
fn devices_and_sockets_are_not_replaced() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    symlink("socket", at("link")).unwrap();
    symlink("/dev/null", at("null")).unwrap();
    for name in ["socket", "link", "null"] {
        let refused = write(&at(name), true, text("1"));
        assert!(
            matches!(refused, Err(Error::NotReplaced(_))),
            "{name}: {refused:?}"
        );
    }
    assert_eq!(count(root.path()), 3);
}

#[test]
fn missing_folders_are_created() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let folder = Folder::make(&at("a/b/../c/d")).unwrap();
    folder
        .write_bytes(Path::new("e/f/g.txt"), false, b"1")
        .unwrap();
    assert_eq!(read(&at("a/c/d/e/f/g.txt")), "1");
    assert!(matches!(
        Folder::make(&at("a/c/d/e/f/g.txt/h")),
        Err(Error::Io { .. })
    ));
}

/// A draft is private; the finished file has the permissions that the umask allows.
#[test]
fn a_file_is_private_until_it_is_finished() {
    let root = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let usual = root.path().join("usual");
    fs::write(&usual, "").unwrap();
    let usual = mode(&usual);
    let file = root.path().join("a");
    write(&file, false, |out| {
        let entries = fs::read_dir(root.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().path());
        let draft = names.filter(|path| path.extension().is_some_and(|is| is == "draft"));
        let modes: Vec<u32> = draft.map(|draft| mode(&draft)).collect();
        assert_eq!(modes, [0o600]);
        text("1")(out)
    })
    .unwrap();
    assert_eq!(mode(&file), usual);
}

/// Drafts of killed processes are removed; drafts in use and files of other names stay.
#[test]
fn only_abandoned_drafts_are_removed() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir(at("charts")).unwrap();
    let others = [
        ".metalens-1.work.json",
        ".metalens-abc",
        "x.draft",
        "charts/.metalens-notes",
    ];
    for name in others
        .iter()
        .chain(&[".metalens-1.draft", "charts/.metalens-2.draft"])
    {
        fs::write(at(name), "x").unwrap();
    }
    symlink("x.draft", at(".metalens-3.draft")).unwrap();

    write(&at("a"), false, |out| {
        // Another process that writes to the same folders.
        Folder::open(root.path())
            .unwrap()
            .write_bytes(Path::new("charts/b"), false, b"1")?;
        text("1")(out)
    })
    .unwrap();
    for name in others.iter().chain(&["a", "charts/b"]) {
        assert!(at(name).exists(), "{name}");
    }
    for name in [".metalens-1.draft", "charts/.metalens-2.draft"] {
        assert!(!at(name).exists(), "{name}");
    }
    assert!(at(".metalens-3.draft").is_symlink());
}
