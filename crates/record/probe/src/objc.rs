//! Reaches Objective-C objects through the runtime that the program has loaded.
//!
//! The functions are looked up while the program runs: this library links on machines without
//! Objective-C, and the same code runs on Apple's runtime and on GCC's. GCC's has no `objc_msgSend`,
//! so a message is sent by calling the implementation that the class has.
#![expect(unsafe_code, reason = "the Objective-C runtime is an interface of C")]

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::system::symbol;

/// Address of an object; 0 is nil. Objects are never read here, only handed to the runtime.
pub(crate) type Id = usize;
/// Address of a class.
pub(crate) type Class = usize;
/// Address of a selector, as the runtime made it.
pub(crate) type Sel = usize;
/// Address of a method's implementation.
pub(crate) type Imp = usize;

/// Declares the functions of the runtime that are used, and looks them up.
macro_rules! runtime {
    ($($name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {
        #[expect(non_snake_case, reason = "the names of the runtime")]
        struct Runtime {
            $($name: unsafe extern "C-unwind" fn($($type),*) $(-> $result)?,)*
        }

        impl Runtime {
            fn load() -> Option<Self> {
                Some(Self {
                    $(
                        // SAFETY: the runtime's function of this name has these types, with words
                        // in the place of pointers.
                        $name: unsafe {
                            transmute::<usize, unsafe extern "C-unwind" fn($($type),*) $(-> $result)?>(
                                symbol(CStr::from_bytes_with_nul(
                                    concat!(stringify!($name), "\0").as_bytes(),
                                ).ok()?)?,
                            )
                        },
                    )*
                })
            }
        }
    };
}

runtime! {
    objc_getClass(*const c_char) -> Class;
    class_getSuperclass(Class) -> Class;
    class_getName(Class) -> *const c_char;
    class_copyMethodList(Class, *mut u32) -> *mut usize;
    class_getMethodImplementation(Class, Sel) -> Imp;
    class_respondsToSelector(Class, Sel) -> u8;
    method_getName(usize) -> Sel;
    method_getTypeEncoding(usize) -> *const c_char;
    method_getImplementation(usize) -> Imp;
    method_setImplementation(usize, Imp) -> Imp;
    sel_registerName(*const c_char) -> Sel;
    sel_getName(Sel) -> *const c_char;
    free(*mut c_void);
}

fn runtime() -> Option<&'static Runtime> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    RUNTIME.get_or_init(Runtime::load).as_ref()
}

/// Returns the class of an object.
#[cfg(target_os = "macos")]
pub(crate) fn class_of(object: Id) -> Option<Class> {
    static GET_CLASS: OnceLock<Option<usize>> = OnceLock::new();
    let get_class = (*GET_CLASS.get_or_init(|| symbol(c"object_getClass")))?;
    // SAFETY: the function of this name takes an object, which the program holds right now.
    let class =
        unsafe { transmute::<usize, unsafe extern "C-unwind" fn(Id) -> Class>(get_class)(object) };
    (class != 0).then_some(class)
}

/// Returns the class of an object. GCC's runtime has this function only in its header.
#[cfg(not(target_os = "macos"))]
pub(crate) fn class_of(object: Id) -> Option<Class> {
    if object == 0 {
        return None;
    }
    let object: *const Class = std::ptr::with_exposed_provenance(object);
    // SAFETY: an object of GCC's runtime begins with its class, and the program holds it right now.
    let class = unsafe { *object };
    (class != 0).then_some(class)
}

/// Returns a class, and the classes that it inherits from, without the root: its methods are those
/// of all objects.
pub(crate) fn levels(class: Class) -> Vec<Class> {
    let Some(runtime) = runtime() else {
        return Vec::new();
    };
    let mut levels = Vec::new();
    let mut level = class;
    loop {
        // SAFETY: `level` is a class, never nil.
        let above = unsafe { (runtime.class_getSuperclass)(level) };
        if above == 0 {
            return levels;
        }
        levels.push(level);
        level = above;
    }
}

/// Returns the name of a class.
pub(crate) fn class_name(class: Class) -> String {
    let name = runtime().map(|runtime| {
        // SAFETY: it is a class, whose name lives as long as it does.
        unsafe { text_at((runtime.class_getName)(class)) }
    });
    name.flatten().unwrap_or_else(|| "?".to_owned())
}

/// A method that a class itself implements.
pub(crate) struct OwnMethod {
    method: usize,
    pub(crate) selector: String,
    /// Types of its result and arguments, in the runtime's notation.
    pub(crate) types: String,
}

impl OwnMethod {
    pub(crate) fn implementation(&self) -> Option<Imp> {
        // SAFETY: methods of a class live as long as the class, which is for ever here.
        Some(unsafe { (runtime()?.method_getImplementation)(self.method) })
    }

    /// Replaces the implementation.
    ///
    /// # Safety
    ///
    /// The new one must have the types of the method and call the old one.
    pub(crate) unsafe fn replace(&self, implementation: Imp) {
        if let Some(runtime) = runtime() {
            // SAFETY: the caller promises it.
            unsafe { (runtime.method_setImplementation)(self.method, implementation) };
        }
    }
}

/// Returns the methods that a class itself implements.
pub(crate) fn own_methods(class: Class) -> Vec<OwnMethod> {
    let Some(runtime) = runtime() else {
        return Vec::new();
    };
    let mut count = 0;
    // SAFETY: it is a class; the list has `count` methods and is freed below.
    let list = unsafe { (runtime.class_copyMethodList)(class, &raw mut count) };
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: as above.
    let methods = unsafe { std::slice::from_raw_parts(list, count as usize) };
    let described = methods.iter().filter_map(|&method| {
        // SAFETY: these are methods, whose names and types are C strings.
        unsafe {
            Some(OwnMethod {
                method,
                selector: text_at((runtime.sel_getName)((runtime.method_getName)(method)))?,
                types: text_at((runtime.method_getTypeEncoding)(method))?,
            })
        }
    });
    let described = described.collect();
    // SAFETY: class_copyMethodList allocated it, and nobody uses it any more.
    unsafe { (runtime.free)(list.cast()) };
    described
}

/// Prepares a class for new implementations. GCC's runtime makes the table of a class at its first
/// message, and until then all classes share one, into which a new implementation must not go.
pub(crate) fn prepare(class: Class) {
    if let (true, Some(runtime)) = (IS_GCC, runtime()) {
        // SAFETY: it is a class. Every object answers with some implementation.
        unsafe {
            let selector = (runtime.sel_registerName)(c"metalensProbe".as_ptr());
            (runtime.class_getMethodImplementation)(class, selector);
        }
    }
}

/// Makes new implementations of a class known to the classes that inherit from it. GCC's runtime
/// renews their tables only when a method is added.
pub(crate) fn publish(class: Class) {
    let (true, Some(add), Some(runtime)) = (IS_GCC, symbol(c"class_addMethod"), runtime()) else {
        return;
    };
    type AddMethod = unsafe extern "C-unwind" fn(Class, Sel, Imp, *const c_char) -> u8;
    // SAFETY: the function of this name has these types. Nobody calls the method that is added.
    unsafe {
        let selector = (runtime.sel_registerName)(c"metalensProbe".as_ptr());
        let nothing: extern "C" fn() = nothing;
        transmute::<usize, AddMethod>(add)(class, selector, nothing as usize, c"v16@0:8".as_ptr());
    }
}

const IS_GCC: bool = cfg!(not(target_os = "macos"));

extern "C" fn nothing() {}

/// Reads a C string.
///
/// # Safety
///
/// The pointer must be null or one to a C string.
unsafe fn text_at(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller promises it.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// A message that is sent to objects. Its selector is registered once.
pub(crate) struct Message {
    name: &'static CStr,
    selector: AtomicUsize,
}

impl Message {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            selector: AtomicUsize::new(0),
        }
    }

    fn selector(&self) -> Option<Sel> {
        let known = self.selector.load(Ordering::Relaxed);
        if known != 0 {
            return Some(known);
        }
        // SAFETY: the name is a C string.
        let selector = unsafe { (runtime()?.sel_registerName)(self.name.as_ptr()) };
        self.selector.store(selector, Ordering::Relaxed);
        Some(selector)
    }

    /// Returns the implementation that an object has for this message, if it has one.
    fn find(&self, object: Id) -> Option<(Imp, Sel)> {
        if object == 0 {
            return None;
        }
        let (runtime, selector, class) = (runtime()?, self.selector()?, class_of(object)?);
        // SAFETY: class and selector are the runtime's.
        let responds = unsafe { (runtime.class_respondsToSelector)(class, selector) } & 1 == 1;
        // SAFETY: as above.
        let find = || unsafe { (runtime.class_getMethodImplementation)(class, selector) };
        responds.then(|| (find(), selector))
    }

    /// Returns whether an object has a method for this message.
    pub(crate) fn is_known_by(&self, object: Id) -> bool {
        self.find(object).is_some()
    }

    /// Sends the message with three words, of which a method takes as many as it has arguments.
    /// Returns the answer, which means nothing if the method returns nothing. `None`: the object has
    /// no such method.
    pub(crate) fn call(&self, object: Id, [first, second, third]: [usize; 3]) -> Option<usize> {
        let (implementation, selector) = self.find(object)?;
        type Send = unsafe extern "C-unwind" fn(Id, Sel, usize, usize, usize) -> usize;
        // SAFETY: arguments and answers of the messages of this crate are words in registers, but
        // for those of `get_nanoseconds`. A function of C does not see arguments too many.
        let answer = unsafe {
            transmute::<Imp, Send>(implementation)(object, selector, first, second, third)
        };
        Some(answer)
    }

    /// Sends the message, and returns the object that it answers with.
    pub(crate) fn get(&self, object: Id) -> Option<Id> {
        self.get_with(object, 0)
    }

    /// Sends the message with an argument, and returns the object that it answers with.
    pub(crate) fn get_with(&self, object: Id, argument: usize) -> Option<Id> {
        self.call(object, [argument, 0, 0])
            .filter(|answer| *answer != 0)
    }

    /// Sends the message and returns the answer: seconds, as nanoseconds. 0 is none.
    pub(crate) fn get_nanoseconds(&self, object: Id) -> Option<u64> {
        let (implementation, selector) = self.find(object)?;
        // SAFETY: messages without arguments that return a double.
        let seconds = unsafe {
            transmute::<Imp, unsafe extern "C-unwind" fn(Id, Sel) -> f64>(implementation)(
                object, selector,
            )
        };
        let nanoseconds = (seconds * 1e9).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "such a cast takes the nearest number there is, and 0 is none"
        )]
        let nanoseconds = nanoseconds as u64;
        (nanoseconds != 0).then_some(nanoseconds)
    }

    /// Sends the message and returns the answer: an `NSString`. An empty one is none.
    pub(crate) fn get_text(&self, object: Id) -> Option<String> {
        let text = UTF8_STRING.get(self.get(object)?)?;
        // SAFETY: `UTF8String` returns a C string that lives as long as the string or the pool.
        let text = unsafe { text_at(std::ptr::with_exposed_provenance(text)) }?;
        (!text.is_empty()).then_some(text)
    }

    /// Sends the message with a text.
    pub(crate) fn set_text(&self, object: Id, text: &str) {
        let bytes: Vec<u8> = text.bytes().filter(|byte| *byte != 0).chain([0]).collect();
        let string = new_object(
            c"NSString",
            &INIT_WITH_UTF8_STRING,
            bytes.as_ptr().expose_provenance(),
        );
        if let Some(string) = string {
            self.get_with(object, string);
            RELEASE.get(string);
        }
    }
}

static ALLOC: Message = Message::new(c"alloc");
static INIT: Message = Message::new(c"init");
static INIT_WITH_UTF8_STRING: Message = Message::new(c"initWithUTF8String:");
static RELEASE: Message = Message::new(c"release");
static UTF8_STRING: Message = Message::new(c"UTF8String");

fn new_object(class: &CStr, init: &Message, argument: usize) -> Option<Id> {
    // SAFETY: the name is a C string.
    let class = unsafe { (runtime()?.objc_getClass)(class.as_ptr()) };
    init.get_with(ALLOC.get(class)?, argument)
}

/// Returns a new object of a class, which the caller releases.
pub(crate) fn new(class: &CStr) -> Option<Id> {
    new_object(class, &INIT, 0)
}

/// Releases an object.
pub(crate) fn release(object: Id) {
    RELEASE.get(object);
}

/// A message in the place of a call of the program, with an object of ours, which is released afterwards.
/// It is sent where nothing catches an exception of the program.
pub(crate) struct Replacement {
    pub(crate) message: &'static Message,
    pub(crate) object: Id,
    pub(crate) words: [usize; 3],
    pub(crate) own: Id,
}

impl Replacement {
    /// Sends the message, and returns the answer.
    pub(crate) fn send(&self) -> usize {
        self.message.call(self.object, self.words).unwrap_or(0)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        release(self.own);
    }
}

/// An autorelease pool: what messages leave behind is freed when it is dropped.
pub(crate) struct Pool {
    pool: usize,
}

impl Pool {
    /// Opens a pool. GCC's runtime has none.
    pub(crate) fn open() -> Self {
        static PUSH: OnceLock<Option<usize>> = OnceLock::new();
        let push = PUSH.get_or_init(|| symbol(c"objc_autoreleasePoolPush"));
        let pool = push.map_or(0, |push| {
            // SAFETY: this function takes nothing and returns a pointer.
            unsafe { transmute::<usize, unsafe extern "C-unwind" fn() -> usize>(push)() }
        });
        Self { pool }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        static POP: OnceLock<Option<usize>> = OnceLock::new();
        let pop = POP.get_or_init(|| symbol(c"objc_autoreleasePoolPop"));
        if let (Some(pop), true) = (pop, self.pool != 0) {
            // SAFETY: this function takes the pool that was opened last on this thread.
            unsafe { transmute::<usize, unsafe extern "C-unwind" fn(usize)>(*pop)(self.pool) };
        }
    }
}
