//! Required packages must exist.

use super::*;

fn refusal(dir: &Path, root: &Path, options: &Options) -> String {
    let before = contents(root);
    let error = publish(dir, &Directory::new(root), options, &|_| ()).unwrap_err();
    assert_eq!(contents(root), before, "nothing is written");
    error.to_string()
}

#[test]
fn half_a_set_is_refused() {
    let dir = TempDir::new().unwrap();
    for form in BOTH {
        let (set, root) = (small_set(dir.path(), "1.0"), dir.path().join(format!("{form:?}")));
        let options = options(form);
        let (part, apart) = (set.join("b_part-1.0-py3-none-any.whl"), dir.path().join("apart"));
        fs::create_dir_all(&apart).unwrap();
        fs::rename(&part, apart.join(part.file_name().unwrap())).unwrap();
        let message = refusal(&set, &root, &options);
        assert_eq!(
            message,
            "2 are missing; nothing was written:\n\
             \x20 a_selector-1.0-py3-none-any.whl requires `b-part==1.0`: neither the directory nor the store contains `b-part`\n\
             \x20 c_part-1.0-py3-none-any.whl requires `b-part==1.0`: neither the directory nor the store contains `b-part`"
        );
        // It may exist already, in the required version.
        wheel(&dir.path().join("old"), "b-part", "0.9", &[]);
        published(&dir.path().join("old"), &Directory::new(&root), &options);
        let message = refusal(&set, &root, &options);
        assert!(
            message.ends_with("requires `b-part==1.0`: the available versions of `b-part` are 0.9"),
            "{message}"
        );
        published(&apart, &Directory::new(&root), &options);
        published(&set, &Directory::new(&root), &options);
        assert_eq!(check_index(&root, form).len(), 5);
    }
}

#[test]
fn requirements_are_followed_into_the_store() {
    let dir = TempDir::new().unwrap();
    let (root, first, second) =
        (dir.path().join("store"), dir.path().join("first"), dir.path().join("second"));
    let options = options(Form::Projects);
    wheel(&first, "b-part", "1.0", &["gone"]);
    published(&first, &Directory::new(&root), &Options { incomplete: true, ..options.clone() });
    wheel(&second, "a-selector", "1.0", &["b-part"]);
    let message = refusal(&second, &root, &options);
    assert!(
        message.contains("b_part-1.0-py3-none-any.whl requires `gone`: neither the directory"),
        "{message}"
    );
    let outside = Options { outside: ["gone".to_owned()].into(), ..options.clone() };
    published(&second, &Directory::new(&root), &outside);
}

#[test]
fn requires_offered_extras_and_ignores_yanked_packages() {
    let dir = TempDir::new().unwrap();
    let (root, first, second) =
        (dir.path().join("store"), dir.path().join("first"), dir.path().join("second"));
    let options = options(Form::Projects);
    wheel(&first, "b-part", "1.0", &[]);
    published(&first, &Directory::new(&root), &options);
    wheel(&second, "a-selector", "1.0", &["b-part[more]; sys_platform == 'win32'"]);
    let message = refusal(&second, &root, &options);
    assert!(message.ends_with("requires `b-part[more]`: it has no extra `more`"), "{message}");
    wheel(&second, "a-selector", "1.0", &["b-part"]);
    fs::write(first.join("b_part-1.0-py3-none-any.whl.yanked"), "").unwrap();
    published(&first, &Directory::new(&root), &options);
    let message = refusal(&second, &root, &options);
    assert!(message.ends_with("requires `b-part`: `b-part` 1.0 is yanked"), "{message}");
    // A yanked package may require yanked ones.
    let yank = second.join("a_selector-1.0-py3-none-any.whl.yanked");
    fs::write(&yank, "as its part is").unwrap();
    published(&second, &Directory::new(&root), &options);
    fs::write(&yank, "false").unwrap();
    assert!(refusal(&second, &root, &options).contains("`b-part` 1.0 is yanked"));
}

#[test]
fn publishes_no_broken_package() {
    let dir = TempDir::new().unwrap();
    let root = dir.path().join("store");
    let assert_refused = |set: &str, expected: &str| {
        let set = dir.path().join(set);
        let error = publish(&set, &Directory::new(&root), &options(Form::Flat), &|_| ());
        let message = base::text::with_causes(&error.unwrap_err());
        assert!(message.contains(expected), "{message}");
        assert!(!root.exists());
    };
    wheel(&dir.path().join("odd"), "b-part", "1.0", &["not a req!!"]);
    assert_refused("odd", "`not a req!!`");

    let path = wheel(&dir.path().join("damaged"), "b-part", "1.0", &[]);
    let mut bytes = fs::read(&path).unwrap();
    let index = bytes.windows(7).position(|bytes| bytes == b"VERSION").unwrap();
    bytes[index] = b'v';
    fs::write(&path, bytes).unwrap();
    assert_refused("damaged", "`b_part.py`");

    let path = sdist(&dir.path().join("elsewhere"), "bar", "1.0");
    let renamed = path.with_file_name("foo-1.0.tar.gz");
    let tar = Command::new("python3").arg("-c").arg(RENAMED).args([&path, &renamed]).status();
    assert!(tar.unwrap().success());
    fs::remove_file(&path).unwrap();
    assert_refused(
        "elsewhere",
        "its top level is not one directory with the name of the file: bar-1.0",
    );
}

/// Gives an sdist of `bar` the metadata of `foo`, and keeps its directory.
const RENAMED: &str = "
import io, sys, tarfile
with tarfile.open(sys.argv[1]) as old, tarfile.open(sys.argv[2], 'w:gz') as new:
    for member in old:
        data = old.extractfile(member).read().replace(b'Name: bar', b'Name: foo')
        member.size = len(data)
        new.addfile(member, io.BytesIO(data))
";
