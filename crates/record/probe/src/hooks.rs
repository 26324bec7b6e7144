//! Puts a function in the place of a method, at every level of classes that implements it.
//!
//! Metal's classes come in chains: a chip's class inherits from a common one, both implement a
//! method, and the upper calls the lower with `super`. Each level therefore gets a function of its
//! own, made by the compiler, with the original of that level beside it. No call looks anything up.
#![expect(unsafe_code, reason = "replaces methods of Objective-C")]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::cost;
use crate::mode::lock;
use crate::objc::{Class, Id, Imp, class_name, class_of, levels, own_methods, prepare, publish};
use crate::session;
use crate::system::now;

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

/// The result of a hooked method: nothing, an object, or a `BOOL`.
pub(crate) trait Returned {
    /// Returns it as a word, 0 for nothing.
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

impl Returned for u8 {
    fn word(&self) -> usize {
        usize::from(*self)
    }

    fn from_word(word: usize) -> Self {
        u8::from(word != 0)
    }
}

/// What an object is for, which says the methods to hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Device,
    PipelineMaker,
    Queue,
    CommandBuffer,
    SharedEvent,
    Encoder,
    Pipeline,
}

/// Returns the methods to hook for a role.
pub(crate) type Tables = fn(Role) -> [&'static [Method]; 2];

/// What `metal` declares, which is above this file.
pub(crate) static TABLES: OnceLock<Tables> = OnceLock::new();

/// Hooks the class of an object. What is left alone is noted in the log.
pub(crate) fn hook(object: Id, role: Role) {
    let start = now();
    let Some(notes) = adopt(object, role) else {
        return;
    };
    cost::leave_out_since(start);
    if let (false, Some(session)) = (notes.is_empty(), session::current()) {
        for note in notes {
            session.note(&note);
        }
    }
}

/// Hooks the methods of an object's class, and of those that it inherits from. Returns notes on what
/// was left alone, or `None` if the class is known.
fn adopt(object: Id, role: Role) -> Option<Vec<String>> {
    static KNOWN: Mutex<BTreeSet<(Class, Role)>> = Mutex::new(BTreeSet::new());
    thread_local! {
        // Most objects of a thread have the class of the one before, of the same role.
        static LAST: Cell<[(Class, Role); 4]> = const { Cell::new([(0, Role::Device); 4]) };
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

    let tables = TABLES.get()?(role);
    let mut notes = Vec::new();
    let mut hooked = 0;
    for level in levels(class) {
        prepare(level);
        for own in own_methods(level) {
            let mut methods = tables.into_iter().flatten();
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
            "left alone: class {name} has no known method for the role {role:?}"
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
            // `BOOL`, which is one of these on each system.
            'c' | 'C' => 'B',
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
            ("c32@0:8Q16Q24", "Bww"),
        ] {
            assert_eq!(pattern(types), expected, "{types}");
        }
    }
}
