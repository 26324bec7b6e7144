//! Decides which of the programs of a launch writes the log, and what those that it starts inherit.
//!
//! The log belongs to the first process that meets a Metal device. Until then the variables stay in
//! the environment, so that a launcher hands them on; afterwards no other program gets them. They are
//! never handed to an image that cannot take the library: the loader of macOS would end it.
#![expect(
    unsafe_code,
    reason = "changes the environment in place, and replaces functions that start programs"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Once, OnceLock};

use crate::image::{Image, OWN};
use crate::mode::{contained, fall_silent};
use crate::session::Session;
use crate::system::own_file_name;

/// Variable by which the system loads a library into a program, with the sign that ends its name, and
/// what divides its entries.
#[cfg(target_os = "macos")]
const LOADER: (&[u8], &[u8]) = (b"DYLD_INSERT_LIBRARIES=", b":");
#[cfg(not(target_os = "macos"))]
const LOADER: (&[u8], &[u8]) = (b"LD_PRELOAD=", b": ");
/// Beginning of the names of the probe's own variables.
const OWN_VARIABLES: &[u8] = b"METALENS_PROBE_";
/// Entries of an environment at most that can be handed on without the probe's. One with more is handed
/// on as it is.
const ENTRIES: usize = 2_048;

/// What the library was loaded with.
pub(crate) struct Loaded {
    /// Path of the log; `None` if none was asked for.
    log: Option<PathBuf>,
    /// Folder for marks of the programs that the library was loaded into; `None` if nobody looks.
    marks: Option<PathBuf>,
    /// The loader's variable without this library; `None` if no other is in it.
    others: Option<CString>,
}

static LOADED: OnceLock<Loaded> = OnceLock::new();
/// Process that has claimed the log; 0 if none has.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Reads how the library was loaded. Returns false if the program loaded it itself: then the
/// environment is none of its business.
pub(crate) fn load() -> bool {
    let Some(others) = other_libraries() else {
        return false;
    };
    let path = |name| std::env::var_os(name).map(PathBuf::from);
    let loaded = LOADED.get_or_init(|| Loaded {
        log: path("METALENS_PROBE_LOG"),
        marks: path("METALENS_PROBE_MARKS"),
        others,
    });
    original::resolve();
    loaded.mark("loaded");
    true
}

/// Claims the log for this process, once, as it meets its first Metal device, and takes the variables
/// out of the environment. If another process has the log, this one is silent.
pub(crate) fn claim(begin: impl FnOnce()) {
    static ONCE: Once = Once::new();
    let Some(loaded) = LOADED.get() else { return };
    ONCE.call_once(|| {
        let opened = loaded.log.as_ref().map(|log| {
            let file = File::options().write(true).create_new(true).open(log)?;
            Session::begin(file)
        });
        match opened {
            None | Some(Ok(())) => begin(),
            Some(Err(_)) => {
                loaded.mark("also");
                fall_silent();
            }
        }
        OWNER.store(std::process::id(), Ordering::Relaxed);
        loaded.hide();
    });
}

impl Loaded {
    /// Leaves a file that names this program.
    fn mark(&self, what: &str) {
        let Some(folder) = &self.marks else { return };
        let path = folder.join(format!("{what}-{}", std::process::id()));
        let program = std::env::current_exe().unwrap_or_default();
        // Whoever asked for it may have removed the folder.
        if let Ok(mut file) = File::options().write(true).create_new(true).open(path) {
            let _ = file.write_all(program.as_os_str().as_encoded_bytes());
        }
    }

    /// Takes the variables out of the environment in place: other threads may read it.
    fn hide(&self) {
        // SAFETY: the list ends with null, and its entries are strings that may be changed, as the C
        // library says of them.
        unsafe {
            let mut place = *environment();
            while !place.is_null() && !(*place).is_null() {
                match (kind(*place), &self.others) {
                    (Entry::Other, _) => {}
                    (Entry::Loader, Some(others)) => {
                        place.write_volatile(others.as_ptr().cast_mut());
                    }
                    _ => (*place).write_volatile(b'_'.cast_signed()),
                }
                place = place.add(1);
            }
        }
    }
}

/// An entry of an environment.
enum Entry {
    Loader,
    Own,
    Other,
}

/// Returns the kind of an entry.
///
/// # Safety
///
/// It must be a C string.
unsafe fn kind(entry: *const c_char) -> Entry {
    // SAFETY: the caller promises it.
    let entry = unsafe { CStr::from_ptr(entry) }.to_bytes();
    if entry.starts_with(OWN_VARIABLES) {
        Entry::Own
    } else if entry.starts_with(LOADER.0) {
        Entry::Loader
    } else {
        Entry::Other
    }
}

/// Returns the loader's variable without this library, if this library is in it.
#[expect(
    clippy::option_option,
    reason = "absent, without others, and with others"
)]
fn other_libraries() -> Option<Option<CString>> {
    let (variable, dividers) = LOADER;
    let name = std::str::from_utf8(variable).ok()?.trim_end_matches('=');
    let (libraries, own) = (std::env::var_os(name)?.into_vec(), own_file_name()?);
    let entries = libraries.split(|byte| dividers.contains(byte));
    let (own, others): (Vec<&[u8]>, Vec<&[u8]>) = entries
        .filter(|entry| !entry.is_empty())
        .partition(|entry| entry.rsplit(|&byte| byte == b'/').next() == Some(&own));
    if own.is_empty() {
        return None;
    }
    let others = (!others.is_empty()).then(|| [variable, &others.join(&b':')].concat());
    Some(others.and_then(|others| CString::new(others).ok()))
}

/// How a program is started.
#[derive(Clone, Copy, PartialEq)]
enum Start {
    /// It takes the place of this process.
    Replaces,
    Child,
}

/// Calls a function that starts a program, with what that program inherits. It may run in a child of a
/// threaded program between fork and exec, which shares all memory with its parent: nothing is
/// allocated, locked or kept.
///
/// # Safety
///
/// `path` must be a C string or null, `environment` a list of C strings that ends with null, or null.
unsafe fn start(
    path: *const c_char,
    environment: *const *const c_char,
    start: Start,
    call: impl FnOnce(*const *const c_char) -> c_int,
) -> c_int {
    let Some(loaded) = LOADED
        .get()
        .filter(|_| !path.is_null() && !environment.is_null())
    else {
        return call(environment);
    };
    // SAFETY: the caller promises it.
    let path = unsafe { CStr::from_ptr(path) };
    let owner = OWNER.load(Ordering::Relaxed);
    let image = Image::of_file(path);
    if owner == 0 && image.is_none_or(|image| image.takes(OWN)) {
        return call(environment);
    }
    // A search along PATH tries files that do not exist.
    if owner == std::process::id() && start == Start::Replaces && image.is_some() {
        contained(Session::close_at_exit);
    }

    let mut left = [std::ptr::null(); ENTRIES];
    let (mut count, mut place) = (0, environment);
    // SAFETY: the list ends with null.
    while let Some(&entry) = unsafe { place.as_ref() }.filter(|entry| !entry.is_null()) {
        // SAFETY: the caller promises that it is a C string.
        let kept = match (unsafe { kind(entry) }, &loaded.others) {
            (Entry::Other, _) => Some(entry),
            (Entry::Loader, Some(others)) => Some(others.as_ptr()),
            _ => None,
        };
        if let Some(entry) = kept {
            match left.get_mut(count).filter(|_| count + 1 < ENTRIES) {
                Some(slot) => *slot = entry,
                None => return call(environment),
            }
            count += 1;
        }
        place = place.wrapping_add(1);
    }
    call(left.as_ptr())
}

type Exec =
    unsafe extern "C" fn(*const c_char, *const *const c_char, *const *const c_char) -> c_int;
type Spawn = unsafe extern "C" fn(
    *mut c_int,
    *const c_char,
    *const c_void,
    *const c_void,
    *const *const c_char,
    *const *const c_char,
) -> c_int;

#[cfg_attr(not(target_os = "macos"), unsafe(export_name = "execve"))]
unsafe extern "C" fn exec(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> c_int {
    // SAFETY: the arguments are those of the program's own call.
    unsafe {
        start(path, environment, Start::Replaces, |environment| {
            original::exec()(path, arguments, environment)
        })
    }
}

/// Defines a function in the place of one that spawns programs.
macro_rules! spawns {
    ($name:ident, $symbol:literal) => {
        #[cfg_attr(not(target_os = "macos"), unsafe(export_name = $symbol))]
        unsafe extern "C" fn $name(
            pid: *mut c_int,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const *const c_char,
            environment: *const *const c_char,
        ) -> c_int {
            // SAFETY: as above.
            unsafe {
                start(
                    path,
                    environment,
                    original::how(attributes),
                    |environment| {
                        original::$name()(pid, path, actions, attributes, arguments, environment)
                    },
                )
            }
        }
    };
}
spawns!(spawn, "posix_spawn");
spawns!(spawn_by_name, "posix_spawnp");

/// Returns the place of the list of the environment.
fn environment() -> *mut *mut *mut c_char {
    #[cfg(target_os = "macos")]
    {
        unsafe extern "C" {
            fn _NSGetEnviron() -> *mut *mut *mut c_char;
        }
        // SAFETY: it takes nothing.
        unsafe { _NSGetEnviron() }
    }
    #[cfg(not(target_os = "macos"))]
    {
        unsafe extern "C" {
            static mut environ: *mut *mut c_char;
        }
        &raw mut environ
    }
}

/// On macOS the loader replaces the functions in every other library; here the names are the originals.
#[cfg(target_os = "macos")]
mod original {
    use std::ffi::{c_char, c_int, c_short, c_void};

    use super::{Exec, Spawn, Start};

    unsafe extern "C" {
        fn execve(
            path: *const c_char,
            arguments: *const *const c_char,
            environment: *const *const c_char,
        ) -> c_int;
        fn posix_spawn(
            pid: *mut c_int,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const *const c_char,
            environment: *const *const c_char,
        ) -> c_int;
        fn posix_spawnp(
            pid: *mut c_int,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: *const *const c_char,
            environment: *const *const c_char,
        ) -> c_int;
        fn posix_spawnattr_getflags(attributes: *const c_void, flags: *mut c_short) -> c_int;
    }

    #[repr(C)]
    struct Replacement<F> {
        new: F,
        old: F,
    }

    // SAFETY: entries of this section are pairs of functions of the same type.
    #[unsafe(link_section = "__DATA,__interpose")]
    #[used]
    static EXEC: Replacement<Exec> = Replacement {
        new: super::exec,
        old: execve,
    };
    // SAFETY: as above.
    #[unsafe(link_section = "__DATA,__interpose")]
    #[used]
    static SPAWNS: [Replacement<Spawn>; 2] = [
        Replacement {
            new: super::spawn,
            old: posix_spawn,
        },
        Replacement {
            new: super::spawn_by_name,
            old: posix_spawnp,
        },
    ];

    pub(super) fn resolve() {}

    pub(super) fn exec() -> Exec {
        execve
    }

    pub(super) fn spawn() -> Spawn {
        posix_spawn
    }

    pub(super) fn spawn_by_name() -> Spawn {
        posix_spawnp
    }

    /// Returns how attributes start a program.
    pub(super) fn how(attributes: *const c_void) -> Start {
        const SETEXEC: c_short = 0x40;
        let mut flags = 0;
        // SAFETY: the attributes are those of the program's own call.
        let known = !attributes.is_null()
            && unsafe { posix_spawnattr_getflags(attributes, &raw mut flags) } == 0;
        if known && flags & SETEXEC != 0 {
            Start::Replaces
        } else {
            Start::Child
        }
    }
}

/// Elsewhere a preloaded library's own functions come first.
#[cfg(not(target_os = "macos"))]
mod original {
    use std::ffi::{CStr, c_void};
    use std::mem::transmute;
    use std::sync::OnceLock;

    use super::{Exec, Spawn, Start};
    use crate::system::next_symbol;

    /// The originals, found before anybody forks.
    static FOUND: OnceLock<[usize; 3]> = OnceLock::new();
    const NAMES: [&CStr; 3] = [c"execve", c"posix_spawn", c"posix_spawnp"];

    pub(super) fn resolve() {
        FOUND.get_or_init(|| NAMES.map(|name| next_symbol(name).unwrap_or(0)));
    }

    fn found(place: usize) -> usize {
        let found = FOUND.get_or_init(|| NAMES.map(|name| next_symbol(name).unwrap_or(0)));
        found.get(place).copied().unwrap_or(0)
    }

    pub(super) fn exec() -> Exec {
        // SAFETY: the C library's function of this name has this type.
        unsafe { transmute::<usize, Exec>(found(0)) }
    }

    pub(super) fn spawn() -> Spawn {
        // SAFETY: as above.
        unsafe { transmute::<usize, Spawn>(found(1)) }
    }

    pub(super) fn spawn_by_name() -> Spawn {
        // SAFETY: as above.
        unsafe { transmute::<usize, Spawn>(found(2)) }
    }

    /// Returns how attributes start a program: Linux has none that replace this process.
    pub(super) fn how(_: *const c_void) -> Start {
        Start::Child
    }
}
