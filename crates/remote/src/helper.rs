//! Credential helpers, by Bazel's protocol.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::header::{HeaderError, valid};
use super::secret::Secret;

/// Time for a helper to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Limit of an answer in bytes, because it is read into memory.
const LONGEST_ANSWER: u64 = 1 << 20;

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
    #[error("the credential helper {} answers with more than {} MiB", .0.display(), LONGEST_ANSWER >> 20)]
    Large(PathBuf),
    #[error("the credential helper {} answers with a header that cannot be sent", .0.display())]
    Header(PathBuf, #[source] HeaderError),
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
        self.headers_within(host, PATIENCE)
    }

    fn headers_within(
        &self,
        host: &str,
        patience: Duration,
    ) -> Result<Vec<(String, Secret)>, HelperError> {
        let program = || self.program.clone();
        let output = self.output(host, Instant::now() + patience)?;
        let answer: Answer =
            serde_json::from_slice(&output).map_err(|_| HelperError::Answer(program()))?;
        let each = |(name, values): (String, Vec<String>)| {
            values.into_iter().map(move |value| (name.clone(), value))
        };
        let headers = answer.headers.into_iter().flat_map(each);
        let headers = headers.map(|(name, value)| valid(&name, &value));
        headers.collect::<Result<_, _>>().map_err(|error| HelperError::Header(program(), error))
    }

    fn output(&self, host: &str, end: Instant) -> Result<Vec<u8>, HelperError> {
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
            let question = serde_json::json!({ "uri": format!("https://{host}/") }).to_string();
            // A helper may ignore its input.
            let _ = input.write_all(question.as_bytes());
        }
        let (sender, receiver) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let read = output.take(LONGEST_ANSWER + 1).read_to_end(&mut bytes);
                // Its receiver may have given up.
                let _ = sender.send(read.map(|_| bytes));
            });
        }
        // A program that the helper leaves behind can hold its output open.
        let answer = receiver.recv_timeout(end.saturating_duration_since(Instant::now()));
        let is_large = matches!(&answer, Ok(Ok(bytes)) if bytes.len() as u64 > LONGEST_ANSWER);
        let status = loop {
            match child.try_wait().map_err(run)? {
                Some(status) => break Some(status),
                None if is_large || end <= Instant::now() => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        match (status, answer) {
            _ if is_large => Err(HelperError::Large(program())),
            (Some(status), _) if !status.success() => Err(HelperError::Failed(program(), status)),
            (None, _) | (_, Err(_)) => Err(HelperError::Slow(program())),
            (Some(_), Ok(answer)) => answer.map_err(run),
        }
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
    fn calls_a_helper_as_bazel_does() {
        let (dir, helper) = helper(
            "cat > \"$0.asked\"; [ \"$1\" = get ] || exit 1; echo '{\"headers\":{\"Authorization\":[\"Bearer t\"]},\"expires\":\"2030-01-01T00:00:00Z\"}'",
        );
        let headers = helper.headers("cache.example").unwrap();
        assert_eq!(headers, [("authorization".to_owned(), Secret::new("Bearer t"))]);
        let asked = fs_err::read_to_string(dir.path().join("helper.asked")).unwrap();
        assert_eq!(asked, r#"{"uri":"https://cache.example/"}"#);
    }

    #[test]
    fn the_error_of_a_helper_has_a_reason_without_its_output() {
        for (script, reason) in [
            ("echo secret; exit 3", "failed: exit status: 3"),
            ("echo secret >&2; exit 3", "failed: exit status: 3"),
            ("kill -9 $$", "failed: signal: 9"),
            ("echo secret", "does not answer with headers"),
            ("echo '{\"headers\":[\"secret\"]}'", "does not answer with headers"),
            ("exec cat /dev/zero", "answers with more than 1 MiB"),
            ("trap '' PIPE; while :; do echo secret; done 2>/dev/null", "answers with more than"),
            ("printf '{\"headers\":{\"a\":[\"secret\\\\n\"]}}'", "a header that cannot be sent"),
            ("echo '{\"headers\":{\"a secret\":[\"b\"]}}'", "a header that cannot be sent"),
        ] {
            let error = helper(script).1.headers("cache").unwrap_err();
            let text = base::text::with_causes(&error);
            assert!(text.contains(reason) && !text.contains("secret"), "{script}: {text}");
        }
        let soon = Duration::from_millis(100);
        for script in ["exec sleep 60", "sleep 60 &", "exec sleep 60 >&-"] {
            let (_dir, helper) = helper(script);
            let error = helper.headers_within("cache", soon).unwrap_err().to_string();
            assert!(error.contains("did not answer in"), "{script}: {error}");
        }
        let missing = Helper::parse("/nowhere/helper").headers("cache").unwrap_err();
        assert!(missing.to_string().contains("cannot run the credential helper /nowhere/helper"));
    }

    #[test]
    fn a_pattern_selects_the_hosts_of_a_helper() {
        let is_for = |text: &str, host| Helper::parse(text).is_for(host);
        assert!(is_for("helper", "cache") && is_for("/bin/a=b", "cache"));
        assert!(is_for("cache=helper", "cache") && !is_for("cache=helper", "other"));
        assert!(is_for("*.example=helper", "a.example") && !is_for("*.example=helper", "example"));
    }
}
