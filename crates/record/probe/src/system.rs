//! Asks the operating system: time, thread, version and symbols.
#![expect(
    unsafe_code,
    reason = "std has no dlsym, thread numbers or fork handlers"
)]

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(target_os = "macos")]
const RTLD_DEFAULT: *mut c_void = std::ptr::without_provenance_mut((-2_isize).cast_unsigned());
#[cfg(not(target_os = "macos"))]
const RTLD_DEFAULT: *mut c_void = std::ptr::null_mut();

#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
    fn atexit(handler: extern "C" fn()) -> c_int;
    fn pthread_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
    ) -> c_int;
}

/// Returns the address of a symbol of the libraries that are loaded, if there is one.
pub(crate) fn symbol(name: &CStr) -> Option<usize> {
    // SAFETY: the handle is one that dlsym takes, and the name is a C string.
    let address = unsafe { dlsym(RTLD_DEFAULT, name.as_ptr()) } as usize;
    (address != 0).then_some(address)
}

/// Returns the address of a symbol in the libraries that come after this one.
#[cfg(not(target_os = "macos"))]
pub(crate) fn next_symbol(name: &CStr) -> Option<usize> {
    let next = std::ptr::without_provenance_mut((-1_isize).cast_unsigned());
    // SAFETY: as above; this is glibc's RTLD_NEXT.
    let address = unsafe { dlsym(next, name.as_ptr()) } as usize;
    (address != 0).then_some(address)
}

/// Calls one function when the program exits, and the other in each child that it forks.
pub(crate) fn call_at_exit_and_fork(at_exit: extern "C" fn(), in_child: extern "C" fn()) {
    // SAFETY: both functions stay loaded: nobody unloads this library. If there is no memory for
    // them, they are not called.
    unsafe {
        atexit(at_exit);
        pthread_atfork(None, None, Some(in_child));
    }
}

/// Blocks all signals on this thread: the program's handlers run on its own threads.
pub(crate) fn block_signals() {
    #[cfg(target_os = "macos")]
    const SIG_SETMASK: c_int = 3;
    #[cfg(not(target_os = "macos"))]
    const SIG_SETMASK: c_int = 2;
    unsafe extern "C" {
        fn sigfillset(set: *mut u64) -> c_int;
        fn pthread_sigmask(how: c_int, set: *const u64, old: *mut u64) -> c_int;
    }
    // A set has 128 bytes on Linux, and 4 on macOS.
    let mut set = [0_u64; 16];
    // SAFETY: the array has room for a set, which is filled before it is used.
    unsafe {
        sigfillset(set.as_mut_ptr());
        pthread_sigmask(SIG_SETMASK, set.as_ptr(), std::ptr::null_mut());
    }
}

/// Returns the time in nanoseconds of the clock in which Metal tells GPU times.
#[cfg(target_os = "macos")]
pub(crate) fn now() -> u64 {
    const CLOCK_UPTIME_RAW: c_int = 8;
    unsafe extern "C" {
        fn clock_gettime_nsec_np(clock: c_int) -> u64;
    }
    // SAFETY: it takes any number.
    unsafe { clock_gettime_nsec_np(CLOCK_UPTIME_RAW) }
}

/// Returns the time in nanoseconds of the clock that the stand-in for Metal uses.
#[cfg(not(target_os = "macos"))]
pub(crate) fn now() -> u64 {
    const CLOCK_MONOTONIC: c_int = 1;
    #[repr(C)]
    struct Time {
        seconds: i64,
        nanoseconds: i64,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: c_int, time: *mut Time) -> c_int;
    }
    let mut time = Time {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the pointer is to a struct of the layout that 64-bit Linux has.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &raw mut time) };
    time.seconds.unsigned_abs() * 1_000_000_000 + time.nanoseconds.unsigned_abs()
}

/// Returns the number of this thread.
pub(crate) fn thread() -> u64 {
    thread_local! {
        static NUMBER: u64 = thread_number();
    }
    // While a thread ends, its variables may be gone.
    NUMBER
        .try_with(|number| *number)
        .unwrap_or_else(|_| thread_number())
}

#[cfg(target_os = "macos")]
fn thread_number() -> u64 {
    unsafe extern "C" {
        fn pthread_threadid_np(thread: *mut c_void, number: *mut u64) -> c_int;
    }
    let mut number = 0;
    // SAFETY: without a thread it tells the number of this one.
    unsafe { pthread_threadid_np(std::ptr::null_mut(), &raw mut number) };
    number
}

#[cfg(not(target_os = "macos"))]
fn thread_number() -> u64 {
    unsafe extern "C" {
        fn gettid() -> c_int;
    }
    // SAFETY: it takes nothing and cannot fail.
    u64::from(unsafe { gettid() }.unsigned_abs())
}

/// Returns the version of macOS: `26.1 (25B78)`.
#[cfg(target_os = "macos")]
pub(crate) fn os_version() -> Option<String> {
    let version = sysctl(c"kern.osproductversion")?;
    let build = sysctl(c"kern.osversion")?;
    Some(format!("{version} ({build})"))
}

#[cfg(not(target_os = "macos"))]
pub(crate) fn os_version() -> Option<String> {
    None
}

#[cfg(target_os = "macos")]
fn sysctl(name: &CStr) -> Option<String> {
    unsafe extern "C" {
        fn sysctlbyname(
            name: *const c_char,
            value: *mut c_void,
            size: *mut usize,
            new: *mut c_void,
            new_size: usize,
        ) -> c_int;
    }
    let mut value = [0_u8; 64];
    let mut size = value.len();
    let (start, room) = (value.as_mut_ptr().cast(), &raw mut size);
    // SAFETY: it writes at most `size` bytes to `value`, and nothing is set.
    let result = unsafe { sysctlbyname(name.as_ptr(), start, room, std::ptr::null_mut(), 0) };
    let text = CStr::from_bytes_until_nul(&value).ok()?.to_str().ok()?;
    (result == 0 && !text.is_empty()).then(|| text.to_owned())
}

/// Returns the date and time in UTC: `2026-11-24T10:00:00Z`.
pub(crate) fn date_and_time() -> Option<String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let seconds = since.as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);

    // Years begin in March here, so that a leap day is the last day of one; 719,468 days lie
    // between 0000-03-01 and 1970-01-01.
    let day = days + 719_468;
    let era = day / 146_097;
    let day_of_era = day % 146_097;
    let leaps = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leaps) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    Some(format!(
        "{year:04}-{month:02}-{day_of_month:02}T{hour:02}:{minute:02}:{second:02}Z"
    ))
}

/// Returns the file name of this library.
pub(crate) fn own_file_name() -> Option<Vec<u8>> {
    let mut info = DlInfo {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: the address is one of this library, and `info` has the layout of `Dl_info`.
    let result = unsafe { dladdr(own_file_name as *const c_void, &raw mut info) };
    if result == 0 || info.file.is_null() {
        return None;
    }
    // SAFETY: dladdr gave a C string that lives as long as the library.
    let file = unsafe { CStr::from_ptr(info.file) };
    let name = Path::new(OsStr::from_bytes(file.to_bytes())).file_name()?;
    Some(name.as_bytes().to_vec())
}
