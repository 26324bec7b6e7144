//! Settings changed in a template's bytes, and nothing else.
//!
//! Template: an archive (`NSKeyedArchiver`), a flat list of objects that name each
//! other by number. A dictionary in it has two lists, keys and values:
//!
//! ```text
//! $objects: … 8: {NS.keys: [9, …], NS.objects: [12, …]}  9: "shaderprofiler"  12: false  …  n: true
//!                                               └─ now n                                    └─ new
//! ```

use std::io::Cursor;
use std::mem::discriminant;

use plist::{Dictionary, Uid, Value};

use super::change::Change;

/// The same archive with the changes; nothing else in it means anything else.
pub(super) fn patched(template: &[u8], changes: &[Change]) -> Result<Vec<u8>, &'static str> {
    let mut archive =
        Value::from_reader(Cursor::new(template)).map_err(|_| "it is no property list")?;
    let objects = archive
        .as_dictionary_mut()
        .and_then(|top| top.get_mut("$objects"))
        .and_then(Value::as_array_mut)
        .ok_or("it is no archive")?;
    for &change in changes {
        make(change, objects)?;
    }
    let mut patched = Vec::with_capacity(template.len());
    archive
        .to_writer_binary(&mut patched)
        .map_err(|_| "it cannot be written again")?;
    Ok(patched)
}

fn make(change: Change, objects: &mut Vec<Value>) -> Result<(), &'static str> {
    let places = places(change, objects);
    if places.is_empty() {
        return Err(change.absent());
    }
    // A value of its own: what says `false` now may say it for others too.
    let new = Value::Uid(Uid::new(objects.len() as u64));
    objects.push(change.value());
    for place in places {
        let values = objects
            .get_mut(place.dictionary)
            .and_then(Value::as_dictionary_mut)
            .and_then(|dictionary| dictionary.get_mut("NS.objects"))
            .and_then(Value::as_array_mut);
        if let Some(value) = values.and_then(|values| values.get_mut(place.value)) {
            *value = new.clone();
        }
    }
    Ok(())
}

/// Where a value of a setting stands.
struct Place {
    dictionary: usize,
    value: usize,
}

/// Those of the first key, and of its companion; none if the first is nowhere.
fn places(change: Change, objects: &[Value]) -> Vec<Place> {
    let [first, companion] = change.keys();
    let kind = discriminant(&change.value());
    let (mut all, mut has_first) = (Vec::new(), false);
    let dictionaries = objects.iter().enumerate();
    let dictionaries = dictionaries.filter_map(|(at, one)| Some((at, one.as_dictionary()?)));
    for (dictionary, contents) in dictionaries {
        let (keys, values) = (list(contents, "NS.keys"), list(contents, "NS.objects"));
        let named = |wanted: &str| {
            let is_it =
                |key: &Value| pointed(objects, key).and_then(Value::as_string) == Some(wanted);
            let mut pairs = keys.iter().zip(values).enumerate();
            pairs.find_map(|(at, (key, held))| is_it(key).then_some((at, pointed(objects, held))))
        };
        let is_kind = |held: Option<&Value>| held.is_some_and(|held| discriminant(held) == kind);
        let first = named(first).filter(|&(_, held)| is_kind(held));
        let with_first = change.is_of_both() && first.is_some();
        let companion = named(companion).filter(|&(_, held)| with_first || is_kind(held));
        has_first |= first.is_some();
        let found = first.into_iter().chain(companion);
        all.extend(found.map(|(value, _)| Place { dictionary, value }));
    }
    match has_first {
        true => all,
        false => Vec::new(),
    }
}

fn list<'a>(dictionary: &'a Dictionary, name: &str) -> &'a [Value] {
    let list = dictionary.get(name).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

/// What a value names, if it is the number of another; else itself.
fn pointed<'a>(objects: &'a [Value], value: &'a Value) -> Option<&'a Value> {
    match value.as_uid() {
        Some(uid) => objects.get(usize::try_from(uid.get()).ok()?),
        None => Some(value),
    }
}

#[cfg(test)]
pub(super) use tests::of_a_test;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::super::change::Clock;
    use super::*;

    /// One that has all settings.
    pub(in super::super) fn of_a_test() -> Vec<u8> {
        let clock = [Value::Integer(0.into()), Value::Integer(0.into())];
        template(NAMES, [OFF, OFF], clock)
    }

    fn uid(at: u64) -> Value {
        Value::Uid(Uid::new(at))
    }

    fn dictionary(pairs: &[(u64, u64)]) -> Value {
        let mut all = Dictionary::new();
        let side =
            |side: fn(&(u64, u64)) -> u64| pairs.iter().map(|pair| uid(side(pair))).collect();
        all.insert("NS.keys".to_owned(), Value::Array(side(|pair| pair.0)));
        all.insert("NS.objects".to_owned(), Value::Array(side(|pair| pair.1)));
        Value::Dictionary(all)
    }

    /// An archive as Apple's: one `false` and one `true`, which all share.
    fn template(names: [&str; 3], switches: [Value; 2], clock: [Value; 2]) -> Vec<u8> {
        let ([held, internal], [state, state_internal]) = (switches, clock);
        let objects = vec![
            "$null".into(),                                             // 0
            names[0].into(),                                            // 1
            names[1].into(),                                            // 2
            names[2].into(),                                            // 3
            held,                                                       // 4
            Value::Boolean(true),                                       // 5
            dictionary(&[(1, 4), (3, 4), (2, 12), (13, 15), (14, 16)]), // 6
            dictionary(&[(3, 5)]),                                      // 7
            Value::Data(vec![1, 2, 3]),                                 // 8
            Value::Real(2.5),                                           // 9
            Value::Integer((-7).into()),                                // 10
            Value::Integer(u64::MAX.into()),                            // 11
            internal,                                                   // 12
            "gpuperformancestate".into(),                               // 13
            "gpuperformancestateinternal".into(),                       // 14
            state,                                                      // 15
            state_internal,                                             // 16
        ];
        let mut top = Dictionary::new();
        top.insert("$archiver".to_owned(), "NSKeyedArchiver".into());
        top.insert("$objects".to_owned(), Value::Array(objects));
        top.insert("$version".to_owned(), 100_000.into());
        bytes(&Value::Dictionary(top))
    }

    fn bytes(value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        value.to_writer_binary(&mut bytes).unwrap();
        bytes
    }

    fn parsed(bytes: &[u8]) -> Value {
        Value::from_reader(Cursor::new(bytes)).unwrap()
    }

    fn objects(archive: &mut Value) -> &mut Vec<Value> {
        let top = archive.as_dictionary_mut().unwrap();
        top.get_mut("$objects").unwrap().as_array_mut().unwrap()
    }

    const OFF: Value = Value::Boolean(false);
    const NAMES: [&str; 3] = [
        "shaderprofiler",
        "shaderprofilerinternal",
        "countersshaderprofiler",
    ];
    const TIMELINE: Change = Change::ShaderTimeline;
    const MAXIMUM: Change = Change::GpuClock(Clock::Maximum);

    fn number(number: u64) -> Value {
        Value::Integer(number.into())
    }

    fn null() -> Value {
        Value::Dictionary(Dictionary::new())
    }

    /// What is appended, and the five values of the dictionary then.
    #[test]
    fn what_is_asked_for_and_nothing_else() {
        let check = |template: &[u8], changes: &[Change], new: &[Value], then: [u64; 5]| {
            let mut expected = parsed(template);
            let all = objects(&mut expected);
            all.extend(new.iter().cloned());
            let [first, other, internal, state, state_internal] = then;
            all[6] = dictionary(&[
                (1, first),
                (3, other),
                (2, internal),
                (13, state),
                (14, state_internal),
            ]);
            assert_eq!(parsed(&patched(template, changes).unwrap()), expected);
        };
        let on = Value::Boolean(true);
        let stock = of_a_test();
        check(&stock, &[], &[], [4, 4, 12, 15, 16]);
        check(
            &stock,
            &[TIMELINE],
            std::slice::from_ref(&on),
            [17, 4, 17, 15, 16],
        );
        check(&stock, &[MAXIMUM], &[number(3)], [4, 4, 12, 17, 17]);
        check(
            &stock,
            &[TIMELINE, MAXIMUM],
            &[on.clone(), number(3)],
            [17, 4, 17, 18, 18],
        );
        for (clock, held) in [(Clock::Minimum, 1), (Clock::Medium, 2), (Clock::Default, 4)] {
            let change = [Change::GpuClock(clock)];
            check(&stock, &change, &[number(held)], [4, 4, 12, 17, 17]);
        }
        // Where the second holds a null: of the Shader Timeline it is left alone.
        let nulls = template(NAMES, [OFF, null()], [number(0), null()]);
        check(&nulls, &[TIMELINE], &[on], [17, 4, 12, 15, 16]);
        check(&nulls, &[MAXIMUM], &[number(3)], [4, 4, 12, 17, 17]);
    }

    /// Changed once more, it says the same.
    #[test]
    fn a_second_time() {
        let once = patched(&of_a_test(), &[TIMELINE, MAXIMUM]).unwrap();
        let mut twice = parsed(&patched(&once, &[TIMELINE, MAXIMUM]).unwrap());
        let all = objects(&mut twice);
        let held = list(all[6].as_dictionary().unwrap(), "NS.objects");
        let held: Vec<_> = held.iter().filter_map(|one| pointed(all, one)).collect();
        let (on, three) = (Value::Boolean(true), number(3));
        assert_eq!(held, [&on, &OFF, &on, &three, &three]);
    }

    #[test]
    fn what_is_no_template() {
        let check = |bytes: &[u8], change: Change, expected: &str| {
            assert_eq!(patched(bytes, &[change]).unwrap_err(), expected);
        };
        check(b"not a list", TIMELINE, "it is no property list");
        check(
            &bytes(&Value::Array(Vec::new())),
            TIMELINE,
            "it is no archive",
        );
        let numbers = || [number(0), number(0)];
        let absent = "it has no switch for the Shader Timeline";
        let second = ["shaderprofilerinternal", "other", "another"];
        check(&template(second, [OFF, OFF], numbers()), TIMELINE, absent);
        let none = ["Shaderprofiler", "other", "another"];
        check(&template(none, [OFF, OFF], numbers()), TIMELINE, absent);
        check(
            &template(NAMES, ["no".into(), OFF], numbers()),
            TIMELINE,
            absent,
        );
        let absent = "it has no number for the GPU's performance state";
        for held in [null(), OFF, "0".into()] {
            let template = template(NAMES, [OFF, OFF], [held, number(0)]);
            check(&template, MAXIMUM, absent);
        }
    }

    /// An archive of Instruments' own, which has the same switches among 23,000
    /// objects: it is read and written whole. Its clock is a null.
    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn a_real_archive() {
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real");
        let folder = std::env::var_os("METALENS_REAL").map_or(beside, PathBuf::from);
        let file = "m1-time-profiler-bundle-and-export/cpu_time_profiler.trace/form.template";
        let Ok(template) = fs::read(folder.join(file)) else {
            eprintln!("skipped: no real recordings at hand (METALENS_REAL names their folder)");
            return;
        };
        let mut before = parsed(&template);
        let mut after = parsed(&patched(&template, &[TIMELINE]).unwrap());
        let (before, after) = (objects(&mut before), objects(&mut after));
        assert_eq!(after.len(), before.len() + 1);
        let all = 0..before.len();
        let changed: Vec<usize> = all.filter(|&at| before[at] != after[at]).collect();
        let places = places(TIMELINE, before);
        let expected: Vec<usize> = places.iter().map(|place| place.dictionary).collect();
        // One in the template, one in its run; the internal one is a null here.
        assert_eq!((changed.len(), changed), (2, expected));
        let refused = patched(&template, &[MAXIMUM]).unwrap_err();
        assert_eq!(refused, "it has no number for the GPU's performance state");
    }
}
