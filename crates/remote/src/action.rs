//! What the protocol calls a stream: the result of an action.

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use prost::Message as _;

use base::hash::Sha256;
use build::cache::{Form, Recipe};

/// The one output of an action.
const OUTPUT: &str = "stream";
/// What the row of an entry begins with; its number is that of the format.
const ROW: &[u8; 15] = b"rockpack row 1\n";
/// What the salt of an action begins with: another way of naming streams has another number.
const SALT: &str = "rockpack key 1";
/// What a packed stream may have beside its content.
const SLACK: u64 = 64 << 10;

/// Something in the store of a server: what it is found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    /// The SHA-256 of its bytes.
    pub sha256: Sha256,
    /// How many there are.
    pub size: u64,
}

/// A text that is no digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a digest is written HASH/SIZE: a SHA-256 of 64 hexadecimal digits, and a number of bytes")]
pub struct DigestError;

impl std::str::FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let (sha256, size) = text.split_once('/').ok_or(DigestError)?;
        let sha256 = sha256.to_ascii_lowercase().parse().map_err(|_| DigestError)?;
        Ok(Self { sha256, size: size.parse().map_err(|_| DigestError)? })
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.sha256, self.size)
    }
}

impl Digest {
    /// Of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self { sha256: Sha256::of(bytes), size: bytes.len() as u64 }
    }

    /// As messages have it.
    pub(super) fn message(self) -> api::Digest {
        let size_bytes = i64::try_from(self.size).unwrap_or(i64::MAX);
        api::Digest { hash: self.sha256.to_string(), size_bytes }
    }

    /// Out of a message.
    pub(super) fn read(message: &api::Digest) -> Option<Self> {
        let size = u64::try_from(message.size_bytes).ok()?;
        let sha256 = message.hash.to_ascii_lowercase().parse().ok()?;
        Some(Self { sha256, size })
    }
}

/// The action that packs a stream. Its digest is what an entry is found by; the content itself is only named.
#[derive(Debug, Clone)]
pub(super) struct Action {
    /// The command, as bytes for the server.
    pub command: Vec<u8>,
    /// The action, as bytes for the server.
    pub action: Vec<u8>,
}

impl Action {
    /// The action of a recipe. Entries of another silo are not found.
    pub fn of(recipe: &Recipe, silo: &str) -> Self {
        let command = api::Command {
            arguments: vec!["rockpack".into(), "pack-stream".into(), recipe.settings.clone()],
            output_paths: vec![OUTPUT.into()],
            ..api::Command::default()
        };
        let command = command.encode_to_vec();
        let content = Digest { sha256: recipe.content.0, size: recipe.size };
        let file = api::FileNode {
            name: "content".into(),
            digest: Some(content.message()),
            ..api::FileNode::default()
        };
        let root = api::Directory { files: vec![file], ..api::Directory::default() };
        let salt = if silo.is_empty() { SALT.to_owned() } else { format!("{SALT} {silo}") };
        let action = api::Action {
            command_digest: Some(Digest::of(&command).message()),
            input_root_digest: Some(Digest::of(&root.encode_to_vec()).message()),
            salt: salt.into_bytes(),
            ..api::Action::default()
        };
        Self { command, action: action.encode_to_vec() }
    }

    /// What the entry is found by.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.action)
    }
}

/// What a farm does for a stream: the action that packs it, with the program that does so. Another program makes
/// another action, so that what it makes is found as [`Action`], too.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    /// The command, as bytes for the server.
    pub command: Vec<u8>,
    /// The input root: the content, and the program.
    pub root: Vec<u8>,
    /// The action, as bytes for the server.
    pub action: Vec<u8>,
}

impl Execution {
    /// That of a recipe, by `program`, on machines with these properties.
    pub fn of(
        recipe: &Recipe,
        program: Digest,
        properties: &[(String, String)],
        silo: &str,
    ) -> Self {
        let platform = platform(properties);
        #[expect(deprecated, reason = "servers of before 2.2 read it there")]
        let command = api::Command {
            arguments: vec!["./rockpack".into(), "pack-stream".into(), recipe.settings.clone()],
            output_files: vec![OUTPUT.into()],
            output_paths: vec![OUTPUT.into()],
            platform: platform.clone(),
            ..api::Command::default()
        };
        let content = Digest { sha256: recipe.content.0, size: recipe.size };
        let file = |name: &str, digest: Digest, is_executable| api::FileNode {
            name: name.into(),
            digest: Some(digest.message()),
            is_executable,
            ..api::FileNode::default()
        };
        let files = vec![file("content", content, false), file("rockpack", program, true)];
        let root = api::Directory { files, ..api::Directory::default() }.encode_to_vec();
        let command = command.encode_to_vec();
        let action = api::Action {
            command_digest: Some(Digest::of(&command).message()),
            input_root_digest: Some(Digest::of(&root).message()),
            timeout: Some(timeout(recipe)),
            salt: silo.as_bytes().to_vec(),
            platform,
            ..api::Action::default()
        };
        Self { command, root, action: action.encode_to_vec() }
    }

    /// What the action is named by.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.action)
    }
}

/// What machines have to be, where anything is said of them.
pub(super) fn platform(properties: &[(String, String)]) -> Option<api::Platform> {
    let properties = properties
        .iter()
        .map(|(name, value)| api::platform::Property { name: name.clone(), value: value.clone() });
    let platform = api::Platform { properties: properties.collect() };
    (!platform.properties.is_empty()).then_some(platform)
}

/// How long a farm may take: ten times as long as it takes here, and a minute.
fn timeout(recipe: &Recipe) -> bazel_remote_apis::google::protobuf::Duration {
    let seconds = 60 + 10 * recipe.effort.as_secs();
    bazel_remote_apis::google::protobuf::Duration {
        seconds: i64::try_from(seconds).unwrap_or(i64::MAX),
        nanos: 0,
    }
}

/// The stream that a farm made for a recipe, if that can be it.
pub(super) fn executed(result: &api::ActionResult, recipe: &Recipe) -> Option<Digest> {
    let [output] = result.output_files.as_slice() else { return None };
    let stream = Digest::read(output.digest.as_ref()?)?;
    let fits = result.exit_code == 0
        && output.path == OUTPUT
        && stream.size > 0
        && stream.size <= most(recipe)?;
    fits.then_some(stream)
}

/// How many bytes packing can make of a content.
fn most(recipe: &Recipe) -> Option<u64> {
    recipe.size.checked_add(recipe.size / 8)?.checked_add(SLACK)
}

/// The entry of a stream.
pub(super) fn result(recipe: &Recipe, form: Form, stream: Digest) -> api::ActionResult {
    let output = api::OutputFile {
        path: OUTPUT.into(),
        digest: Some(stream.message()),
        ..api::OutputFile::default()
    };
    api::ActionResult {
        output_files: vec![output],
        stdout_raw: row(recipe, form, stream),
        ..api::ActionResult::default()
    }
}

/// What an entry says besides: content and form. Whoever reads it knows both, and so it is compared whole.
fn row(recipe: &Recipe, form: Form, stream: Digest) -> Vec<u8> {
    let method: u8 = match form {
        Form::Deflate => 8,
        Form::XzBlock => 0,
    };
    let mut row = ROW.to_vec();
    row.extend_from_slice(recipe.content.0.as_bytes());
    row.extend_from_slice(&recipe.size.to_le_bytes());
    row.push(method);
    row.extend_from_slice(&stream.size.to_le_bytes());
    row
}

/// The stream that an entry names, if the entry can be one of this recipe.
pub(super) fn stream(result: &api::ActionResult, recipe: &Recipe, form: Form) -> Option<Digest> {
    let stream = executed(result, recipe)?;
    (result.stdout_raw == row(recipe, form, stream)).then_some(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use build::cache::Content;

    fn recipe(content: &[u8], settings: &str) -> Recipe {
        let size = content.len() as u64;
        let (content, settings) = (Content(Sha256::of(content)), settings.to_owned());
        Recipe { content, size, settings, effort: std::time::Duration::ZERO }
    }

    #[test]
    fn every_part_of_a_recipe_makes_another_action() {
        let digest =
            |content: &[u8], settings, silo| Action::of(&recipe(content, settings), silo).digest();
        let one = digest(b"a", "deflate", "");
        assert_eq!(one, digest(b"a", "deflate", ""));
        for other in
            [digest(b"b", "deflate", ""), digest(b"a", "xz", ""), digest(b"a", "deflate", "x")]
        {
            assert_ne!(one, other);
        }
        // Machines find each other's entries by this: it changes only together with the salt.
        assert_eq!(
            one.sha256.to_string(),
            "05053c7c5ad53a8b1a68be11ca26fd528d6ba18c81522df575d988882b57dd44"
        );
    }

    #[test]
    fn entries_that_cannot_be_of_a_recipe_are_not_taken() {
        let recipe = recipe(&[7; 1000], "deflate");
        let packed = Digest::of(b"packed");
        let whole = result(&recipe, Form::Deflate, packed);
        assert_eq!(stream(&whole, &recipe, Form::Deflate), Some(packed));
        assert_eq!(stream(&whole, &recipe, Form::XzBlock), None);
        let changed = |change: fn(&mut api::ActionResult)| {
            let mut other = whole.clone();
            change(&mut other);
            stream(&other, &recipe, Form::Deflate)
        };
        assert_eq!(changed(|it| it.exit_code = 1), None);
        assert_eq!(changed(|it| it.stdout_raw.clear()), None);
        assert_eq!(changed(|it| it.stdout_raw[20] ^= 1), None);
        assert_eq!(changed(|it| it.output_files.clear()), None);
        assert_eq!(changed(|it| it.output_files[0].path = "../stream".into()), None);
        assert_eq!(changed(|it| it.output_files[0].digest = None), None);
        assert_eq!(changed(|it| it.output_files[0].digest.as_mut().unwrap().hash.push('0')), None);
        let long = Digest { size: 100_000, ..packed };
        let long = result(&recipe, Form::Deflate, long);
        assert_eq!(stream(&long, &recipe, Form::Deflate), None, "longer than packing makes it");
    }
}
