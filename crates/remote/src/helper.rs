//! Credential helpers, by Bazel's protocol.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::secret::Secret;

const PATIENCE: Duration = Duration::from_secs(5);
const MOST: u64 = 1 << 20;

/// Program that provides headers: `PROGRAM get`, with the address on standard input.
#[derive(Debug, Clone)]
pub struct Helper {
    /// Hosts: `None` for all, `*.example.org`, or one.
    pub pattern: Option<String>,
    /// Program.
    pub program: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum HelperError {
    #[error("cannot run the credential helper {}", .0.display())]
    Run(PathBuf, #[source] std::io::Error),
    #[error("the credential helper {} did not answer in {} s", .0.display(), PATIENCE.as_secs())]
    Slow(PathBuf),
    #[error("the credential helper {} failed: {}", .0.display(), .1)]
    Failed(PathBuf, std::process::ExitStatus),
    #[error("the credential helper {} does not answer with headers in JSON", .0.display())]
    Answer(PathBuf),
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    headers: BTreeMap<String, Vec<String>>,
}

impl Helper {
    /// Parses `[PATTERN=]PROGRAM`.
    pub fn parse(text: &str) -> Self {
        match text.split_once('=') {
            Some((pattern, program)) if !pattern.contains('/') => {
                Self { pattern: Some(pattern.to_owned()), program: program.into() }
            }
            _ => Self { pattern: None, program: text.into() },
        }
    }

    pub(super) fn is_for(&self, host: &str) -> bool {
        match self.pattern.as_deref().map(|pattern| (pattern, pattern.strip_prefix("*."))) {
            None => true,
            Some((_, Some(domain))) => {
                host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
            }
            Some((pattern, None)) => pattern == host,
        }
    }

    /// Runs the helper; hides its standard error, which can contain secrets.
    pub(super) fn headers(&self, host: &str) -> Result<Vec<(String, Secret)>, HelperError> {
        let program = || self.program.clone();
        let run = |error| HelperError::Run(program(), error);
        let mut child = Command::new(command(&self.program))
            .arg("get")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(run)?;
        if let Some(mut input) = child.stdin.take() {
            let asked = serde_json::json!({ "uri": format!("https://{host}/") }).to_string();
            // A helper may ignore its input.
            let _ = input.write_all(asked.as_bytes());
        }
        let output = child.stdout.take();
        let reader = std::thread::spawn(move || {
            let mut said = Vec::new();
            let read = output.map(|output| output.take(MOST).read_to_end(&mut said));
            read.transpose().map(|_| said)
        });
        let began = Instant::now();
        let status = loop {
            match child.try_wait().map_err(run)? {
                Some(status) => break status,
                None if began.elapsed() > PATIENCE => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(HelperError::Slow(program()));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        if !status.success() {
            return Err(HelperError::Failed(program(), status));
        }
        let said = reader.join().map_err(|_| HelperError::Answer(program()))?.map_err(run)?;
        let answer: Answer =
            serde_json::from_slice(&said).map_err(|_| HelperError::Answer(program()))?;
        let each = |(name, values): (String, Vec<String>)| {
            values.into_iter().map(move |value| (name.to_lowercase(), Secret::new(value)))
        };
        Ok(answer.headers.into_iter().flat_map(each).collect())
    }
}

/// Replaces `%workspace%` by the working directory, as Bazel does.
fn command(program: &Path) -> PathBuf {
    program
        .strip_prefix("%workspace%")
        .map_or_else(|_| program.to_owned(), |rest| Path::new(".").join(rest))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn helper(script: &str) -> (tempfile::TempDir, Helper) {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("helper");
        fs_err::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        (dir, Helper { pattern: None, program })
    }

    #[test]
    fn a_helper_is_asked_as_bazel_asks() {
        let (dir, helper) = helper(
            "cat > \"$0.asked\"; [ \"$1\" = get ] || exit 1; echo '{\"headers\":{\"Authorization\":[\"Bearer t\"]},\"expires\":\"2030-01-01T00:00:00Z\"}'",
        );
        let headers = helper.headers("cache.example").unwrap();
        assert_eq!(headers, [("authorization".to_owned(), Secret::new("Bearer t"))]);
        let asked = fs_err::read_to_string(dir.path().join("helper.asked")).unwrap();
        assert_eq!(asked, r#"{"uri":"https://cache.example/"}"#);
    }

    #[test]
    fn a_helper_that_fails_gives_a_reason_and_none_of_its_output() {
        for (script, reason) in [
            ("echo secret; exit 3", "failed: exit status: 3"),
            ("echo secret", "does not answer with headers"),
        ] {
            let error = helper(script).1.headers("cache").unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("secret"), "{error}");
        }
        let missing = Helper::parse("/nowhere/helper").headers("cache").unwrap_err();
        assert!(missing.to_string().contains("cannot run the credential helper /nowhere/helper"));
    }

    #[test]
    fn a_pattern_says_for_which_hosts_a_helper_is() {
        let is_for = |text: &str, host| Helper::parse(text).is_for(host);
        assert!(is_for("helper", "cache") && is_for("/bin/a=b", "cache"));
        assert!(is_for("cache=helper", "cache") && !is_for("cache=helper", "other"));
        assert!(is_for("*.example=helper", "a.example") && !is_for("*.example=helper", "example"));
    }
}
