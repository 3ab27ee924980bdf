//! Versions that a release flow publishes.

use std::str::FromStr;

use pep440_rs::Version;
use proptest::prelude::*;

use super::*;

const SHA: &str = "abcdef1234567890abcdef1234567890abcdef12";

fn inputs(base: &str, kind: Continuation) -> Inputs {
    let base = Base { date: Some("20260811".parse().unwrap()), ..Base::new(base).unwrap() };
    Inputs {
        product: "rocm".to_owned(),
        base,
        kind,
        date: "20260813".parse().unwrap(),
        sha: Some(SHA.to_owned()),
    }
}

fn of(base: &str, kind: Continuation) -> [String; 3] {
    let Versions { wheel, deb, rpm, .. } = versions(&inputs(base, kind)).unwrap();
    [wheel, deb, rpm]
}

#[test]
fn each_type_has_its_spelling() {
    use ReleaseType as T;
    let cases = [
        (Continuation::Type(T::Release), ["7.10.0", "7.10.0", "7.10.0"]),
        (Continuation::Prerelease(5), ["7.10.0rc5", "7.10.0~pre5", "7.10.0~rc5"]),
        (Continuation::Type(T::Nightly), ["7.10.0a20260813", "7.10.0~20260813", "7.10.0~20260813"]),
        (
            Continuation::Type(T::NightlyBkc),
            [
                "7.10.0a20260811+bkc.20260813",
                "7.10.0~20260811.bkc.20260813",
                "7.10.0~20260811.bkc.20260813",
            ],
        ),
        (Continuation::Suffix("abc".to_owned()), ["7.10.0abc"; 3]),
        (Continuation::Suffix("~custom1".to_owned()), ["7.10.0~custom1"; 3]),
    ];
    for (kind, expected) in cases {
        assert_eq!(of("7.10.0", kind.clone()), expected, "{kind:?}");
    }
    for kind in [T::Ci, T::Dev, T::DevBkc] {
        let wheel = format!("7.10.0.dev0+{SHA}");
        assert_eq!(
            of("7.10.0", Continuation::Type(kind)),
            [&*wheel, "7.10.0~dev20260813", "7.10.0~20260813gabcdef12"]
        );
    }
    assert_eq!(of("1000", Continuation::Suffix("abc".to_owned()))[0], "1000abc");
}

#[test]
fn accepts_short_sha_and_refuses_missing_one() {
    let dev = Continuation::Type(ReleaseType::Dev);
    let with = |sha: Option<&str>| {
        versions(&Inputs { sha: sha.map(str::to_owned), ..inputs("8.1.0", dev.clone()) })
    };
    assert_eq!(with(Some("abcdef1234567890")).unwrap().rpm, "8.1.0~20260813gabcdef12");
    assert_eq!(with(Some("ABCDEF12")).unwrap().wheel, "8.1.0.dev0+abcdef12");
    assert_eq!(with(None), Err(VersionsError::NoSha(ReleaseType::Dev)));
    assert!(matches!(with(Some("abc")), Err(VersionsError::Sha(_))));
    assert!(matches!(with(Some("not-a-hash")), Err(VersionsError::Sha(_))));
}

#[test]
fn release_branch_builds_require_start() {
    for kind in [ReleaseType::NightlyBkc, ReleaseType::DevBkc] {
        let mut inputs = inputs("7.9.0", Continuation::Type(kind));
        inputs.base.date = None;
        let error = versions(&inputs).unwrap_err();
        assert!(error.to_string().contains("release-metadata.base-date"), "{error}");
    }
}

#[test]
fn reads_back_written_files() {
    let date = |text: &str| Base::read(text, "rocm").unwrap().date.map(|date| date.to_string());
    assert_eq!(date(r#"{"rocm-version": "10.1.0"}"#), None);
    assert_eq!(date(r#"{"rocm-version": "10.1.0", "release-metadata": {}}"#), None);
    assert_eq!(date(r#"{"rocm-version": "10.1.0", "release-metadata": {"base-date": ""}}"#), None);
    let with = |date: &str| {
        format!(r#"{{"rocm-version": "10.1.0", "release-metadata": {{"base-date": "{date}"}}}}"#)
    };
    assert_eq!(date(&with("20260811")).as_deref(), Some("20260811"));
    for wrong in ["2026081", "20261301", "20260230", "2026-8-1", "aaaaaaaa"] {
        let error = Base::read(&with(wrong), "rocm").unwrap_err().to_string();
        assert!(error.contains("valid date in YYYYMMDD format"), "{wrong}: {error}");
    }
    for broken in ["", "{", "[]", r#"{"release-metadata": 7}"#] {
        assert!(matches!(Base::read(broken, "rocm"), Err(BaseError::Json(_))), "{broken}");
    }
    for lacking in [r#"{"rocm-version": 7}"#, r#"{"release-metadata": {}}"#] {
        assert!(matches!(Base::read(lacking, "rocm"), Err(BaseError::Missing(_))), "{lacking}");
    }
    for version in ["", "7.", "v7", "7.10.0a1", "7 ", "7.post", "7.post1.post2"] {
        assert!(matches!(Base::new(version), Err(BaseError::Version(_))), "{version}");
    }
    assert!(Base::new("7.14.0.post1").is_ok());
}

#[test]
fn frameworks_append_the_version() {
    let cases = [
        ("7.0.0.dev0+5151abc", "+devrocm7.0.0.dev0-5151abc"),
        ("7.0.0rc20250707", "+rocm7.0.0rc20250707"),
        ("10.1.0a20260811+bkc.20260813", "+rocm10.1.0a20260811-bkc.20260813"),
        ("7.0.0-rc1", "+rocm7.0.0rc1"),
    ];
    for (version, expected) in cases {
        assert_eq!(suffix("rocm", version), expected);
    }
}

#[test]
fn reports_each_trap() {
    use ReleaseType as T;
    let told = |base: &str, kind: Continuation| {
        let inputs = inputs(base, kind);
        let versions = versions(&inputs).unwrap();
        traps(&inputs, &versions).into_iter().map(|(trap, _)| trap).collect::<Vec<_>>()
    };
    let starts = |base: &str, kind: Continuation, parts: &[&str]| {
        let told = told(base, kind);
        assert_eq!(told.len(), parts.len(), "{told:?}");
        for (trap, part) in told.iter().zip(parts) {
            assert!(trap.contains(part), "{trap}");
        }
    };
    starts("7.10.0", Continuation::Type(T::Release), &[]);
    starts("7.10.0", Continuation::Type(T::Nightly), &[]);
    starts("7.10.0", Continuation::Type(T::NightlyBkc), &["`==7.10.0a20260811` also matches"]);
    starts("7.10.0", Continuation::Type(T::Dev), &["sort by their commits' hashes"]);
    starts("7.14.0.post1", Continuation::Type(T::Release), &["without `.post` does not match"]);
    starts("10.1.0", Continuation::Type(T::Release), &["local parts sort as text"]);
    starts("7.99.0", Continuation::Suffix(".custom1".to_owned()), &["is not a PEP 440 version"]);
    starts("7.10.0", Continuation::Suffix("+0123".to_owned()), &["without leading zeros"]);
    let version = |text: &str| Version::from_str(text).unwrap();
    let specifier = pep440_rs::VersionSpecifiers::from_str("==10.1.0a20260811").unwrap();
    assert!(specifier.contains(&version("10.1.0a20260811+bkc.20260814")));
    let release = pep440_rs::VersionSpecifiers::from_str("==7.14.0").unwrap();
    assert!(!release.contains(&version("7.14.0.post1")));
    assert!(version("1+rocm10") < version("1+rocm7"));
    assert_eq!(version("1+0123").to_string(), "1+123");
}

fn days() -> impl Strategy<Value = Date> {
    (2025_i16..2100, 1_i16..13, 1_i16..29)
        .prop_map(|(y, m, d)| format!("{y:04}{m:02}{d:02}").parse().unwrap())
}

proptest! {
    /// release > rc > nightly > dev; a release branch's build sorts between the nightly it started
    /// from and the next.
    #[test]
    fn types_are_in_order(major in 1_u32..20, minor in 0_u32..30, number in 1_u32..30, start in days(), date in days(), hash in any::<u128>()) {
        let sha = format!("{hash:032x}");
        let base = Base { date: Some(start), ..Base::new(&format!("{major}.{minor}.0")).unwrap() };
        let made = |kind: Continuation| {
            let inputs = Inputs { product: "rocm".to_owned(), base: base.clone(), kind, date, sha: Some(sha.clone()) };
            Version::from_str(&versions(&inputs).unwrap().wheel).unwrap()
        };
        let [release, nightly, dev, bkc] =
            [ReleaseType::Release, ReleaseType::Nightly, ReleaseType::Dev, ReleaseType::NightlyBkc].map(|t| made(Continuation::Type(t)));
        let rc = made(Continuation::Prerelease(number));
        prop_assert!(release > rc && rc > nightly && nightly > dev && rc > bkc && bkc > dev);
        prop_assert_eq!(made(Continuation::Type(ReleaseType::DevBkc)), dev.clone());
        prop_assert_eq!(made(Continuation::Type(ReleaseType::Ci)), dev);
        let night = |day: Date| Version::from_str(&format!("{}a{day}", base.version)).unwrap();
        prop_assert!(night(start) < bkc);
        if start < date {
            prop_assert!(bkc < night(date));
        }
    }
}
