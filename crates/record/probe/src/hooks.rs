//! Puts a function in the place of a method, at every level of classes that implements it.
//!
//! Metal's classes come in chains: a chip's class inherits from a common one, both implement a
//! method, and the upper calls the lower with `super`. Each level therefore gets a function of its
//! own, made by the compiler, with the original of that level beside it. No call looks anything up.
#![expect(unsafe_code, reason = "replaces methods of Objective-C")]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lock;
use crate::objc::{Class, Id, Imp, class_name, class_of, levels, own_methods, prepare, publish};

/// Number of classes that can implement one method, if all kinds of objects have it. Of others it is
/// a third: each is a function more.
pub(crate) const LEVELS: usize = 48;

/// Address of a function.
pub(crate) struct Function(pub(crate) *const c_void);

// SAFETY: an address is only compared and handed on.
unsafe impl Sync for Function {}

/// A method of Metal that is hooked.
pub(crate) struct Method {
    pub(crate) selector: &'static CStr,
    /// Types as a pattern: the result, then the arguments. `v` is nothing, `w` a word, `s` a struct.
    pub(crate) types: &'static str,
    pub(crate) functions: &'static [Function],
    pub(crate) originals: &'static [AtomicUsize; LEVELS],
}

/// Three numbers by value: `MTLSize`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Size([usize; 3]);

/// Two numbers by value: `NSRange`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Range([usize; 2]);

/// Declares a method that is hooked: what is done, its selector, and its types. `@` is a word, which
/// every integer, address and object of these methods is; `size` and `range` are structs.
macro_rules! method {
    (many $act:expr, $selector:literal) => {
        method!(build many $act, $selector, "v", (); [] [])
    };
    ($act:expr, $selector:literal $(, @$word:ident)* $(, size $size:ident)* $(, range $range:ident)*) => {
        method!(build few $act, $selector, "v", ();
            [$($word)*] [$($size: crate::hooks::Size)* $($range: crate::hooks::Range)*])
    };
    ($act:expr, $selector:literal $(, @$word:ident)* => object) => {
        method!(build few $act, $selector, "w", usize; [$($word)*] [])
    };
    (build $levels:ident $act:expr, $selector:literal, $result_type:literal, $result:ty;
        [$($word:ident)*] [$($by_value:ident: $type:ty)*]) => {{
        static ORIGINALS: [std::sync::atomic::AtomicUsize; crate::hooks::LEVELS] =
            [const { std::sync::atomic::AtomicUsize::new(0) }; crate::hooks::LEVELS];

        unsafe extern "C-unwind" fn hook<const LEVEL: usize>(
            object: usize, selector: usize $(, $word: usize)* $(, $by_value: $type)*
        ) -> $result {
            type Original =
                unsafe extern "C-unwind" fn(usize, usize $(, method!(word $word))* $(, $type)*) -> $result;
            let mut words = [$($word),*];
            let call = crate::calls::before($act, object, &mut words);
            let [$($word),*] = words;
            // SAFETY: the hook is in place only after its original was stored, and the types were
            // compared with what the runtime says of the method.
            let original = unsafe {
                std::mem::transmute::<usize, Original>(
                    ORIGINALS[LEVEL].load(std::sync::atomic::Ordering::Acquire),
                )
            };
            let result = match call.replaced() {
                Some(word) => <$result as crate::hooks::Returned>::from_word(word),
                // SAFETY: the arguments are those that the hook was called with.
                None => unsafe { original(object, selector $(, $word)* $(, $by_value)*) },
            };
            crate::calls::after(call, object, crate::hooks::Returned::word(&result));
            result
        }

        crate::hooks::Method {
            selector: $selector,
            types: concat!($result_type $(, method!(letter w $word))* $(, method!(letter s $by_value))*),
            functions: method!($levels hook),
            originals: &ORIGINALS,
        }
    }};
    (few $hook:ident) => {
        method!(levels $hook 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (many $hook:ident) => {
        method!(levels $hook 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
            27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47)
    };
    (levels $hook:ident $($level:literal)*) => {
        &[$(crate::hooks::Function($hook::<$level> as *const std::ffi::c_void)),*]
    };
    (word $word:ident) => { usize };
    (letter w $name:ident) => { "w" };
    (letter s $name:ident) => { "s" };
}
pub(crate) use method;

/// What a hooked method returns: nothing, or an object.
pub(crate) trait Returned {
    /// Returns the object, or 0.
    fn word(&self) -> usize;
    fn from_word(word: usize) -> Self;
}

impl Returned for () {
    fn word(&self) -> usize {
        0
    }

    fn from_word(_: usize) {}
}

impl Returned for usize {
    fn word(&self) -> usize {
        *self
    }

    fn from_word(word: usize) -> Self {
        word
    }
}

/// Hooks the methods of an object's class, and of those that it inherits from. Returns notes on what
/// was left alone, or `None` if the class is known.
pub(crate) fn adopt(
    object: Id,
    role: &'static str,
    tables: &[&'static [Method]],
) -> Option<Vec<String>> {
    static KNOWN: Mutex<BTreeSet<(Class, &str)>> = Mutex::new(BTreeSet::new());
    thread_local! {
        // Most objects of a thread have the class of the one before, of the same role.
        static LAST: Cell<[(Class, &'static str); 4]> = const { Cell::new([(0, ""); 4]) };
    }
    let class = class_of(object)?;
    if LAST
        .try_with(Cell::get)
        .is_ok_and(|last| last.contains(&(class, role)))
    {
        return None;
    }
    let mut known = lock(&KNOWN);
    let _ = LAST.try_with(|last| {
        let [first, second, third, _] = last.get();
        last.set([(class, role), first, second, third]);
    });
    if !known.insert((class, role)) {
        return None;
    }

    let mut notes = Vec::new();
    let mut hooked = 0;
    for level in levels(class) {
        prepare(level);
        for own in own_methods(level) {
            let mut methods = tables.iter().copied().flatten();
            let wanted = |method: &&Method| method.selector.to_bytes() == own.selector.as_bytes();
            let Some(method) = methods.find(wanted) else {
                continue;
            };
            let place = match (pattern(&own.types) == method.types, own.implementation()) {
                (true, Some(original)) => method.place(original),
                _ => Place::Refused,
            };
            match place {
                Place::Hooked => hooked += 1,
                Place::Free(level, original, function) => {
                    level.store(original, Ordering::Release);
                    // SAFETY: the function was made for these types, and calls what was just stored.
                    unsafe { own.replace(function) };
                    hooked += 1;
                }
                Place::Refused => notes.push(format!(
                    "left alone: method {} of class {}, with types {}",
                    own.selector,
                    class_name(level),
                    own.types
                )),
            }
        }
        publish(level);
    }
    if hooked == 0 {
        let name = class_name(class);
        notes.push(format!(
            "left alone: class {name} has no known method of a {role}"
        ));
    }
    Some(notes)
}

/// Where the hook of a level goes.
enum Place {
    Hooked,
    Free(&'static AtomicUsize, Imp, Imp),
    Refused,
}

impl Method {
    fn place(&self, original: Imp) -> Place {
        let is_hook = |function: &Function| function.0 as usize == original;
        if self.functions.iter().any(is_hook) {
            return Place::Hooked;
        }
        let mut levels = self.originals.iter().zip(self.functions);
        let free = levels.find(|(level, _)| level.load(Ordering::Acquire) == 0);
        match free {
            Some((level, function)) => Place::Free(level, original, function.0 as usize),
            None => Place::Refused,
        }
    }
}

/// Returns the types of a method as a pattern, without object and selector: `v24@0:8Q16` is `vw`.
/// What is neither a word nor a struct stays as it is, and so equals no pattern.
fn pattern(types: &str) -> String {
    let mut pattern = String::new();
    let mut depth = 0_u32;
    let mut was_pointer = false;
    let mut was_object = false;
    for letter in types.chars() {
        let is_inside = depth > 0;
        match letter {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if is_inside {
            continue;
        }
        let class = match letter {
            // Offsets, qualifiers, and the question mark of a block, `@?`.
            '0'..='9' | '-' | '+' | 'r' | 'n' | 'N' | 'o' | 'O' | 'R' | 'V' | 'A' => continue,
            '?' if was_object => continue,
            '@' | ':' | '#' | '*' | 'Q' | 'q' | 'L' | 'l' | '^' => 'w',
            '{' => 's',
            other => other,
        };
        was_object = letter == '@';
        if !was_pointer {
            pattern.push(class);
        }
        was_pointer = letter == '^';
    }
    // After the result come the object and the selector.
    if pattern.get(1..3) == Some("ww") {
        pattern.replace_range(1..3, "");
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn types_of_methods_become_patterns() {
        for (types, expected) in [
            ("v16@0:8", "v"),
            ("@16@0:8", "w"),
            ("v64@0:8{?=QQQ}16{?=QQQ}40", "vss"),
            ("v40@0:8@16{_NSRange=QQ}24", "vws"),
            ("@32@0:8@16^@24", "www"),
            ("@32@0:8@16o^@24", "www"),
            ("@40@0:8@16@?24", "www"),
            ("v32@0:8r^@16Q24", "vww"),
            ("v24@0:8^{__IOSurface=}16", "vw"),
            ("v24@0:8^{A={B=ii}[4f]}16Q24", "vww"),
            ("d16@0:8", "d"),
            ("v20@0:8f16", "vf"),
            ("v20@0:8B16", "vB"),
        ] {
            assert_eq!(pattern(types), expected, "{types}");
        }
    }
}
