//! The signpost interval around the measured steps.
//!
//! `os_signpost_interval_begin` is a C macro. What it expands to is here: a call
//! of libSystem's `_os_signpost_emit_with_name_impl`, with the image that the
//! strings are in, and the strings in the section where the log looks for them
//! (it writes down their place, not their text).
#![expect(unsafe_code, reason = "libSystem has no safe interface to signposts")]

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{NonNull, addr_of};

/// An interval that ends when it is dropped.
pub(super) struct Interval {
    log: NonNull<c_void>,
    id: u64,
}

const SUBSYSTEM: &CStr = c"metalens";
/// Recorded by every template that has Points of Interest.
const CATEGORY: &CStr = c"PointsOfInterest";

// SAFETY: ends in a nul, as a section of C strings wants it.
#[unsafe(link_section = "__TEXT,__oslogstring,cstring_literals")]
static NAME: [u8; 9] = *b"measured\0";
// SAFETY: likewise.
#[unsafe(link_section = "__TEXT,__oslogstring,cstring_literals")]
static NO_MESSAGE: [u8; 1] = *b"\0";

/// `os_signpost_type_t`.
const BEGIN: u8 = 1;
const END: u8 = 2;
/// No flags, no arguments.
const NO_ARGUMENTS: [u8; 2] = [0, 0];

impl Interval {
    /// Begins it; nothing if nobody records signposts.
    pub(super) fn begin() -> Option<Self> {
        // SAFETY: both are C strings. A log lives as long as the process.
        let log = unsafe { os_log_create(SUBSYSTEM.as_ptr(), CATEGORY.as_ptr()) };
        let log = NonNull::new(log)?;
        // SAFETY: it is a log, from the line above.
        let id = unsafe {
            match os_signpost_enabled(log.as_ptr()) {
                true => os_signpost_id_generate(log.as_ptr()),
                false => return None,
            }
        };
        let interval = Self { log, id };
        interval.emit(BEGIN);
        Some(interval)
    }

    fn emit(&self, kind: u8) {
        let mut arguments = NO_ARGUMENTS;
        // SAFETY: the image is this one, which has both strings in the section
        // for them; the arguments are as many as the message takes: none.
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
    /// The image that this is part of; only its address means something.
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
