//! Blocks: the closures of Objective-C, laid out as their ABI describes. Whoever keeps one copies
//! it, and each copy holds the Rust closure.
#![expect(unsafe_code, reason = "a block is a struct with functions of C")]

use std::ffi::{CStr, c_char};
use std::mem::transmute;
use std::sync::Arc;

use crate::system::symbol;

const HAS_COPY_AND_DISPOSE: u32 = 1 << 25;
const HAS_SIGNATURE: u32 = 1 << 30;

/// A closure that takes the words of a handler.
type Closure = Box<dyn Fn(&[usize]) + Send + Sync>;

#[repr(C)]
struct Layout {
    class: usize,
    flags: u32,
    reserved: u32,
    invoke: usize,
    descriptor: *const Descriptor,
    /// Comes from `Arc::into_raw`.
    closure: *const Closure,
}

#[repr(C)]
struct Descriptor {
    reserved: usize,
    size: usize,
    copy: unsafe extern "C" fn(*mut Layout, *const Layout),
    dispose: unsafe extern "C" fn(*const Layout),
    signature: *const c_char,
}

// SAFETY: nothing in it changes, and the signature is a constant.
unsafe impl Sync for Descriptor {}

const fn descriptor(signature: &'static CStr) -> Descriptor {
    Descriptor {
        reserved: 0,
        size: size_of::<Layout>(),
        copy,
        dispose,
        signature: signature.as_ptr(),
    }
}

static ONE_OBJECT: Descriptor = descriptor(c"v16@?0@8");
static TWO_OBJECTS: Descriptor = descriptor(c"v24@?0@8@16");
static THREE_OBJECTS: Descriptor = descriptor(c"v32@?0@8@16@24");

/// A block for as long as a call takes. It says of itself that it is on the stack, so that whoever
/// keeps it makes a copy.
pub(crate) struct Block(Box<Layout>);

impl Block {
    /// Makes a block for a handler that takes one, two or three objects. Returns `None` if the
    /// program has no runtime for blocks.
    pub(crate) fn new(
        objects: usize,
        closure: impl Fn(&[usize]) + Send + Sync + 'static,
    ) -> Option<Self> {
        let (invoke, descriptor) = match objects {
            1 => (invoke_with_one as *const (), &raw const ONE_OBJECT),
            2 => (invoke_with_two as *const (), &raw const TWO_OBJECTS),
            3 => (invoke_with_three as *const (), &raw const THREE_OBJECTS),
            _ => return None,
        };
        let class = symbol(c"_NSConcreteStackBlock")?;
        let closure: Closure = Box::new(closure);
        Some(Self(Box::new(Layout {
            class,
            flags: HAS_COPY_AND_DISPOSE | HAS_SIGNATURE,
            reserved: 0,
            invoke: invoke as usize,
            descriptor,
            closure: Arc::into_raw(Arc::new(closure)),
        })))
    }

    /// Returns the address to hand to Metal.
    pub(crate) fn address(&self) -> usize {
        (&raw const *self.0).expose_provenance()
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the count of `Arc::into_raw` in `new`, which nobody else gives back.
        drop(unsafe { Arc::from_raw(self.0.closure) });
    }
}

unsafe extern "C" fn copy(_: *mut Layout, original: *const Layout) {
    // SAFETY: the runtime copied the original's bytes, which hold a closure.
    unsafe { Arc::increment_strong_count((*original).closure) };
}

unsafe extern "C" fn dispose(block: *const Layout) {
    // SAFETY: the runtime frees a copy, which holds a count.
    unsafe { Arc::decrement_strong_count((*block).closure) };
}

unsafe extern "C-unwind" fn invoke_with_one(block: *const Layout, first: usize) {
    // SAFETY: the caller holds the block.
    unsafe { run(block, &[first]) };
}

unsafe extern "C-unwind" fn invoke_with_two(block: *const Layout, first: usize, second: usize) {
    // SAFETY: as above.
    unsafe { run(block, &[first, second]) };
}

unsafe extern "C-unwind" fn invoke_with_three(
    block: *const Layout,
    first: usize,
    second: usize,
    third: usize,
) {
    // SAFETY: as above.
    unsafe { run(block, &[first, second, third]) };
}

/// # Safety
///
/// The block must be one of this module, and alive.
unsafe fn run(block: *const Layout, objects: &[usize]) {
    // SAFETY: a living block holds its closure.
    let closure = unsafe { &*(*block).closure };
    closure(objects);
}

/// A block of the program, kept until its copy is dropped.
pub(crate) struct ProgramBlock {
    block: usize,
    release: usize,
}

impl ProgramBlock {
    /// Keeps a block. Returns `None` if there is none, or no runtime for blocks.
    pub(crate) fn keep(block: usize) -> Option<Self> {
        let (copy, release) = (symbol(c"_Block_copy")?, symbol(c"_Block_release")?);
        if block == 0 {
            return None;
        }
        // SAFETY: the function of this name takes a block and returns a copy.
        let block =
            unsafe { transmute::<usize, unsafe extern "C-unwind" fn(usize) -> usize>(copy)(block) };
        Some(Self { block, release })
    }

    /// Calls the block with the objects of its handler.
    pub(crate) fn call(&self, objects: &[usize]) {
        // SAFETY: the block lives, and every block has this beginning. A handler is called with
        // the objects that Metal gave for it.
        unsafe {
            let layout: *const Layout = std::ptr::with_exposed_provenance(self.block);
            let invoke = (*layout).invoke;
            match *objects {
                [first, second] => {
                    type Invoke = unsafe extern "C-unwind" fn(usize, usize, usize);
                    transmute::<usize, Invoke>(invoke)(self.block, first, second);
                }
                [first, second, third] => {
                    type Invoke = unsafe extern "C-unwind" fn(usize, usize, usize, usize);
                    transmute::<usize, Invoke>(invoke)(self.block, first, second, third);
                }
                _ => {}
            }
        }
    }
}

impl Drop for ProgramBlock {
    fn drop(&mut self) {
        // SAFETY: the function of this name takes a copy that is given back.
        unsafe {
            transmute::<usize, unsafe extern "C-unwind" fn(usize)>(self.release)(self.block);
        }
    }
}
