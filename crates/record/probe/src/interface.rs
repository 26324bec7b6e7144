//! What is called from outside: by the loader, by the program in the place of Metal's own
//! functions, and by programs that use the C interface.
#![expect(
    unsafe_code,
    reason = "functions and sections for the loader and for C"
)]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;

use crate::hooks::{Role, TABLES, hook};
use crate::launch;
use crate::metal::tables;
use crate::mode::{contained, fall_silent, is_watching, watch};
use crate::objc::{Id, Message, Pool, release};
use crate::session::{self, Session};
use crate::system::call_at_exit_and_fork;

/// Numbers of errors, as `errno.h` has them on macOS and Linux.
const EBUSY: c_int = 16;
const ENODEV: c_int = 19;
const EINVAL: c_int = 22;
const EIO: c_int = 5;

/// Longest time that `metalens_stop` waits for command buffers that are not complete.
const PATIENCE_AT_STOP: Duration = Duration::from_secs(1);

// SAFETY: functions in this section are called when the library is loaded.
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
#[used]
static ON_LOAD: extern "C" fn() = on_load;

extern "C" fn on_load() {
    contained(|| {
        let labels = std::env::var_os("METALENS_PROBE_LABELS").is_some_and(|value| value == "1");
        let is_wanted = labels || std::env::var_os("METALENS_PROBE_LOG").is_some();
        if is_wanted && launch::load() {
            watch(labels);
        }
    });
}

/// Prepares for exits, forks and panics, once.
fn prepare() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // This library has a standard library of its own, and so has its panics to itself.
        std::panic::set_hook(Box::new(|_| ()));
        TABLES.get_or_init(|| tables);
        call_at_exit_and_fork(at_exit, in_child);
    });
}

extern "C" fn at_exit() {
    if is_watching() {
        contained(Session::close_at_exit);
    }
}

extern "C" fn in_child() {
    fall_silent();
}

/// Begins a log at a path, and to watch Metal if nobody did before. Returns 0, or the number of an
/// error as `errno.h` has it: `EBUSY` if a log is being written, `ENODEV` if there is no Metal.
///
/// Pipelines that were made before have the names of their labels, if they have any: call it before
/// the program makes its pipelines.
///
/// # Safety
///
/// `path` must be a C string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metalens_start(path: *const c_char) -> c_int {
    if path.is_null() {
        return EINVAL;
    }
    // SAFETY: the caller promises it.
    let path = unsafe { CStr::from_ptr(path) };
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let mut result = EIO;
    contained(|| {
        launch::claim(prepare);
        if session::current().is_some() {
            result = EBUSY;
            return;
        }
        let device = system_device();
        prepare();
        if device == 0 || !watch(false) {
            result = ENODEV;
            return;
        }
        result = match Session::open(path) {
            Ok(()) => {
                meet_device(device);
                meet_classes(device);
                0
            }
            Err(error) => error.raw_os_error().unwrap_or(EBUSY),
        };
        release(device);
    });
    result
}

/// Ends the log. Waits a second at most for command buffers that are not complete; those that are
/// not complete then are counted as lost.
#[unsafe(no_mangle)]
pub extern "C" fn metalens_stop() {
    if is_watching() {
        contained(|| Session::close(PATIENCE_AT_STOP));
    }
}

/// Begins a phase of the program's work.
///
/// # Safety
///
/// `name` must be a C string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metalens_phase_begin(name: *const c_char) {
    // SAFETY: the caller promises it.
    unsafe { with_name(name, |session, name| session.begin_phase(name)) };
}

/// Ends the phase of this name that began last, on this thread if one did.
///
/// # Safety
///
/// `name` must be a C string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn metalens_phase_end(name: *const c_char) {
    // SAFETY: the caller promises it.
    unsafe { with_name(name, Session::end_phase) };
}

/// Calls a function with the current log and a name.
///
/// # Safety
///
/// `name` must be a C string or null.
unsafe fn with_name(name: *const c_char, run: fn(&std::sync::Arc<Session>, &str)) {
    if name.is_null() || !is_watching() {
        return;
    }
    // SAFETY: the caller promises it.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    contained(|| {
        if let Some(session) = session::current() {
            run(&session, &name);
        }
    });
}

/// Hooks a device, and names it in the log.
fn meet_device(device: Id) {
    static NAME: Message = Message::new(c"name");
    if device == 0 || !is_watching() {
        return;
    }
    contained(|| {
        launch::claim(prepare);
        let _pool = Pool::open();
        if let Some(session) = session::current() {
            session.name_device(NAME.get_text(device));
        }
        hook(device, Role::Device);
    });
}

/// Hooks the classes of a program that already has queues: makes one of each object, and commits
/// nothing.
fn meet_classes(device: Id) {
    static NEW_COMMAND_QUEUE: Message = Message::new(c"newCommandQueue");
    static COMMAND_BUFFER: Message = Message::new(c"commandBuffer");
    static END_ENCODING: Message = Message::new(c"endEncoding");
    static ENCODERS: [Message; 2] = [
        Message::new(c"computeCommandEncoder"),
        Message::new(c"blitCommandEncoder"),
    ];
    let _pool = Pool::open();
    let Some(queue) = NEW_COMMAND_QUEUE.get(device) else {
        return;
    };
    if let Some(buffer) = COMMAND_BUFFER.get(queue) {
        for message in &ENCODERS {
            if let Some(encoder) = message.get(buffer) {
                END_ENCODING.get(encoder);
            }
        }
    }
    release(queue);
}

#[cfg(target_os = "macos")]
use macos::system_device;
#[cfg(not(target_os = "macos"))]
use preloaded::system_device;

/// On macOS the loader replaces functions that a table names, in every other library.
#[cfg(target_os = "macos")]
mod macos {
    use super::{Id, Message, Pool, meet_device};

    #[link(name = "Metal", kind = "framework")]
    unsafe extern "C" {
        fn MTLCreateSystemDefaultDevice() -> Id;
        fn MTLCopyAllDevices() -> Id;
    }

    type MakesObject = unsafe extern "C" fn() -> Id;

    #[repr(C)]
    struct Replacement {
        new: MakesObject,
        old: MakesObject,
    }

    // SAFETY: entries of this section are pairs of functions of the same type.
    #[unsafe(link_section = "__DATA,__interpose")]
    #[used]
    static REPLACEMENTS: [Replacement; 2] = [
        Replacement {
            new: default_device,
            old: MTLCreateSystemDefaultDevice,
        },
        Replacement {
            new: all_devices,
            old: MTLCopyAllDevices,
        },
    ];

    /// Returns the device that the program would get; the caller releases it.
    pub(super) fn system_device() -> Id {
        // SAFETY: it takes nothing. In this library the name is the original.
        unsafe { MTLCreateSystemDefaultDevice() }
    }

    unsafe extern "C" fn default_device() -> Id {
        let device = system_device();
        meet_device(device);
        device
    }

    unsafe extern "C" fn all_devices() -> Id {
        static COUNT: Message = Message::new(c"count");
        static OBJECT_AT_INDEX: Message = Message::new(c"objectAtIndex:");
        // SAFETY: as above.
        let devices = unsafe { MTLCopyAllDevices() };
        let _pool = Pool::open();
        for index in 0..COUNT.get(devices).unwrap_or(0) {
            meet_device(OBJECT_AT_INDEX.get_with(devices, index).unwrap_or(0));
        }
        devices
    }
}

/// Elsewhere a preloaded library's own functions come first. Metal is a stand-in there, of tests.
#[cfg(not(target_os = "macos"))]
mod preloaded {
    use std::mem::transmute;

    use super::{Id, meet_device};
    use crate::system::{next_symbol, symbol};

    /// Returns the device that the program would get; the caller releases it.
    pub(super) fn system_device() -> Id {
        const NAME: &std::ffi::CStr = c"MTLCreateSystemDefaultDevice";
        let own = MTLCreateSystemDefaultDevice as *const () as usize;
        let first = symbol(NAME).filter(|first| *first != own);
        first.or_else(|| next_symbol(NAME)).map_or(0, |function| {
            // SAFETY: the function of this name takes nothing and returns an object.
            unsafe { transmute::<usize, unsafe extern "C" fn() -> Id>(function)() }
        })
    }

    /// Returns the device, and hooks its class.
    #[unsafe(no_mangle)]
    extern "C" fn MTLCreateSystemDefaultDevice() -> Id {
        let device = system_device();
        meet_device(device);
        device
    }
}
