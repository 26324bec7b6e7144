//! Readable names of Swift symbols, as Apple's profilers show them: without modules, types of
//! arguments, and the details of specializations.
//!
//! A mangled name is a program for a stack machine (`docs/ABI/Mangling.rst` of Swift). Operators pop
//! what they join, and push the result. What was mangled once can be pushed again: as a whole
//! (a substitution), or words of it within another identifier. Here the result of an operator is
//! text right away. Only what another operator may need later is kept beside it.

use std::collections::HashMap;
use std::iter::{from_fn, repeat_n};
use std::rc::Rc;
use std::sync::LazyLock;

/// Number of bytes that a text may have.
const LONGEST: usize = 1 << 16;
/// Number of bytes of text that may be written for one name, intermediate ones included.
const MOST_WORK: usize = 1 << 20;
/// Number of items that may wait on the stack.
const DEEPEST: usize = 1 << 13;
/// Stands in texts for what cannot be shown; mostly nothing shows it anyway.
const UNKNOWN: char = '\u{fffd}';
/// Attribute of every kind of specialized function, which is shown once.
const SPECIALIZED: &str = "specialized";
/// Stands in the text of a context between what leads the name of what is in it, and what follows.
const IN: char = '\0';

// Kinds of items that are popped alike, see `Item::kind`.
const NOMINALS: &str = "CVOPa";
const TYPES: &str = "CVOPatnfFueEx";
const RESULTS: &str = "yCVOPatnfFueEx";
const CONTEXTS: &str = "CVOPamkw";

/// Values by section and code.
static TABLE: LazyLock<HashMap<(char, &str), &str>> =
    LazyLock::new(|| LINES.lines().filter_map(parsed).collect());
const LINES: &str = include_str!("swift.txt");

fn parsed(line: &str) -> Option<((char, &str), &str)> {
    let section = line.chars().next()?;
    let entry = line.strip_prefix(section)?;
    let (code, value) = entry.split_once(' ').unwrap_or((entry, ""));
    Some(((section, code), value))
}

/// Result of an operator, on the stack.
#[derive(Clone, Debug, Default)]
struct Item {
    /// Letter by which operators choose what they pop.
    ///
    /// Types: `C`lass, `V`alue, enumerati`O`n, `P`rotocol, `a`lias or other name, `f`unction, generic
    /// `F`unction, t`u`ple, `e`xistential (`E` if simple), generic parameter `x`, any other `t`ype (`n`
    /// if not simple). Contexts: `m`odule, extension `w`, any other `k`. Names: `i`dentifier,
    /// `o`perator, `L`ocal, private `l`. Marks: `y` empty list, `_` first of a list, `.` variadic. Of
    /// functions: `A`ttribute, `T` result is sent, `I`solation, `D`ifferentiable, `K` throws,
    /// `S`endable, as`Y`nc. Of generics: si`g`nature, `r`equirement, `c`onformance, `h` reference to
    /// one, `R`etroactive. Any other result: `z`.
    kind: char,
    /// All of it, with [`IN`] if it can be a context.
    text: String,
    /// Type, module or function around a nominal type or extension.
    context: Made,
    /// Name of a module or nominal type, label of an element, attributes of a function.
    before: String,
    /// Labels of a function or tuple, generics of an extension.
    after: String,
}

type Ref = Rc<Item>;
type Made = Option<Ref>;

impl Item {
    fn is(&self, kinds: &str) -> bool {
        kinds.contains(self.kind)
    }

    fn shown(&self) -> String {
        shown(&self.text)
    }

    fn in_parentheses(&self) -> String {
        let (open, close) = if self.is("nfe") { ("(", ")") } else { ("", "") };
        format!("{open}{}{close}", self.shown())
    }

    /// Joins the name of a declaration to this context; a name before a space leads the context.
    fn with_name(&self, name: &str) -> String {
        if name.ends_with(' ') {
            return format!("{IN}{name}{}", self.shown());
        }
        let end = self.text.find(IN).unwrap_or(self.text.len());
        let (lead, follow) = self.text.split_at(end);
        let dot = if lead.is_empty() { "" } else { "." };
        format!("{lead}{dot}{name}{follow}")
    }
}

fn joined(items: &[Ref], separator: &str) -> String {
    let texts: Vec<_> = items.iter().map(|item| item.shown()).collect();
    texts.join(separator)
}

/// Returns how a text with [`IN`] is shown.
fn shown(text: &str) -> String {
    text.strip_prefix(IN).unwrap_or(text).replace(IN, " in ")
}

fn followed(text: String, by: &str) -> String {
    if text.is_empty() { text } else { text + by }
}

/// Returns the place of a letter in the alphabet.
fn position(letter: char) -> Option<usize> {
    letter.to_digit(36)?.checked_sub(10)?.try_into().ok()
}

/// Returns what stands for a letter of an operator's name.
fn sign(letter: char) -> Option<char> {
    let sign = "& @/= >    <*!|+?%-~   ^ ."
        .chars()
        .nth(position(letter)?)?;
    (sign != ' ' && letter.is_ascii_lowercase()).then_some(sign)
}

/// Returns `A`, `B` and so on, with the depth of the generic context if it is not the outermost.
fn generic_name(depth: usize, index: usize) -> Option<String> {
    let letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".get(index..=index)?;
    match depth {
        0 => Some(letter.into()),
        _ => Some(format!("{letter}{depth}")),
    }
}

/// Returns what Apple's tools show for a mangled Swift name, or nothing if it is not fully understood.
pub(super) fn readable(name: &str) -> Option<String> {
    let name = name.strip_prefix('_').unwrap_or(name);
    let text = name.strip_prefix("$s").or(name.strip_prefix("$S"))?;
    Machine::default().run(text)
}

/// The stack machine.
#[derive(Default)]
struct Machine<'a> {
    /// Rest of the mangled name.
    text: &'a str,
    stack: Vec<Ref>,
    substitutions: Vec<Ref>,
    words: Vec<&'a str>,
    /// Number of bytes written.
    work: usize,
}

/// Reading.
impl<'a> Machine<'a> {
    fn run(mut self, text: &'a str) -> Option<String> {
        self.text = text;
        // After a dot, passes of LLVM tell apart parts and copies of a function.
        while !self.text.is_empty() && !self.text.starts_with('.') {
            let item = self.operator()?;
            self.stack.push(item);
        }
        let mut shown = String::new();
        while let Some(attribute) = self.pop("A") {
            if attribute.text != SPECIALIZED || !shown.contains(SPECIALIZED) {
                shown += &followed(attribute.shown(), " ");
            }
        }
        let last = self.stack.pop().filter(|item| !item.is("_y.ADKRSTYchr"))?;
        shown += &last.shown();
        let is_whole = self.stack.is_empty() && !shown.is_empty();
        (is_whole && !shown.contains(UNKNOWN)).then_some(shown)
    }

    fn skip(&mut self, prefix: &str) -> bool {
        let rest = self.text.strip_prefix(prefix);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (taken, rest) = self.text.split_at_checked(length)?;
        self.text = rest;
        Some(taken)
    }

    fn letter(&mut self) -> Option<char> {
        self.take(1)?.chars().next()
    }

    /// Takes the longest code that a section of the table has, and returns what stands there.
    fn choose(&mut self, section: char) -> Option<&'static str> {
        let codes = (0..=4).rev().filter_map(|length| self.text.get(..length));
        let mut found = codes.filter_map(|code| TABLE.get_key_value(&(section, code)));
        let (&(_, code), &value) = found.next()?;
        self.skip(code);
        Some(value)
    }

    fn take_all(&mut self, letters: &str) -> &'a str {
        let rest = self.text.trim_start_matches(|it| letters.contains(it));
        self.take(self.text.len() - rest.len()).unwrap_or_default()
    }

    fn natural(&mut self) -> Option<usize> {
        let digits = self.take_all("0123456789");
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(usize::MAX >> 1))
    }

    /// Takes `_` for 0, `0_` for 1, and so on.
    fn index(&mut self) -> Option<usize> {
        let index = self.natural().map_or(0, |number| number + 1);
        Some(index).filter(|&index| self.skip("_") && index < 1 << 31)
    }

    /// Takes an identifier, which may have words of earlier ones.
    fn identifier(&mut self) -> Made {
        let mut has_words = self.skip("0");
        let mut name = String::new();
        loop {
            let next = self.text.chars().next();
            if let Some(letter) = next.filter(|it| has_words && it.is_ascii_alphabetic()) {
                self.letter();
                name += self.words.get(position(letter)?)?;
                has_words = letter.is_ascii_lowercase();
                continue;
            }
            if !self.skip("0") {
                let length = self.natural()?;
                let part = self.take(length)?;
                self.remember_words(part);
                name += part;
                if has_words {
                    continue;
                }
            }
            let name = Some(name).filter(|name| !name.is_empty())?;
            let name = self.bare('i', name);
            self.substitutions.extend(name.clone());
            return name;
        }
    }

    /// Remembers the words of an identifier: they begin with capitals, or after underscores.
    fn remember_words(&mut self, part: &'a str) {
        let (mut start, mut before) = (None, ' ');
        for (at, letter) in part.char_indices().chain([(part.len(), '_')]) {
            let is_new = !before.is_ascii_uppercase() && letter.is_ascii_uppercase();
            if let Some(from) = start.take_if(|_| is_new || letter == '_') {
                self.words
                    .extend(part.get(from..at).filter(|word| word.len() > 1));
            }
            if letter != '_' && !letter.is_ascii_digit() {
                start = start.or(Some(at));
            }
            before = letter;
        }
        self.words.truncate(26);
    }

    /// Pushes what was mangled before again, once or repeatedly, and returns the last.
    fn repeated(&mut self) -> Made {
        loop {
            let count = self.natural();
            let letter = self.letter()?;
            if letter == '_' {
                let index = count.map_or(26, |count| count + 27);
                return self.substitutions.get(index).cloned();
            }
            let item = self.substitutions.get(position(letter)?)?.clone();
            let item = self.repeat(item, count)?;
            if letter.is_ascii_uppercase() {
                return Some(item);
            }
            self.stack.push(item);
        }
    }

    fn standard(&mut self) -> Made {
        let count = self.natural();
        let (kind, name) = self.choose('S')?.split_once(' ')?;
        let module = self.module("Swift");
        let item = self.item(kind.chars().next()?, name.into(), module, [name, "Swift"])?;
        self.repeat(item, count)
    }

    /// Pushes all but the last repetition.
    fn repeat(&mut self, item: Ref, count: Option<usize>) -> Made {
        let more = count.map_or(0, |count| count.saturating_sub(1));
        (self.stack.len() + more < DEEPEST).then_some(())?;
        self.stack.extend(repeat_n(item.clone(), more));
        Some(item)
    }
}

/// The stack.
impl Machine<'_> {
    fn pop(&mut self, kinds: &str) -> Made {
        self.stack.pop_if(|top| top.is(kinds))
    }

    fn pop_all(&mut self, kinds: &str) -> Vec<Ref> {
        let before = self.stack.iter().rposition(|item| !item.is(kinds));
        self.stack.split_off(before.map_or(0, |at| at + 1))
    }

    fn pop_context(&mut self) -> Made {
        match self.pop("i") {
            Some(name) => self.module(&name.text),
            None => self.pop(CONTEXTS),
        }
    }

    fn pop_protocol(&mut self) -> Made {
        match self.pop(TYPES) {
            Some(item) => Some(item).filter(|item| item.is("P")),
            None => self.named('P', ""),
        }
    }

    /// Pops a list: its first element is marked, or it is marked as empty.
    fn pop_list(&mut self, pop: impl Fn(&mut Self) -> Made) -> Option<Vec<Ref>> {
        let mut list = Vec::new();
        let mut ends = self.pop("y").is_some();
        while !ends {
            ends = self.pop("_").is_some();
            list.push(pop(self)?);
        }
        list.reverse();
        Some(list)
    }

    fn optional(&mut self, kind: &str) -> String {
        self.pop(kind).map_or_else(String::new, |item| item.shown())
    }

    fn bare(&mut self, kind: char, text: String) -> Made {
        self.item(kind, text, None, [""; 2])
    }

    fn item(&mut self, kind: char, text: String, context: Made, parts: [&str; 2]) -> Made {
        self.work += text.len();
        let [before, after] = parts.map(str::to_string);
        let is_short = text.len() < LONGEST && self.work < MOST_WORK;
        is_short.then(|| {
            Item {
                kind,
                text,
                context,
                before,
                after,
            }
            .into()
        })
    }

    /// Makes a module, which is not shown.
    fn module(&mut self, name: &str) -> Made {
        self.item('m', String::new(), None, [name, ""])
    }

    /// Makes a declaration. What is in a type follows its name, what is in others does not.
    fn nominal(&mut self, kind: char, name: &str, context: Made) -> Made {
        // A context without a name could be in itself without end.
        let mut text = context
            .as_ref()
            .filter(|_| !name.is_empty())?
            .with_name(name);
        if !NOMINALS.contains(kind) {
            text = format!("{IN}{}", shown(&text));
        }
        self.item(kind, text, context, [name, ""])
    }

    fn extension(&mut self, context: Made, generics: &str) -> Made {
        let text = context.as_ref()?.shown() + generics;
        self.item('w', text, context, ["", generics])
    }

    /// Pops the name and context of a declaration.
    fn named(&mut self, kind: char, after: &str) -> Made {
        let name = self.pop("ioLl")?;
        let context = self.pop_context();
        let text = match after.strip_prefix('.') {
            _ if name.kind != 'L' => name.shown() + after,
            Some(accessor) => format!("{accessor} of {} in ", name.text),
            None => followed(name.shown(), " ") + &followed(after.into(), " ") + "in ",
        };
        self.nominal(kind, &text, context)
    }

    /// Pops the context of a declaration that has no name of its own, and a prefix if it is of a class.
    fn unnamed(&mut self, text: &str) -> Made {
        let context = self.pop_context();
        let of_class = context.as_ref()?.is("C");
        let start = text.find('|').filter(|_| !of_class).map_or(0, |at| at + 1);
        let name = text.get(start..)?.replace('|', "");
        self.nominal('k', &name, context)
    }
}

/// Operators.
impl Machine<'_> {
    fn operator(&mut self) -> Made {
        if self.text.starts_with(|next: char| next.is_ascii_digit()) {
            return self.identifier();
        }
        let entry = self.choose('=')?;
        self.join(entry)
    }

    /// Pops the operands of an operator, and returns what it pushes.
    fn join(&mut self, entry: &str) -> Made {
        let (codes, template) = entry.split_once(' ').unwrap_or((entry, ""));
        let mut letters = codes.trim_start_matches('+').chars();
        let kind = letters.next()?;
        let operands: Option<Vec<_>> = letters.map(|code| self.operand(code)).collect();
        let mut text = String::new();
        for letter in template.chars() {
            match letter.to_digit(10) {
                Some(at) => text += operands.as_ref()?.get(usize::try_from(at).ok()?)?,
                None => text.push(letter),
            }
        }
        operands?;
        let item = match kind {
            '1' => self.signature(&[1]),
            '2' => self.counted_signature(),
            'B' => self.repeated(),
            'C' | 'V' | 'O' | 'P' | 'a' => self.named(kind, ""),
            'F' => self.generic_type(),
            'G' => self.bound_generic(),
            'H' => self.standard(),
            'M' => self.inner_function_type(),
            'N' => self.function_type('n', text),
            'Q' => self.named('k', &text),
            'U' => self.tuple(),
            'd' => self.unnamed(&text),
            'e' if !text.contains(" & ") => self.bare('E', text),
            'f' => self.function_type('f', text),
            'm' => self.module(&text),
            'v' => self.unnamed(&(text + " ")),
            'w' => {
                let extended = self.pop(NOMINALS);
                self.extension(extended, &text)
            }
            _ => self.bare(kind, text),
        };
        if codes.starts_with('+') {
            self.substitutions.extend(item.clone());
        }
        item
    }

    /// Pops what a letter of an operator's entry stands for, or takes it from the name.
    fn operand(&mut self, code: char) -> Option<String> {
        match code {
            '!' => Some(followed(self.optional("i"), ": ")),
            '+' => self.pop("i")?.text.chars().map(sign).collect(),
            '4' => Some(joined(&self.pop_all(TYPES), ", ")),
            '5' => self.letter().filter(char::is_ascii_digit).map(String::from),
            '?' => Some(self.optional("l")),
            'D' => Some(self.optional(".")),
            'E' => Some(self.take_all("opamnbg").into()).filter(|_| self.skip("_")),
            'F' => self.pop("fF").and_then(|function| self.labelled(&function)),
            'G' => Some(followed(self.optional("g"), " ")),
            'I' => Some((self.index()? + 1).to_string()),
            'K' => Some(joined(&self.pop_all(TYPES), "")).filter(|it| !it.is_empty()),
            'L' => Some(joined(&self.pop_list(Self::pop_protocol)?, " & ")),
            'M' => self.metatype(),
            'P' => Some(followed(self.optional("P"), ".")),
            'S' => Some(self.take_all("t0123456789").into()),
            'V' => self.pop(TYPES).and_then(|ty| self.labelled(&ty)),
            'W' => Some(self.take_all("gGB").into()),
            'X' => self.specialized_arguments(),
            'a' => Some(joined(&self.pop_list(|machine| machine.join("zn 0"))?, ".")),
            'f' => {
                let function = self.function_type('f', String::new());
                self.labelled(&*function?)
            }
            'g' => Some(self.optional("g")),
            'h' if self.pop("h").is_some() => Some(String::new()),
            'i' => Some(self.index()?.to_string()),
            'k' => Some(self.pop_context()?.shown()),
            'm' => Some(self.pop_context()?.shown()).filter(String::is_empty),
            'p' => Some(self.pop_protocol()?.shown()),
            'q' => self.generic_parameter(),
            's' => Some(self.take_all("qar").into()),
            'u' => Some(self.index()?.checked_sub(1)?.to_string()),
            'v' => Some(self.pop(TYPES)?.in_parentheses()),
            'x' => Some(self.stack.pop()?.shown()),
            'y' => self.generic_arguments().map(|_| String::new()),
            _ => self.listed_operand(code),
        }
    }

    /// Pops what the table says of a letter: an item, a list, or what another operator would pop.
    fn listed_operand(&mut self, code: char) -> Option<String> {
        let mut buffer = [0; 4];
        let letter = &*code.encode_utf8(&mut buffer);
        if let Some(kinds) = TABLE.get(&('$', letter)) {
            return Some(self.pop(kinds)?.shown());
        }
        if let Some(kinds) = TABLE.get(&('*', letter)) {
            let items = self.pop_list(|machine| machine.pop(kinds))?;
            return Some(joined(&items, ", "));
        }
        match TABLE.get(&('%', letter)) {
            Some(entry) => Some(self.join(entry)?.shown()),
            None => self.choose(code).map(str::to_string),
        }
    }

    fn metatype(&mut self) -> Option<String> {
        let ty = self.pop(TYPES)?;
        let suffix = if ty.is("eE") { ".Protocol" } else { ".Type" };
        Some(ty.in_parentheses() + suffix)
    }

    /// Pops the labels of a function's parameters, and returns the parameters with them.
    fn labelled(&mut self, function: &Item) -> Option<String> {
        let mut labels = String::new();
        let (before, unlabelled) = function.text.rsplit_once('(').unwrap_or_default();
        if self.pop("y").is_none() && function.is("fF") {
            for _ in unlabelled.matches(':') {
                labels.insert_str(0, &format!("{}:", self.pop("i_")?.text));
            }
        }
        if !labels.contains(|letter| !":_".contains(letter)) {
            labels = unlabelled.trim_end_matches(')').into();
        }
        Some(format!("{before}({labels})"))
    }

    fn function_type(&mut self, kind: char, attribute: String) -> Made {
        let mut text = followed(attribute, " ");
        for kind in ["T", "I", "D", "K", "S", "Y"] {
            text.extend(self.pop(kind).map(|it| followed(it.shown(), " ")));
        }
        let parameters = self.pop(RESULTS)?;
        self.pop(RESULTS)?;
        let labels = if parameters.is("uy") {
            &parameters.after
        } else {
            "_:"
        };
        self.bare(kind, format!("{text}({labels})"))
    }

    fn tuple(&mut self) -> Made {
        let elements = self.pop_list(|machine| machine.join("zD!t 120"))?;
        let text = format!("({})", joined(&elements, ", "));
        self.item('u', text, None, ["", &"_:".repeat(elements.len())])
    }

    fn generic_type(&mut self) -> Made {
        let generics = self.pop("g")?.shown();
        let ty = self.pop(TYPES)?;
        match ty.kind {
            'f' => self.bare('F', generics + &ty.text),
            _ => self.bare('t', format!("{generics} {}", ty.shown())),
        }
    }

    /// Pops the arguments of a type and of the types around it, innermost first. Also returns whether
    /// the type must be shown without sugar.
    fn generic_arguments(&mut self) -> Option<(Vec<Vec<Ref>>, bool)> {
        let plain = !self.pop_all("R").is_empty();
        let mut lists = vec![self.pop_all(TYPES)];
        while self.pop("y").is_none() {
            self.pop("_")?;
            lists.push(self.pop_all(TYPES));
        }
        // Nobody nests types as deep, and each costs a call.
        (lists.len() < 64).then_some((lists, plain))
    }

    fn bound_generic(&mut self) -> Made {
        let (lists, plain) = self.generic_arguments()?;
        let nominal = self.pop(NOMINALS)?;
        self.bind(&nominal, &lists, plain)
    }

    /// Gives a type, and the types that it is in, their generic arguments.
    fn bind(&mut self, item: &Ref, lists: &[Vec<Ref>], plain: bool) -> Made {
        let (arguments, rest) = lists.split_first()?;
        let context = item.context.as_ref();
        if item.is("w") {
            let context = context.and_then(|context| self.bind(context, lists, false));
            return self.extension(context, &item.after);
        }
        let mut item = Some(item.clone()).filter(|item| item.is(NOMINALS))?;
        if !rest.is_empty() {
            let context = context.and_then(|context| self.bind(context, rest, false));
            item = self.nominal(item.kind, &item.before, context)?;
        }
        let sugared = !plain && item.after == "Swift";
        let name = Some(&*item.before).filter(|_| sugared).unwrap_or_default();
        let text = match (name, &**arguments) {
            (_, []) => return Some(item),
            ("Optional", [one]) => format!("{}?", one.in_parentheses()),
            ("Array", [one]) => format!("[{}]", one.shown()),
            ("Dictionary", [_, _]) => format!("[{}]", joined(arguments, " : ")),
            _ if item.is("P") && !plain => joined(arguments, "") + " as " + &item.shown(),
            _ => format!("{}<{}>", item.shown(), joined(arguments, ", ")),
        };
        self.bare('t', text)
    }

    fn generic_parameter(&mut self) -> Option<String> {
        if let Some(name) = self.choose('q') {
            return Some(name.into());
        }
        let depth = if self.skip("d") { self.index()? + 1 } else { 0 };
        generic_name(depth, self.index()? + usize::from(depth == 0))
    }

    fn counted_signature(&mut self) -> Made {
        let mut counts = Vec::new();
        while !self.skip("l") {
            let none = self.skip("z");
            counts.push(if none { 0 } else { self.index()? + 1 });
        }
        self.signature(&counts)
    }

    /// Makes `<A, B><A1>` of the number of parameters at each depth, and pops what they must fulfill.
    fn signature(&mut self, counts: &[usize]) -> Made {
        let packs = joined(&self.pop_all("rb"), "|") + "|";
        let mut text = String::from("<");
        for (depth, &count) in counts.iter().enumerate() {
            text += if depth == 0 { "" } else { "><" };
            for index in 0..count {
                text += if index == 0 { "" } else { ", " };
                // Apple's tools look for packs with depth and index exchanged.
                let pack = format!("each {}|", generic_name(index, depth)?);
                text += if packs.contains(&pack) { "each " } else { "" };
                text += &generic_name(depth, index)?;
            }
        }
        self.bare('g', text + ">")
    }
}

/// Functions of the compiler's inner language.
impl Machine<'_> {
    /// Makes the type of a function as the compiler calls it: how it takes and gives what.
    fn inner_function_type(&mut self) -> Made {
        let (mut pattern, mut after) = (String::new(), String::new());
        if self.skip("s") {
            after = self.inner_substitutions()?;
            pattern = format!("@substituted {} ", self.pop("g")?.shown());
        }
        if self.skip("I") {
            after += &self.inner_substitutions()?;
        }
        let signature = followed(self.optional("g"), " ");
        self.skip(if signature.is_empty() { " " } else { "P" });
        let mut attributes: Vec<_> = ('0'..='4').filter_map(|part| self.choose(part)).collect();
        attributes.push(self.choose('5')?);
        attributes.extend(('6'..='9').filter_map(|part| self.choose(part)));
        let attributes = attributes.join(" ");
        let sending = if self.skip("T") { "sending " } else { "" };
        let arguments: Vec<_> = from_fn(|| self.passed('a', "")).collect();
        let mut results: Vec<_> = from_fn(|| self.passed('b', "")).collect();
        while self.skip("Y") {
            results.push(self.passed('a', "@yields")?);
        }
        if self.skip("z") {
            results.push(self.passed('b', "@error")?);
        }
        let results = self.with_types(results)?;
        let arguments = self.with_types(arguments)?;
        let text = format!(
            "{attributes} {signature}{pattern}({arguments}) -> {sending}({results}){after}"
        );
        self.skip("_").then(|| self.bare('n', text))?
    }

    /// Takes how arguments and the result were specialized, and pops for what. None of it is shown.
    fn specialized_arguments(&mut self) -> Option<String> {
        self.take_all("0123456789ncECpSfgidsbwkeDGOXoxr");
        self.skip("_").then(|| self.letter())??;
        self.take_all("DGOX");
        self.pop_all("iCVOPatnfFueEx");
        Some(String::new())
    }

    fn inner_substitutions(&mut self) -> Option<String> {
        let (lists, _) = self.generic_arguments()?;
        let [arguments] = &*lists else { return None };
        Some(format!(" for <{}>", joined(arguments, "")))
    }

    /// Takes how a value is passed.
    fn passed(&mut self, section: char, before: &str) -> Option<String> {
        let how = self.choose(section)?;
        let differs = self.choose('c').unwrap_or_default();
        let flag = self.choose('t').unwrap_or_default();
        Some(
            [before, how, differs, flag]
                .map(|part| followed(part.into(), " "))
                .concat(),
        )
    }

    /// Pops the types of the values that are passed.
    fn with_types(&mut self, mut values: Vec<String>) -> Option<String> {
        for value in values.iter_mut().rev() {
            *value += &self.operand('t')?;
        }
        Some(values.join(", "))
    }
}

#[cfg(test)]
mod tests;
