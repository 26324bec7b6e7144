//! Demangles names as `xctrace` shows them.
//!
//! C++ names are read with `cpp_demangle`, which spells some types differently from LLVM, which
//! `xctrace` uses. Known differences are corrected. A name that may have any other difference is shown
//! all the same, and marked, so that no comparison with an export counts on it. Names of Swift are read
//! here: no library for them is written in Rust only. `xctrace` takes names of Rust for those of C++, so
//! they are spelled as in their source in both readers.

mod swift;

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Maximum length of a readable name, in bytes: substitutions can make it grow without end.
const MAX_LENGTH: usize = 64 << 10;

/// The name of a function, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionName {
    pub(crate) text: String,
    /// True if `xctrace` shows it so.
    pub(crate) is_sure: bool,
}

impl FunctionName {
    pub(crate) fn sure(text: impl Into<String>) -> Self {
        let (text, is_sure) = (text.into(), true);
        Self { text, is_sure }
    }

    fn unsure(text: impl Into<String>) -> Self {
        let (text, is_sure) = (text.into(), false);
        Self { text, is_sure }
    }
}

/// Returns the name of a symbol without a shown name, or `None` if it is not certain.
pub(crate) fn readable(name: &str) -> Option<FunctionName> {
    if let Some(function) = name.strip_prefix("DYLD-STUB$$") {
        let function = function.strip_prefix('_')?;
        return (!is_mangled(function))
            .then(|| FunctionName::sure(format!("DYLD-STUB$${function}")));
    }
    // Every symbol of C and of languages built on it begins with an underscore.
    let name = name.strip_prefix('_')?;
    let read = if is_cpp(name) {
        demangled(name)
    } else if is_swift(name) {
        swift::readable(name).map(FunctionName::sure)
    } else {
        return None;
    };
    Some(read.unwrap_or_else(|| FunctionName::unsure(name)))
}

/// Returns true if a name is still mangled.
pub(crate) fn is_mangled(name: &str) -> bool {
    is_cpp(name) || is_swift(name)
}

/// Returns true for names such as `_ZN3app4stepEi`. A block in it has two more underscores.
fn is_cpp(name: &str) -> bool {
    let blocks = name.trim_start_matches('_');
    blocks.starts_with('Z') && matches!(name.len() - blocks.len(), 1..=4)
}

fn is_swift(name: &str) -> bool {
    let name = name.strip_prefix('_').unwrap_or(name);
    ["$s", "$S", "T0"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Texts that LLVM spells, or may spell, differently from `cpp_demangle`.
const DOUBTFUL: &[&str] = &[
    "{",
    "[clone",
    "operator<",
    "operator>",
    "decltype",
    "sizeof",
    "noexcept",
    "nullptr",
    // The bits of a number with a fraction.
    ")[",
    "auto",
    "__vector",
    "std::basic_",
    "std::string",
    "(, ",
    ", )",
    "<, ",
    ", >",
    ", , ",
    ", &",
    ", *",
    "<&",
];

/// Texts with a doubtful one in them that both spell the same.
const CERTAIN: &[&str] = &["__autoreleasing", "operator<=>"];

/// Returns the readable form of a name of C++, if it can be read.
fn demangled(name: &str) -> Option<FunctionName> {
    // A part of a function that rarely runs.
    if let Some(at) = name.find(".cold.") {
        let (function, part) = name.split_at_checked(at)?;
        let mut whole = demangled(function)?;
        whole.text += &format!(" ({part})");
        return Some(whole);
    }

    let complete = with_all_parameters(name);
    let parsed = parsed(complete.as_deref().unwrap_or(name))?;
    let Some(text) = as_llvm(&parsed) else {
        return Some(FunctionName::unsure(tidy(&parsed)));
    };
    let certain = CERTAIN
        .iter()
        .fold(text.clone(), |rest, certain| rest.replace(certain, ""));
    let doubtful = DOUBTFUL.iter().any(|doubtful| certain.contains(doubtful));
    let doubtful = doubtful || has_empty_reference(&text) || may_lack_reference(name, &text);
    if doubtful || complete.is_none() {
        return Some(FunctionName::unsure(tidy(&text)));
    }
    Some(FunctionName::sure(text))
}

/// Returns a doubtful text without what only `cpp_demangle` writes: empty arguments, and braces around a
/// thunk.
fn tidy(text: &str) -> String {
    let thunk = text.strip_prefix("{virtual override thunk(");
    let thunk = thunk.and_then(|thunk| thunk.strip_suffix(")}")?.split_once("}, "));
    let text = match thunk {
        Some((_, function)) => format!("non-virtual thunk to {function}"),
        None => text.to_owned(),
    };
    text.replace(", >", ">").replace("<, ", "<")
}

/// Spells a text of `cpp_demangle` as LLVM does, as far as the differences are known.
fn as_llvm(text: &str) -> Option<String> {
    let text = protocols(&lambdas(text)?)?;
    let text = literals(&text)?;
    Some(text.replace("> >", ">>").replace("> >", ">>"))
}

/// Returns the text that `cpp_demangle` makes of a name.
fn parsed(name: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(name.as_bytes()).ok()?;
    let mut text = Capped(String::new());
    let options = cpp_demangle::DemangleOptions::default();
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(text.0)
}

/// Returns the name from which `cpp_demangle` reads all parameters of a templated constructor. It
/// takes the first one for a return type, which constructors do not have, and drops it
/// (gimli-rs/cpp_demangle#129). So this adds a return type, `v`, that it can drop:
///
/// ```text
/// _ZN3app4RingC2IiEE   6ConfigT_    app::Ring::Ring<int>(int)
/// _ZN3app4RingC2IiEE v 6ConfigT_    app::Ring::Ring<int>(Config, int)
/// ```
///
/// A version without the error gets the name as it is. `None` if the name may have such a
/// constructor at another place.
fn with_all_parameters(name: &str) -> Option<Cow<'_, str>> {
    if templated_constructors(name) == 0 {
        return Some(name.into());
    }

    // A local name, `Z…`, begins with the name and the parameters of the function around it.
    let encoding = name.trim_start_matches('_').trim_start_matches('Z');
    // `_ZTS` is followed by a type, which ends where the name of the function does.
    let type_name = format!("_ZTS{encoding}");
    let bytes = type_name.as_bytes();
    let (_, parameters) = cpp_demangle::BorrowedSymbol::with_tail(bytes).ok()?;
    let parameters = str::from_utf8(parameters).ok()?;
    let function = encoding.strip_suffix(parameters)?;
    if templated_constructors(function) != 1 || templated_constructors(parameters) != 0 {
        return None;
    }

    let of_parameter = |parameter: char| parsed(&format!("_Z{function}{parameter}"));
    let is_dropped = of_parameter('i')? == of_parameter('v')?;
    if !is_dropped || parameters.is_empty() {
        return Some(name.into());
    }

    let start = name.strip_suffix(parameters)?;
    Some(format!("{start}v{parameters}").into())
}

/// Returns the number of places that look like a templated constructor or destructor: `C2I`, or
/// `C2B` if a tag precedes its arguments. The name of something else may look so, too.
fn templated_constructors(name: &str) -> usize {
    let places = name.as_bytes().windows(3);
    let like = places.filter(|place| matches!(place, [b'C' | b'D', b'0'..=b'9', b'I' | b'B']));
    like.count()
}

/// Returns true for `app::run<>(&&)`: the parameter of an empty list of arguments, which LLVM
/// leaves out. A reference to an array, `int (&&) [4]`, has a space before.
fn has_empty_reference(text: &str) -> bool {
    let places = text.match_indices("(&");
    places
        .map(|(at, _)| text.get(..at).unwrap_or(""))
        .any(|before| !before.ends_with(' '))
}

/// Returns true if references to several arguments may be lacking: `cpp_demangle` drops that to an
/// argument which itself ends with a reference or an empty list of arguments.
fn may_lack_reference(name: &str, text: &str) -> bool {
    (name.contains("DpO") || name.contains("DpR")) && (text.contains("&>") || text.contains("<>"))
}

/// Replaces `{lambda(int)#2}` by `'lambda0'(int)`. `None` if a brace has another meaning.
fn lambdas(text: &str) -> Option<String> {
    let mut text = text.to_owned();
    // The last one that opens is the innermost.
    while let Some(start) = text.rfind("{lambda(") {
        let inside = text.get(start + "{lambda".len()..)?;
        let end = inside.find('}')?;
        let (parameters, number) = inside.get(..end)?.rsplit_once('#')?;
        let number = match number.parse::<u32>().ok()?.checked_sub(1)? {
            0 => String::new(),
            later => (later - 1).to_string(),
        };
        let spelled = format!("'lambda{number}'{parameters}");
        text.replace_range(start..=start + "{lambda".len() + end, &spelled);
        if text.len() > MAX_LENGTH {
            return None;
        }
    }
    Some(text)
}

/// Replaces `NSObject objcproto6Reader*` by `NSObject<Reader>*`, and `objc_object
/// objcproto6Reader*` (any object) by `id<Reader>`.
fn protocols(text: &str) -> Option<String> {
    let mut spelled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" objcproto") {
        let digits = after.find(|c: char| !c.is_ascii_digit())?;
        let (length, after) = after.split_at_checked(digits)?;
        let (protocol, after) = after.split_at_checked(length.parse().ok()?)?;
        spelled.push_str(before);
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let class = spelled.len() - spelled.trim_end_matches(is_word).len();
        let class = spelled.split_at_checked(spelled.len() - class)?.1;
        rest = match class {
            "" | "const" | "volatile" => return None,
            "objc_object" => {
                spelled.truncate(spelled.len() - class.len());
                spelled.push_str("id");
                after.strip_prefix('*')?
            }
            _ => after,
        };
        spelled.push_str(&format!("<{protocol}>"));
    }

    spelled.push_str(rest);
    Some(spelled)
}

/// Replaces `(unsigned long)3` by `3ul`. Other types, such as `(app::State)3`, stay.
fn literals(text: &str) -> Option<String> {
    const SUFFIXES: &[(&str, &str)] = &[
        ("unsigned int", "u"),
        ("long", "l"),
        ("unsigned long", "ul"),
        ("long long", "ll"),
        ("unsigned long long", "ull"),
    ];
    let mut spelled = String::new();
    let mut rest = text;

    while let Some(close) = rest.find(')') {
        let (before, after) = rest.split_at_checked(close)?;
        let after = after.get(1..)?;
        let sign = usize::from(after.starts_with('-'));
        let is_digit = |c: &char| c.is_ascii_digit();
        let digits = after.chars().skip(sign).take_while(is_digit).count();
        if digits == 0 && sign == 0 {
            spelled.push_str(before);
            spelled.push(')');
            rest = after;
            continue;
        }
        let (before, kind) = before.rsplit_once('(')?;
        let (number, after) = after
            .split_at_checked(sign + digits)
            .filter(|_| digits > 0)?;
        spelled.push_str(before);
        match SUFFIXES.iter().find(|(name, _)| *name == kind) {
            Some((_, suffix)) => spelled.push_str(&format!("{number}{suffix}")),
            None => spelled.push_str(&format!("({kind}){number}")),
        }
        rest = after;
    }

    spelled.push_str(rest);
    Some(spelled)
}

/// Returns a name of Rust as its source spells it, and any other as it is.
///
/// ```text
/// _$LT$T$u20$as$u20$app..Run$GT$::run::h0123456789abcdef    <T as app::Run>::run
/// ```
pub(crate) fn of_rust(name: &str) -> Cow<'_, str> {
    let mangled = match name.rsplit_once("::h") {
        Some((_, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            let parts = name.split("::").map(|part| format!("{}{part}", part.len()));
            Cow::Owned(format!("_ZN{}E", parts.collect::<String>()))
        }
        _ if name.starts_with("_R") => name.into(),
        _ => return name.into(),
    };
    let mut text = Capped(String::new());
    match rustc_demangle::try_demangle(&mangled) {
        Ok(found) if write!(text, "{found:#}").is_ok() => text.0.into(),
        _ => name.into(),
    }
}

/// A text with a maximum length.
struct Capped(String);

impl Write for Capped {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_LENGTH {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_demangled() {
        let cases = [
            ("__ZN3app4stepEi", "app::step(int)"),
            (
                "__ZNK3app3MapISt4pairIiNS_4ListIPKcEEEE4findEy",
                "app::Map<std::pair<int, app::List<char const*>>>::find(unsigned long long) const",
            ),
            (
                "__ZN3app4ringILj16ELm3ELb1ELi7EEEvv",
                "void app::ring<16u, 3ul, true, 7>()",
            ),
            (
                "__ZZN3app4openEPKcENK3$_0clEv",
                "app::open(char const*)::$_0::operator()() const",
            ),
            (
                "__ZZN3app4openEvENKUlvE_clEv",
                "app::open()::'lambda'()::operator()() const",
            ),
            (
                "__ZZN3app4openEvENKUliE0_clEi",
                "app::open()::'lambda0'(int)::operator()(int) const",
            ),
            (
                "__ZN3app4sendEPU27objcproto16OS_dispatch_data8NSObjectPU16objcproto6Reader11objc_object",
                "app::send(NSObject<OS_dispatch_data>*, id<Reader>)",
            ),
            (
                "__ZL4openmPU15__autoreleasingP7NSError",
                "open(unsigned long, NSError* __autoreleasing*)",
            ),
            (
                "__ZN3app4sendEPU15__autoreleasingPU15objcproto5Other11objc_object",
                "app::send(id<Other> __autoreleasing*)",
            ),
            (
                "__ZN3appssERKNS_1AES2_",
                "app::operator<=>(app::A const&, app::A const&)",
            ),
            ("__ZN3app4stepEi.cold.1", "app::step(int) (.cold.1)"),
            ("__ZN3app4ringILs16EEEvv", "void app::ring<(short)16>()"),
            ("__ZN3app4ringILln3EEEvv", "void app::ring<-3l>()"),
            (
                "__ZN3app3runILNS_5StateE3EEEvv",
                "void app::run<(app::State)3>()",
            ),
            (
                "__ZN3app3runILNS_5StateEn3EEEvv",
                "void app::run<(app::State)-3>()",
            ),
            ("_$s3app4stepyySiF", "step(_:)"),
            (
                "____ZN3app4eachEU13block_pointerFvvE_block_invoke.20",
                "invocation function for block in app::each(void () block_pointer)",
            ),
        ];

        for (mangled, expected) in cases {
            assert_eq!(readable(mangled), Some(FunctionName::sure(expected)));
        }
    }

    #[test]
    fn templated_constructors_keep_their_first_parameter() {
        // As `llvm-cxxfilt` shows them.
        let cases = [
            (
                "_ZN3app4RingINS_3BigEEC2IiEE6ConfigNS_5OtherE",
                "app::Ring<app::Big>::Ring<int>(Config, app::Other)",
            ),
            (
                "_ZN3app4RingINS_3BigEEC1IS1_EE6ConfigT_",
                "app::Ring<app::Big>::Ring<app::Big>(Config, app::Big)",
            ),
            (
                "_ZN3app4RingINS_3BigEEC2IJiiEEE6ConfigDpT_",
                "app::Ring<app::Big>::Ring<int, int>(Config, int, int)",
            ),
            ("_ZN3app4RingC2IiEEv", "app::Ring::Ring<int>()"),
            (
                "_ZN3app4RingD2I6ConfigEES2_",
                "app::Ring::~Ring<Config>(Config)",
            ),
            (
                "_ZZN3app4RingC2IiEE6ConfigT_ENKUlvE_clEv",
                "app::Ring::Ring<int>(Config, int)::'lambda'()::operator()() const",
            ),
            (
                "_ZN3app4RingC1IZNS_4openEvEUlvE_EET_",
                "app::Ring::Ring<app::open()::'lambda'()>(app::open()::'lambda'())",
            ),
            // Those without a template, and functions with one, are not affected.
            (
                "_ZN3app4RingINS_3BigEEC2E6ConfigNS_5OtherE",
                "app::Ring<app::Big>::Ring(Config, app::Other)",
            ),
            (
                "_ZN3app4RingINS_3BigEE4makeIS1_EE6ConfigT_",
                "Config app::Ring<app::Big>::make<app::Big>(app::Big)",
            ),
            ("_ZN3app4RingcvT_IiEEv", "app::Ring::operator int<int>()"),
        ];
        for (mangled, expected) in cases {
            let found = readable(&format!("_{mangled}"));
            assert_eq!(found, Some(FunctionName::sure(expected)));
        }
    }

    #[test]
    fn doubtful_names_are_shown_and_marked() {
        for (name, shown) in [
            (
                "_ZN3app4sendEU15objcproto5Other11objc_object",
                "app::send(objc_object objcproto5Other)",
            ),
            (
                "_ZN3app4sendEPU15objcproto5OtherU16objcproto6Reader8NSObject",
                "app::send(NSObject objcproto6Reader objcproto5Other*)",
            ),
            ("_ZN3appgtERKS_", "app::operator>(app const&)"),
            (
                "_ZN3appgtERKS_.cold.1",
                "app::operator>(app const&) (.cold.1)",
            ),
            (
                "_ZN3app4ringILf3f800000EEEvv",
                "void app::ring<(float)[3f800000]>()",
            ),
            (
                "_ZN3app4ringIDnEEvT_",
                "void app::ring<std::nullptr_t>(std::nullptr_t)",
            ),
            ("_ZN3app4findENS_4ListIiJEEE", "app::find(app::List<int>)"),
            (
                "_ZThn32_N3app4RingD0Ev",
                "non-virtual thunk to app::Ring::~Ring()",
            ),
            // A reference to an argument that ends with one, which is lost.
            (
                "_ZN3app3runIJN3std5tupleIJO1AEEEEEEvDpOT_",
                "void app::run<std::tuple<A&&>>(std::tuple<A&&>&&)",
            ),
            // An empty list of arguments, which LLVM leaves out.
            ("_ZN3app3runIJEEEvDpOT_", "void app::run<>(&&)"),
            // A local type of a templated constructor as a parameter.
            (
                "_ZN3app4RingC2IiEEZNS0_C2IiEEiE5Local",
                "app::Ring::Ring<int>()",
            ),
            ("_ZN3app4C2IxE4stepEi", "_ZN3app4C2IxE4stepEi"),
            ("_Znonsense", "_Znonsense"),
            ("$s3app4stepyySi", "$s3app4stepyySi"),
        ] {
            let found = readable(&format!("_{name}"));
            assert_eq!(found, Some(FunctionName::unsure(shown)));
            assert!(is_mangled(name));
        }
    }

    #[test]
    fn other_names_are_recognized() {
        let stub = FunctionName::sure("DYLD-STUB$$open");
        assert_eq!(readable("DYLD-STUB$$_open"), Some(stub));
        assert_eq!(readable("DYLD-STUB$$__ZN3app4stepEi"), None);
        assert_eq!(readable("_main"), None);
        assert_eq!(readable(""), None);
        for name in [
            "main",
            "_main",
            "-[App step:]",
            "__80-[App step]_block_invoke",
            "Z",
            "0x1f",
        ] {
            assert!(!is_mangled(name), "{name}");
        }
    }

    #[test]
    fn names_of_rust_are_spelled_as_in_their_source() {
        for (name, expected) in [
            (
                "core::ptr::drop_in_place$LT$app..Ring$GT$::h0123456789abcdef",
                "core::ptr::drop_in_place<app::Ring>",
            ),
            (
                "_$LT$T$u20$as$u20$app..Run$GT$::run::h0123456789abcdef",
                "<T as app::Run>::run",
            ),
            (
                "app::main::_$u7b$$u7b$closure$u7d$$u7d$::h0123456789abcdef",
                "app::main::{{closure}}",
            ),
            ("_RNvC3app4main", "app::main"),
            ("_RunLoop", "_RunLoop"),
            ("app::h0123456789abcde", "app::h0123456789abcde"),
            ("app::step(int)", "app::step(int)"),
            ("", ""),
        ] {
            assert_eq!(of_rust(name), expected);
        }
    }

    #[test]
    fn names_that_grow_without_end_are_limited() {
        let mut name = "_Z1fI1aE".to_owned();
        for at in 0..60 {
            let digit = char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[at % 36]);
            name.push_str(&format!("1aIS{digit}_S{digit}_E"));
        }
        let _ = readable(&format!("_{name}"));
        let _ = readable(&format!("__Z{}", "P".repeat(5000)));
        let _ = readable(&format!("__ZN{}", "1aI".repeat(5000)));
    }
}
