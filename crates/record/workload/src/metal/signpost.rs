//! Marks the measured steps with a signpost interval.
//!
//! `os_signpost_interval_begin` is a C macro. This module does what it expands to: it calls
//! libSystem's `_os_signpost_emit_with_name_impl` with the image that contains the strings.
//! The strings are in the section where the log looks for them, because the log stores their
//! addresses, not their text.
#![expect(unsafe_code, reason = "libSystem has no safe interface to signposts")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{NonNull, addr_of};

/// A signpost interval that ends when it is dropped.
pub(super) struct Interval {
    log: NonNull<c_void>,
    id: u64,
}

const SUBSYSTEM: &CStr = c"metalens";
/// Category of the log. The instrument Points of Interest records it.
const CATEGORY: &CStr = c"PointsOfInterest";

// SAFETY: the string ends in a nul, as this section requires.
#[unsafe(link_section = "__TEXT,__oslogstring,cstring_literals")]
static NAME: [u8; 9] = *b"measured\0";
// SAFETY: as above.
#[unsafe(link_section = "__TEXT,__oslogstring,cstring_literals")]
static NO_MESSAGE: [u8; 1] = *b"\0";

/// Value of `os_signpost_type_t` for the begin of an interval.
const BEGIN: u8 = 1;
const END: u8 = 2;
/// Encoded arguments of a message: no flags, no arguments.
const NO_ARGUMENTS: [u8; 2] = [0, 0];

impl Interval {
    /// Begins the interval, or returns `None` if signposts are not recorded.
    pub(super) fn begin() -> Option<Self> {
        // SAFETY: both are C strings. A log lives as long as the process.
        let log = unsafe { os_log_create(SUBSYSTEM.as_ptr(), CATEGORY.as_ptr()) };
        let log = NonNull::new(log)?;
        // SAFETY: the pointer is a log, created above.
        if !unsafe { os_signpost_enabled(log.as_ptr()) } {
            return None;
        }
        // SAFETY: the pointer is a log, created above.
        let id = unsafe { os_signpost_id_generate(log.as_ptr()) };

        let interval = Self { log, id };
        interval.emit(BEGIN);
        Some(interval)
    }

    /// Emits the begin or the end of a signpost.
    fn emit(&self, kind: u8) {
        let mut arguments = NO_ARGUMENTS;
        // SAFETY: this image has both strings in the section for them, and the message takes
        // no arguments.
        unsafe {
            _os_signpost_emit_with_name_impl(
                addr_of!(__dso_handle).cast(),
                self.log.as_ptr(),
                kind,
                self.id,
                NAME.as_ptr().cast(),
                NO_MESSAGE.as_ptr().cast(),
                arguments.as_mut_ptr(),
                2,
            );
        }
    }
}

impl Drop for Interval {
    fn drop(&mut self) {
        self.emit(END);
    }
}

unsafe extern "C" {
    /// The image that contains this code. Only its address is used.
    static __dso_handle: u8;
    fn os_log_create(subsystem: *const c_char, category: *const c_char) -> *mut c_void;
    fn os_signpost_enabled(log: *mut c_void) -> bool;
    fn os_signpost_id_generate(log: *mut c_void) -> u64;
    fn _os_signpost_emit_with_name_impl(
        image: *const c_void,
        log: *mut c_void,
        kind: u8,
        id: u64,
        name: *const c_char,
        message: *const c_char,
        arguments: *mut u8,
        size: u32,
    );
}
