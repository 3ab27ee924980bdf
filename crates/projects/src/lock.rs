//! Locked requirements of builds and tests: their wheels in a directory, listed in
//! `pylock.NAME.toml` (PEP 751) with the checkout and the tools of the build.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde::Deserialize;
use tempfile::TempPath;

use super::failed::Failed;
use super::snapshot::Snapshot;
use super::wheelhouse::in_directory;
use base::hash::Sha256;
use base::partial::PartialDirectory;
use base::regular;
use base::text::with_causes;
use record::provenance::ProjectInputs;
use wheel::package::WheelName;

/// Directory of downloads in a workspace.
pub(crate) const FETCHED: &str = "fetched";

/// Directory of wheels in the directory of a lock.
const WHEELS: &str = "wheels";
/// Limit of a list in bytes.
const LONGEST_LIST: u64 = 16 << 20;

/// Directory of locks.
#[derive(Debug, Clone)]
pub struct Lock {
    /// Directory with the lists and the wheels.
    pub directory: PathBuf,
    /// True with `--locked`: builds install only listed wheels, without an index. Otherwise builds
    /// write the lists.
    pub is_fixed: bool,
}

/// Lock of a project, of its tests or of its documentation.
#[derive(Debug, Clone)]
pub(crate) struct ItemLock {
    pub lock: Lock,
    /// Name in `pylock.NAME.toml`, with `-` for dots.
    pub name: String,
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    packages: Vec<Package>,
    #[serde(default)]
    tool: Tool,
}

#[derive(Deserialize)]
struct Package {
    #[serde(default)]
    wheels: Vec<WheelFile>,
}

#[derive(Deserialize)]
struct WheelFile {
    path: String,
    hashes: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
struct Tool {
    #[serde(default)]
    rockpack: RockpackTable,
}

#[derive(Default, Deserialize)]
struct RockpackTable {
    tree: Option<String>,
    prefetched: Option<Digests>,
}

/// SHA-256 of files.
pub(crate) type Digests = BTreeMap<String, String>;

impl ItemLock {
    pub fn new(lock: &Lock, name: &str) -> Self {
        Self { lock: lock.clone(), name: name.replace('.', "-") }
    }

    pub fn is_fixed(&self) -> bool {
        self.lock.is_fixed
    }

    fn file(&self) -> PathBuf {
        self.lock.directory.join(format!("pylock.{}.toml", self.name))
    }

    /// Returns true if a build wrote the list.
    pub fn exists(&self) -> bool {
        self.file().is_file()
    }

    fn read(&self) -> Result<List, Failed> {
        let file = self.file();
        let failed = |reason: String| Failed::new(format!("its lock: {reason}"));
        let text =
            regular::read_to_string(&file, LONGEST_LIST).map_err(|e| failed(with_causes(&e)))?;
        let list = toml::from_str(&text);
        list.map_err(|e| failed(format!("{}: {e}", file.display())))
    }

    /// Fails if wheels, checkout or prefetched wheels differ from the list.
    pub fn check(&self, checkout: &Snapshot, prefetched: &Digests) -> Result<(), Failed> {
        let list = self.read()?;
        for wheel in list.wheels() {
            self.checked(wheel)?;
        }
        let listed = list.tool.rockpack;
        if let Some(tree) = listed.tree.filter(|tree| *tree != checkout.tree) {
            return Err(Failed::new(format!(
                "its lock was written for tree {tree}, its checkout has {}: check out the locked \
                 commit, or run without --locked to rewrite the lock",
                checkout.tree
            )));
        }
        let listed = listed.prefetched.unwrap_or_default();
        let differs = |name: &&String| listed.get(*name) != prefetched.get(*name);
        let difference = listed.keys().chain(prefetched.keys()).find(differs);
        difference.map_or(Ok(()), |name| {
            Err(Failed::new(format!(
                "its lock lists other prefetched wheels: `{name}` differs; fetch the listed one, or \
                 run without --locked to rewrite the lock"
            )))
        })
    }

    /// Failure for a requirement that no listed wheel meets.
    pub fn missing_wheel(&self, requirement: &str) -> Failed {
        Failed::new(format!(
            "its lock {} lacks `{requirement}`: run without --locked to rewrite the lock",
            self.file().display()
        ))
    }

    /// Copies the listed wheels into `directory`.
    pub fn provide(&self, directory: &Path) -> Result<(), Failed> {
        let list = self.read()?;
        fs::create_dir_all(directory)?;
        for wheel in list.wheels() {
            let from = self.checked(wheel)?;
            fs::copy(&from, directory.join(from.file_name().unwrap_or_default()))?;
        }
        Ok(())
    }

    fn checked(&self, wheel: &WheelFile) -> Result<PathBuf, Failed> {
        let changed = |reason: &str| Failed::new(format!("its lock: `{}` {reason}", wheel.path));
        let listed = wheel.hashes.get("sha256").map_or("", String::as_str);
        let name = wheel.path.rsplit('/').next().unwrap_or_default();
        let is_wheel = name.parse::<WheelName>().is_ok();
        let [shared, hashed] = places(name, listed);
        // Another text than a hash could lead out of the directory.
        let is_hashed = wheel.path == hashed && listed.parse::<Sha256>().is_ok();
        if !is_wheel || wheel.path != shared && !is_hashed {
            return Err(changed("is not a wheel in its directory"));
        }
        let path = self.lock.directory.join(&wheel.path);
        let hash = regular::sha256(&path).map_err(|_| changed("is missing"))?;
        if listed != hash {
            return Err(changed("has another SHA-256 than the list"));
        }
        Ok(path)
    }

    /// Writes the list, and copies the wheels that a build fetched in `workspace`.
    pub fn write(
        &self,
        workspace: &Path,
        of_build: Option<(&ProjectInputs, &Digests)>,
    ) -> Result<(), Failed> {
        fs::create_dir_all(&self.lock.directory)?;
        let partial = PartialDirectory::new(&self.lock.directory, ".rockpack-lock-")?;
        let mut text = "lock-version = \"1.0\"\ncreated-by = \"rockpack\"\n".to_owned();
        for wheel in fetched(workspace)? {
            let file = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // A file `*.whl` whose name is not a wheel's cannot be locked.
            let Ok(name) = file.parse::<WheelName>() else { continue };
            let hash = regular::sha256(&wheel)?;
            let copy = partial.path().join(&file);
            fs::copy(&wheel, &copy)?;
            let places = places(&file, &hash);
            let path = self.store(copy, &places, &hash)?;
            let _ = write!(
                text,
                "\n[[packages]]\nname = {}\nversion = {}\nwheels = [{{ name = {}, path = {}, size = \
                 {}, hashes = {{ sha256 = \"{hash}\" }} }}]\n",
                toml_string(&name.dist.normalized()),
                toml_string(name.version.as_str()),
                toml_string(&file),
                toml_string(path),
                fs::metadata(&wheel)?.len(),
            );
        }
        if let Some((inputs, prefetched)) = of_build {
            text += &inputs_of(inputs, prefetched);
        }
        let file = partial.path().join("pylock.toml");
        fs::write(&file, text)?;
        Ok(fs::rename(file, self.file())?)
    }

    /// Moves a wheel to one of its places, and returns it.
    fn store<'p>(
        &self,
        wheel: PathBuf,
        [shared, hashed]: &'p [String; 2],
        hash: &str,
    ) -> io::Result<&'p str> {
        let directory = &self.lock.directory;
        let target = directory.join(shared);
        fs::create_dir_all(directory.join(WHEELS))?;
        // Two builds can store a wheel at once: only one of them gets the name.
        let Err(refused) = TempPath::try_from_path(wheel)?.persist_noclobber(&target) else {
            return Ok(shared);
        };
        if refused.error.kind() != io::ErrorKind::AlreadyExists {
            return Err(refused.error);
        }
        if regular::sha256(&target).is_ok_and(|stored| stored == hash) {
            return Ok(shared);
        }
        let target = directory.join(hashed);
        fs::create_dir_all(target.parent().unwrap_or(directory))?;
        refused.path.persist(target)?;
        Ok(hashed)
    }
}

/// Places of a wheel in the directory of a lock. All lists share the first; the second is for a
/// build of the same sdist with other bytes, because the first wheel can be in another list.
fn places(file: &str, hash: &str) -> [String; 2] {
    [format!("{WHEELS}/{file}"), format!("{WHEELS}/{hash}/{file}")]
}

impl List {
    fn wheels(&self) -> impl Iterator<Item = &WheelFile> {
        self.packages.iter().flat_map(|package| &package.wheels)
    }
}

/// Fetched wheels, also of the directories of several Pythons, sorted by name.
fn fetched(workspace: &Path) -> io::Result<Vec<PathBuf>> {
    let mut wheels = BTreeMap::new();
    let mut places = vec![workspace.join(FETCHED)];
    places.extend(in_directory(workspace, |_| true)?.into_iter().map(|place| place.join(FETCHED)));
    for place in places {
        for wheel in
            in_directory(&place, |file| Path::new(file).extension().is_some_and(|e| e == "whl"))?
        {
            wheels.insert(wheel.file_name().map(ToOwned::to_owned), wheel);
        }
    }
    Ok(wheels.into_values().collect())
}

/// Checkout, prefetched wheels and tools, in the table for tools (PEP 751, `[tool]`).
fn inputs_of(inputs: &ProjectInputs, prefetched: &Digests) -> String {
    let mut text = format!("\n[tool.rockpack]\ncheckout = {}\n", toml_string(&inputs.checkout));
    let _ = writeln!(text, "tree = {}", toml_string(&inputs.tree));
    // The first repository is the checkout, the others are its submodules.
    let commit = inputs.repositories.first().and_then(|repository| repository.commit.as_ref());
    if let Some(commit) = commit {
        let _ = writeln!(text, "commit = {}", toml_string(commit));
    }
    let submodules = inputs.repositories.iter().skip(1);
    let submodules =
        submodules.filter_map(|submodule| Some((&submodule.path, submodule.commit.as_ref()?)));
    for (name, pairs) in [
        ("submodules", submodules.collect()),
        ("prefetched", prefetched.iter().collect::<Vec<_>>()),
        ("tools", inputs.tools.iter().collect()),
    ] {
        let _ = writeln!(text, "\n[tool.rockpack.{name}]");
        for (key, value) in pairs {
            let _ = writeln!(text, "{} = {}", toml_string(key), toml_string(value));
        }
    }
    text
}

/// Formats a TOML basic string, which has the syntax of a JSON string, but no U+007F.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_a_list_are_basic_strings_of_toml() {
        for text in ["", "a\"b\\", "\t\n\0\u{1f}\u{7f}\u{80}ü"] {
            let table: toml::Table = format!("key = {}", toml_string(text)).parse().unwrap();
            assert_eq!(table["key"].as_str(), Some(text), "{}", toml_string(text));
        }
    }

    #[test]
    fn a_hash_that_leads_out_of_the_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock { directory: dir.path().join("lock"), is_fixed: true };
        let item = ItemLock::new(&lock, "one");
        fs::create_dir_all(lock.directory.join(WHEELS)).unwrap();
        let file = "tool-1.0-py3-none-any.whl";
        fs::write(dir.path().join(file), "outside").unwrap();
        let text = format!(
            "lock-version = \"1.0\"\n[[packages]]\nname = \"tool\"\nversion = \"1.0\"\nwheels = [{{ name = \
             \"{file}\", path = \"{WHEELS}/../../{file}\", hashes = {{ sha256 = \"../..\" }} }}]\n"
        );
        fs::write(item.file(), text).unwrap();
        let refused = item.provide(&dir.path().join("provided")).unwrap_err().to_string();
        assert!(refused.contains("is not a wheel in its directory"), "{refused}");
    }

    #[test]
    fn lists_keep_the_wheels_of_their_builds_of_one_sdist() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock { directory: dir.path().join("lock"), is_fixed: true };
        let file = "tool-1.0-py3-none-any.whl";
        let items = ["one", "two", "three"].map(|name| ItemLock::new(&lock, name));
        let contents = ["first", "second", "first"];
        for (item, content) in items.iter().zip(contents) {
            let workspace = dir.path().join(&item.name);
            fs::create_dir_all(workspace.join(FETCHED)).unwrap();
            fs::write(workspace.join(FETCHED).join(file), content).unwrap();
            item.write(&workspace, None).unwrap();
        }
        for (item, content) in items.iter().zip(contents) {
            let provided = dir.path().join("provided").join(&item.name);
            item.provide(&provided).unwrap();
            assert_eq!(fs::read_to_string(provided.join(file)).unwrap(), content);
        }
        // A damaged wheel is replaced by the next list.
        let second = items[1].read().unwrap().packages[0].wheels[0].path.clone();
        fs::write(lock.directory.join(second), "damaged").unwrap();
        assert!(items[1].provide(&dir.path().join("damaged")).is_err());
        items[1].write(&dir.path().join("two"), None).unwrap();
        items[1].provide(&dir.path().join("repaired")).unwrap();
        let wheels = lock.directory.join(WHEELS);
        assert_eq!(fs::read_dir(wheels).unwrap().count(), 2, "one file, and one directory");
    }

    #[test]
    fn a_list_names_the_wheels_and_notices_changes() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock { directory: dir.path().join("lock"), is_fixed: true };
        let item = ItemLock::new(&lock, "wave.tests");
        let (workspace, provided) = (dir.path().join("w"), dir.path().join("to"));
        for directory in ["w/fetched", "w/3.12/fetched"] {
            fs::create_dir_all(dir.path().join(directory)).unwrap();
        }
        let file = "Six_x-1.0-py3-none-any.whl";
        fs::write(workspace.join(FETCHED).join(file), "one").unwrap();
        fs::write(workspace.join("3.12/fetched/two-2-cp312-cp312-any.whl"), "two").unwrap();
        item.write(&workspace, None).unwrap();
        let text = fs::read_to_string(lock.directory.join("pylock.wave-tests.toml")).unwrap();
        assert!(
            text.contains("name = \"six-x\"\nversion = \"1.0\"\nwheels = [{ name = \"Six_x-1.0"),
            "{text}"
        );
        item.provide(&provided).unwrap();
        assert_eq!(fs::read(provided.join(file)).unwrap(), b"one");
        assert!(provided.join("two-2-cp312-cp312-any.whl").is_file());
        fs::write(lock.directory.join(WHEELS).join(file), "other").unwrap();
        let failed = item.provide(&provided).unwrap_err().to_string();
        assert_eq!(failed, format!("its lock: `wheels/{file}` has another SHA-256 than the list"));
        fs::write(item.file(), "[[packages]]\nwheels = [{ path = \"../a\", hashes = {} }]\n")
            .unwrap();
        assert!(item.provide(&provided).unwrap_err().to_string().contains("is not a wheel"));
    }
}
