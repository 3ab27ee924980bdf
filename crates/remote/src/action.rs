//! Streams as results of actions of the Remote Execution API.

use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use prost::Message as _;

use base::hash::Sha256;
use cache::{Form, Recipe};

const OUTPUT: &str = "stream";
/// Output with one byte before the stream: a digest other than that of a damaged blob.
const FRAMED: &str = "framed-stream";
const ROW: &[u8; 15] = b"rockpack row 1\n";
const SALT: &str = "rockpack key 1";
/// Bytes by which a packed stream can exceed its content: headers, and the overhead of deflate for
/// incompressible bytes.
const SLACK: u64 = 64 << 10;

/// Name of a blob in a server's store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    /// SHA-256 of the bytes.
    pub sha256: Sha256,
    /// Number of bytes.
    pub size: u64,
}

/// Not a digest.
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
    /// Returns the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self { sha256: Sha256::of(bytes), size: bytes.len() as u64 }
    }

    pub(super) fn message(self) -> api::Digest {
        let size_bytes = i64::try_from(self.size).unwrap_or(i64::MAX);
        api::Digest { hash: self.sha256.to_string(), size_bytes }
    }

    pub(super) fn read(message: &api::Digest) -> Option<Self> {
        let size = u64::try_from(message.size_bytes).ok()?;
        let sha256 = message.hash.to_ascii_lowercase().parse().ok()?;
        Some(Self { sha256, size })
    }
}

/// Action that packs a stream. Its digest is the key of an entry; the content is only named.
#[derive(Debug, Clone)]
pub(super) struct Action {
    /// Command, encoded.
    pub command: Vec<u8>,
    /// Action, encoded.
    pub action: Vec<u8>,
}

impl Action {
    /// Makes the action of a recipe. Another silo gives another digest.
    pub fn from_recipe(recipe: &Recipe, silo: &str) -> Self {
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

    pub fn digest(&self) -> Digest {
        Digest::of(&self.action)
    }
}

/// Action for a farm. The program is an input, so that its digest differs between programs; results
/// are also stored under [`Action`].
#[derive(Debug, Clone)]
pub(super) struct Execution {
    /// Command, encoded.
    pub command: Vec<u8>,
    /// Input root with content and program.
    pub root: Vec<u8>,
    /// Action, encoded.
    pub action: Vec<u8>,
}

impl Execution {
    /// Makes the action of a recipe for `program`, on machines with these properties.
    pub fn from_recipe(
        recipe: &Recipe,
        program: Digest,
        properties: &[(String, String)],
        silo: &str,
    ) -> Self {
        let platform = platform(properties);
        #[expect(deprecated, reason = "servers before version 2.2 read this field")]
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

    pub fn digest(&self) -> Digest {
        Digest::of(&self.action)
    }
}

pub(super) fn platform(properties: &[(String, String)]) -> Option<api::Platform> {
    let properties = properties
        .iter()
        .map(|(name, value)| api::platform::Property { name: name.clone(), value: value.clone() });
    let platform = api::Platform { properties: properties.collect() };
    (!platform.properties.is_empty()).then_some(platform)
}

/// Allows a farm ten times the local duration, and a minute.
fn timeout(recipe: &Recipe) -> bazel_remote_apis::google::protobuf::Duration {
    let seconds = 60 + 10 * recipe.effort.as_secs();
    bazel_remote_apis::google::protobuf::Duration {
        seconds: i64::try_from(seconds).unwrap_or(i64::MAX),
        nanos: 0,
    }
}

/// Returns the stream in a farm's result, if plausible.
pub(super) fn executed(result: &api::ActionResult, recipe: &Recipe) -> Option<Digest> {
    output(result, recipe).filter(|stored| !stored.is_framed).map(|stored| stored.blob)
}

/// Blob with a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    pub blob: Digest,
    /// The first byte is not part of the stream.
    pub is_framed: bool,
}

fn output(result: &api::ActionResult, recipe: &Recipe) -> Option<Stored> {
    let [output] = result.output_files.as_slice() else { return None };
    let (blob, is_framed) = (Digest::read(output.digest.as_ref()?)?, output.path == FRAMED);
    let size = blob.size.checked_sub(u64::from(is_framed))?;
    let fits = result.exit_code == 0
        && (is_framed || output.path == OUTPUT)
        && size > 0
        && size <= largest_stream(recipe)?;
    fits.then_some(Stored { blob, is_framed })
}

fn largest_stream(recipe: &Recipe) -> Option<u64> {
    recipe.size.checked_add(recipe.size / 8)?.checked_add(SLACK)
}

pub(super) fn result(recipe: &Recipe, form: Form, stored: Stored) -> api::ActionResult {
    let output = api::OutputFile {
        path: if stored.is_framed { FRAMED } else { OUTPUT }.into(),
        digest: Some(stored.blob.message()),
        ..api::OutputFile::default()
    };
    api::ActionResult {
        output_files: vec![output],
        stdout_raw: row(recipe, form, stored.blob),
        ..api::ActionResult::default()
    }
}

/// Encodes content and form. Readers know both, so that they compare the whole row.
fn row(recipe: &Recipe, form: Form, blob: Digest) -> Vec<u8> {
    let method: u8 = match form {
        Form::Deflate => 8,
        Form::XzBlock => 0,
    };
    let mut row = ROW.to_vec();
    row.extend_from_slice(recipe.content.0.as_bytes());
    row.extend_from_slice(&recipe.size.to_le_bytes());
    row.push(method);
    row.extend_from_slice(&blob.size.to_le_bytes());
    row
}

pub(super) fn stream(result: &api::ActionResult, recipe: &Recipe, form: Form) -> Option<Stored> {
    let stored = output(result, recipe)?;
    (result.stdout_raw == row(recipe, form, stored.blob)).then_some(stored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cache::ContentDigest;

    fn recipe(content: &[u8], settings: &str) -> Recipe {
        let size = content.len() as u64;
        let (content, settings) = (ContentDigest(Sha256::of(content)), settings.to_owned());
        Recipe { content, size, settings, effort: std::time::Duration::ZERO }
    }

    #[test]
    fn every_part_of_a_recipe_makes_another_action() {
        let digest = |content: &[u8], settings, silo| {
            Action::from_recipe(&recipe(content, settings), silo).digest()
        };
        let digest_of_a = digest(b"a", "deflate", "");
        assert_eq!(digest_of_a, digest(b"a", "deflate", ""));
        for different in
            [digest(b"b", "deflate", ""), digest(b"a", "xz", ""), digest(b"a", "deflate", "x")]
        {
            assert_ne!(digest_of_a, different);
        }
        // Machines share entries by this digest: it may only change with the salt.
        assert_eq!(
            digest_of_a.sha256.to_string(),
            "05053c7c5ad53a8b1a68be11ca26fd528d6ba18c81522df575d988882b57dd44"
        );
    }

    #[test]
    fn refuses_entries_that_no_recipe_can_have() {
        let recipe = recipe(&[7; 1000], "deflate");
        let blob = Digest::of(b"packed");
        let packed = Stored { blob, is_framed: false };
        let framed = Stored { is_framed: true, ..packed };
        let again = stream(&result(&recipe, Form::Deflate, framed), &recipe, Form::Deflate);
        assert_eq!(again, Some(framed));
        assert_eq!(executed(&result(&recipe, Form::Deflate, framed), &recipe), None);
        let whole = result(&recipe, Form::Deflate, packed);
        assert_eq!(stream(&whole, &recipe, Form::Deflate), Some(packed));
        assert_eq!(stream(&whole, &recipe, Form::XzBlock), None);
        let changed = |change: fn(&mut api::ActionResult)| {
            let mut result = whole.clone();
            change(&mut result);
            stream(&result, &recipe, Form::Deflate)
        };
        assert_eq!(changed(|result| result.exit_code = 1), None);
        assert_eq!(changed(|result| result.stdout_raw.clear()), None);
        assert_eq!(changed(|result| result.stdout_raw[20] ^= 1), None);
        assert_eq!(changed(|result| result.output_files.clear()), None);
        assert_eq!(changed(|result| result.output_files[0].path = "../stream".into()), None);
        assert_eq!(changed(|result| result.output_files[0].digest = None), None);
        assert_eq!(
            changed(|result| result.output_files[0].digest.as_mut().unwrap().hash.push('0')),
            None
        );
        assert_eq!(
            changed(|result| result.output_files[0].digest.as_mut().unwrap().size_bytes = -1),
            None
        );
        assert_eq!(changed(|result| result.output_files[0].path = "/stream".into()), None);
        assert_eq!(
            changed(|result| result.output_files = vec![result.output_files[0].clone(); 5000]),
            None
        );
        assert_eq!(changed(|result| result.stdout_raw.resize(1 << 20, 0)), None);
        let instead = |result: &mut api::ActionResult| {
            let target = "../../etc/passwd".to_owned();
            let link =
                api::OutputSymlink { path: OUTPUT.into(), target, ..api::OutputSymlink::default() };
            let path = OUTPUT.to_owned();
            let directory = api::OutputDirectory { path, ..api::OutputDirectory::default() };
            result.output_files.clear();
            result.output_symlinks.push(link);
            result.output_directories.push(directory);
        };
        assert_eq!(changed(instead), None, "neither a link nor a directory is a stream");
        let upper = |result: &mut api::ActionResult| {
            result.output_files[0].digest.as_mut().unwrap().hash.make_ascii_uppercase();
        };
        assert_eq!(changed(upper), Some(packed), "digits of either case");
        let long = Stored { blob: Digest { size: 100_000, ..blob }, ..packed };
        let long = result(&recipe, Form::Deflate, long);
        assert_eq!(stream(&long, &recipe, Form::Deflate), None, "longer than packing makes it");
    }
}
