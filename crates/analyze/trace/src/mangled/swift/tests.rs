//! Names of Swift symbols, and what Apple's tools show for them.

use super::readable;

/// Composed names; none is from a recording.
const SHOWN: &[(&str, &str)] = &[
    ("$s4main3FooV3bar3bazySi_tF", "Foo.bar(baz:)"),
    ("$s4main3FooV3barSivg", "Foo.bar.getter"),
    ("_$s4main3FooV3barSivs", "Foo.bar.setter"),
    ("$s4main3FooV3barSivM", "Foo.bar.modify"),
    ("$s4main3FooV3barSivM.resume.0", "Foo.bar.modify"),
    ("$S4main3FooV3barSivg", "Foo.bar.getter"),
    ("$s4main3FooC3barACSi_tcfC", "Foo.__allocating_init(bar:)"),
    ("$s4main3FooV3barACSi_tcfC", "Foo.init(bar:)"),
    ("$s4main3FooCACycfc", "Foo.init()"),
    ("$s4main3FooCfD", "Foo.__deallocating_deinit"),
    ("$s4main3FooVfD", "Foo.deinit"),
    ("$s4main3FooCfd", "Foo.deinit"),
    (
        "$s4main3FooC1xSivpfi",
        "variable initialization expression of Foo.x",
    ),
    ("$s4main3fooyySiFfA_", "default argument 0 of foo(_:)"),
    ("$s4main3fooyySiFyycfU_", "closure #1 in foo(_:)"),
    (
        "$s4main3fooyySiFyycfU0_TA",
        "partial apply for closure #2 in foo(_:)",
    ),
    (
        "$s4main3fooyySiFyycfu_yycfU_",
        "closure #1 in implicit closure #1 in foo(_:)",
    ),
    (
        "$s4main3FooV4bodyQrvgyycfU_",
        "closure #1 in Foo.body.getter",
    ),
    (
        "$s4main3fooyyF9applyNodeL_5startySi_tF",
        "applyNode #1 (start:) in foo()",
    ),
    ("$s4main3fooyyF4NodeL_V3runyyF", "run() in Node #1 in foo()"),
    ("$s4main3fooyyF5countL_Sivg", "getter of count #1 in foo()"),
    (
        "$s4main3FooV3bar33_0123456789ABCDEF0123456789ABCDEFLLyyF",
        "Foo.bar()",
    ),
    ("$s4main3FooV2eeoiySbAC_ACtFZ", "static Foo.== infix(_:_:)"),
    ("$s4main1popyS2iF", "+ prefix(_:)"),
    ("$sSa9_getCountSiyF", "Array._getCount()"),
    ("$sSa4mainE3baryyF", "Array.bar()"),
    ("$s4main5OuterVAAE5InnerV3runyyF", "Outer.Inner.run()"),
    (
        "$s4main3FooVAA3BarA2aDP3runyyFTW",
        "protocol witness for Bar.run() in conformance Foo",
    ),
    (
        "$s4main3FooVyxGAA3BarA2aEP3runyyFTW",
        "protocol witness for Bar.run() in conformance Foo<A>",
    ),
    ("$s4main3FooC3runyyFTo", "@objc Foo.run()"),
    ("$s4main3FooC3runyyFTj", "dispatch thunk of Foo.run()"),
    ("$s4main3FooC3runyyFTq", "method descriptor for Foo.run()"),
    ("$s4main3FooC3runyyYaKF", "Foo.run()"),
    ("$s4main3FooC3runyyYaKFTY0_", "Foo.run()"),
    ("$s4main3FooC3runyyYaKFTQ1_", "Foo.run()"),
    (
        "$s4main3FooC3runyyYaKFTu",
        "async function pointer to Foo.run()",
    ),
    ("$s4main3fooyyxlFSi_Tg5", "specialized foo<A>(_:)"),
    ("$s4main3fooyyxlFSi_Tg5Tf4n_g", "specialized foo<A>(_:)"),
    ("$s4main3fooyyxlFSi_Tg5Tm", "specialized foo<A>(_:)"),
    ("$s4main3fooyyxlFSi_SSTt1g5", "specialized foo<A>(_:)"),
    ("$s4main3fooyyx_q_tr0_lF", "foo<A, B>(_:_:)"),
    ("$s4main3FooV3fooyyqd__lF", "Foo.foo<A>(_:)"),
    ("$s4main3fooyyxxQpRvzlF", "foo<each A>(_:)"),
    (
        "$sIeg_SgWOe",
        "outlined consume of (@escaping @callee_guaranteed () -> ())?",
    ),
    (
        "$sIegh_Ieg_TR",
        "thunk for @escaping @callee_guaranteed @Sendable () -> ()",
    ),
    (
        "$sSiSSIegyo_SiSSIegnr_TR",
        "thunk for @escaping @callee_guaranteed (@unowned Int) -> (@owned String)",
    ),
    (
        "$sxIegr_xIegd_lTR",
        "thunk for @escaping @callee_guaranteed () -> (@out A)",
    ),
    ("$sSaySiGMa", "type metadata accessor for [Int]"),
    ("$s4main3FooVMa", "type metadata accessor for Foo"),
    ("$s4main3FooVwcp", "initializeWithCopy for Foo"),
    ("$s4main3FooVwst", "storeEnumTagSinglePayload for Foo"),
    ("$s4main3FooVWOh", "outlined destroy of Foo"),
    ("$sypWOc", "outlined init with copy of Any"),
    ("$sypSgWOb", "outlined init with take of Any?"),
    ("$s4main3FooVSgWOy", "outlined copy of Foo?"),
    (
        "$sSaySiGSayxGSTsWl",
        "lazy protocol witness table accessor for type [Int] and conformance [A]",
    ),
    (
        "$sSDySSypGMD",
        "demangling cache variable for type metadata for [String : Any]",
    ),
    ("$sSDySSypGSgWOe", "outlined consume of [String : Any]?"),
    ("$sSo8NSObjectCMa", "type metadata accessor for NSObject"),
    ("$sSo7CGPointV12CoreGraphicsE1xSivg", "CGPoint.x.getter"),
    (
        "$s4main3FooV3barSivpACTK",
        "key path getter for Foo.bar : Foo",
    ),
    (
        "$s4main3FooV3barSivpACTk",
        "key path setter for Foo.bar : Foo",
    ),
    ("$s4main3FooV3keySiSS_tcis", "Foo.subscript.setter"),
    ("$s4main3fooSivau", "foo.unsafeMutableAddressor"),
    ("$s4main3foo_WZ", "one-time initialization function for foo"),
    ("$s4main3foo_Wz", "one-time initialization token for foo"),
    (
        "$s4main3FooV1xSivpfP",
        "property wrapper backing initializer of Foo.x",
    ),
    ("$s4main3fooyyAA1P_pF", "foo(_:)"),
    ("$s4main3fooyyAA1P_AA1QpF", "foo(_:)"),
    ("$s4main1P_AA1QpSgWOe", "outlined consume of (P & Q)?"),
    ("$sypXpMa", "type metadata accessor for Any.Type"),
    ("$sSSmMa", "type metadata accessor for String.Type"),
    (
        "$s4main1P_pXpMD",
        "demangling cache variable for type metadata for P.Type",
    ),
    (
        "$syXlMD",
        "demangling cache variable for type metadata for Swift.AnyObject",
    ),
    (
        "$sS2SSgIeggo_S2SIeggo_TR",
        "thunk for @escaping @callee_guaranteed (@guaranteed String) -> (@owned String?)",
    ),
    (
        "$sSi5first_SS6secondtWOh",
        "outlined destroy of (first: Int, second: String)",
    ),
    (
        "$s4main3FooV4bodyQrvpQOyAA3BarV_Qo_MD",
        "demangling cache variable for type metadata for <<opaque return type of Foo.body>>.0",
    ),
    (
        "$s4main3BarC3runyyFAA3FooCADyyFTV",
        "vtable thunk for Foo.run() dispatching to Bar.run()",
    ),
    (
        "$s4main3FooV3BarVy_SiGMa",
        "type metadata accessor for Foo.Bar<Int>",
    ),
    (
        "$s4main3FooV3BarVyx_SiGMa",
        "type metadata accessor for Foo<A>.Bar<Int>",
    ),
    (
        "$sScTyytGMD",
        "demangling cache variable for type metadata for Task<()>",
    ),
    ("$sScMMa", "type metadata accessor for MainActor"),
    ("$s4main3FooV3barSivW", "Foo.bar.didset"),
    ("$s4main3FooV3barSivx", "Foo.bar.yielding_mutate"),
    ("$s4main3fooyyySiKXEF", "foo(_:)"),
    ("$s4main3fooyyySiYaYbKcF", "foo(_:)"),
    ("$s4main3fooyySizF", "foo(_:)"),
    ("$s4main3fooyySinF", "foo(_:)"),
    ("$s4main3fooyySid_tF", "foo(_:)"),
    (
        "$s4main3FooVSQAAMc",
        "protocol conformance descriptor for Foo",
    ),
    ("$s4main3FooCMm", "metaclass for Foo"),
    ("$s4main3FooCN", "type metadata for Foo"),
    ("$sSiN", "type metadata for Int"),
];

/// Names that are not of Swift, or broken.
const REFUSED: &[&str] = &[
    "",
    "$",
    "$s",
    "_",
    "main",
    "_main",
    "_ZN4core3fmt5Write9write_fmtE",
    "$s4main3FooV3bar3bazySi_t",
    "$s4main3FooV3bar3bazySi_tFZZ_",
    "$s99999999999999999999main",
    "$s4main3fooyyF99999999999999999999_",
    "$s004main",
    "$s\u{e9}",
    "$s3\u{e9}\u{e9}V",
    "$s4main3FooVyyFZ",
    "$s4main1ppP",
    "$sSa4main3FooVRszlE3baryyF",
    "$s4main3fooyySiXEF4main3baryyFTf1c_n",
    "$sSS_pIegno_SSIegn_TR",
    "$sytIegnr_IegyTR",
    "$s4main3FooVyxGAA3BarAAWl",
    "$s4main3FooVySicig",
    "$s4main3FooVySicipACTK",
    "$s4main3fooSi_WZ",
    "$s4main3FooC_AA1PpXcMD",
    "$s4main1TP1xAA1UPWT",
];

#[test]
fn names_are_shown_as_apple_shows_them() {
    for (mangled, shown) in SHOWN {
        assert_eq!(readable(mangled).as_deref(), Some(*shown), "{mangled}");
    }
}

#[test]
fn what_follows_a_dot_is_not_shown() {
    for (mangled, shown) in SHOWN.iter().filter(|(mangled, _)| !mangled.contains('.')) {
        let part = format!("{mangled}.llvm.123");
        assert_eq!(readable(&part).as_deref(), Some(*shown), "{part}");
    }
}

#[test]
fn broken_names_are_refused() {
    for mangled in REFUSED {
        assert_eq!(readable(mangled), None, "{mangled}");
    }
}

/// Cut anywhere, or with any byte changed, a name is read to an end.
#[test]
fn damage_does_no_harm() {
    for (mangled, _) in SHOWN {
        for at in 0..mangled.len() {
            readable(&mangled[..at]);
            for letter in ["", "_", "9", "A", "G", "y", "\u{1f980}"] {
                readable(&format!("{}{letter}{}", &mangled[..at], &mangled[at + 1..]));
            }
        }
    }
}

/// Reads a name that would never end, or fill the memory, if nothing bounded it.
#[track_caller]
fn check_is_bounded(mangled: &str) -> Option<String> {
    let shown = readable(mangled);
    assert!(shown.as_ref().is_none_or(|text| text.len() < 1 << 16));
    shown
}

#[test]
fn deep_names_end() {
    let deep = |open: &str, middle: &str, close: &str, count: usize| {
        format!("$s{}{middle}{}", open.repeat(count), close.repeat(count))
    };
    let few = check_is_bounded(&deep("Say", "Si", "G", 9));
    assert_eq!(few.as_deref(), Some("[[[[[[[[[Int]]]]]]]]]"));
    check_is_bounded(&deep("Say", "Si", "G", 20_000));
    check_is_bounded(&deep("", "Si", "m", 50_000));
    check_is_bounded(&deep("4main", "1AV", "1BV", 20_000));
    check_is_bounded(&deep("", "4main3fooyyF", "yycfU_", 20_000));
    check_is_bounded(&deep("", "4main1AVAAE", "1BVAAE", 20_000));
    check_is_bounded(&deep("", "4main1AV", "1BVy_____G", 5_000));
    check_is_bounded(&deep("", "4main1AVy", "_", 50_000));
    check_is_bounded(&deep("", "4main", "1xLlV", 100_000));
    check_is_bounded(&deep("y", "", "t", 50_000));
    check_is_bounded(&deep("", "r", "z", 50_000));
}

#[test]
fn repetitions_end() {
    // Each type is a dictionary of two of the type before it.
    let mut doubled = String::from("$sSDyS2iG");
    for letter in 'A'..='Z' {
        doubled += &format!("SDyA{}{letter}G", letter.to_ascii_lowercase());
    }
    assert_eq!(check_is_bounded(&doubled), None);
    assert_eq!(
        check_is_bounded(&format!("$sSaySiG{}", "A2000a".repeat(20_000))),
        None
    );
    assert_eq!(check_is_bounded("$sS2000000000iD"), None);
    assert_eq!(
        check_is_bounded("$sSiMa"),
        Some("type metadata accessor for Int".into())
    );
    check_is_bounded(&format!("$s4main{}", "0A".repeat(50_000)));
    check_is_bounded(&format!("$s{}", "9Abcdefghi".repeat(10_000)));
    check_is_bounded(&format!("$s{}lD", "Rz".repeat(20_000)));
    check_is_bounded(&format!("$s4main3fooyyr{}lF", "100_".repeat(20_000)));
}
