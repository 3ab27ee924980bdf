//! `rockpack index publish`.

use super::*;
use crate::program::{rockpack, text};

#[test]
fn steps_are_printed_and_done() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("dist"), "b-part", "1.0", &["NumPy"]);
    let output = rockpack(
        dir.path(),
        &["index", "publish", "dist", "store", "--dry-run", "--outside", "num.py,numpy"],
    );
    assert_eq!(
        text(&output.stdout),
        "upload      890 B  b-part/b_part-1.0-py3-none-any.whl\n\
         metadata           b-part/b_part-1.0-py3-none-any.whl.metadata\n\
         page           +1  b-part/index.html\n\
         page           +1  index.html\n\
         1 would be uploaded, 890 B; 0 unchanged; 4 pages would be written\n",
        "{}",
        text(&output.stderr)
    );
    assert!(!dir.path().join("store").exists());
    let url = format!("file://{}/store", dir.path().display());
    let output = rockpack(dir.path(), &["index", "publish", "dist", &url, "--outside", "numpy"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).ends_with("1 uploaded, 890 B; 0 unchanged; 4 pages written\n"));
    assert_eq!(check_index(&dir.path().join("store"), Form::Projects).len(), 1);
}

#[test]
fn refusals_have_a_code_and_a_remedy() {
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("dist"), "b-part", "1.0", &["numpy"]);
    fs::create_dir(dir.path().join("empty")).unwrap();
    for (args, status, words) in [
        (&["dist", "store"][..], 1, &["requires `numpy`", "--outside"][..]),
        (&["dist", "ftp://host/x"], 2, &["`ftp://host/x`", "s3://"]),
        (&["dist", "s3:/bucket/x"], 2, &["`s3:/bucket/x`: write s3://bucket/x for a URL"]),
        (&["dist", "store", "--outside", "a b"], 2, &["must be the name of a project, not `a b`"]),
        (&["empty", "store"], 2, &["there are no packages in empty"]),
        (&["none", "store"], 2, &["`none` is not a directory"]),
    ] {
        let output = rockpack(dir.path(), &[&["index", "publish"], args].concat());
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output.stderr));
        for word in words {
            assert!(text(&output.stderr).contains(word), "{args:?}: {}", text(&output.stderr));
        }
    }
    assert!(!dir.path().join("store").exists() && !dir.path().join("s3:").exists());
}

#[test]
fn a_read_only_directory_is_refused_before_any_upload() {
    if !workbench::skips::mounts("read-only stores") {
        return;
    }
    let dir = TempDir::new().unwrap();
    wheel(&dir.path().join("dist"), "b-part", "1.0", &[]);
    fs::create_dir(dir.path().join("disk")).unwrap();
    let script = "mount -t tmpfs -o ro tmpfs disk && exec \"$0\" index publish dist disk/x";
    let output = std::process::Command::new("unshare")
        .args(["-m", "sh", "-c", script, crate::program::PROGRAM])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(text(&output.stdout), "");
    let messages = crate::program::stderr(&output);
    assert!(messages.contains("`disk/x`: cannot write to "), "{messages}");
    assert!(messages.contains("Read-only file system"), "{messages}");
}

/// Each unmet requirement is printed in full; of many, the number of the rest.
#[test]
fn lists_each_unmet_requirement() {
    let dir = TempDir::new().unwrap();
    let names: Vec<String> =
        (1..=8).map(|number| format!("a-part-with-a-rather-long-name-{number}==1.0")).collect();
    let refused = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let _ = fs::remove_dir_all(dir.path().join("dist"));
        wheel(&dir.path().join("dist"), "b-part", "1.0", &names);
        let output = rockpack(
            dir.path(),
            &["index", "publish", "dist", "store", "--message-format", "json"],
        );
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        assert!(!dir.path().join("store").exists());
        let message = |line: &str| {
            let problem: serde_json::Value = serde_json::from_str(line).unwrap();
            problem["message"].as_str().unwrap().to_owned()
        };
        text(&output.stderr).lines().map(message).collect::<Vec<_>>()
    };
    let messages = refused(&names);
    for (message, name) in messages.iter().zip(&names[..5]) {
        let start = format!(
            "b_part-1.0-py3-none-any.whl requires `{name}`: neither the directory nor the store contains `a-part-with"
        );
        assert!(message.starts_with(&start), "{message}");
        let project = name.trim_end_matches("==1.0");
        assert!(message.ends_with(&format!("`{project}`")), "{message}");
    }
    let summary = "8 requirements are unmet, 3 more than shown; nothing was written";
    assert_eq!((messages.len(), &*messages[5]), (6, summary));
    let messages = refused(&names[..1]);
    assert_eq!(messages[1..], ["1 requirement is unmet; nothing was written"]);
}

/// Returns the messages of a command that waits for the lock of `store` and is ended by SIGINT.
fn interrupted(dir: &Path, args: &[&str]) -> Option<String> {
    use rustix::process::{Pid, Signal, kill_process};
    use std::os::unix::process::ExitStatusExt;
    let lock = std::fs::File::open(dir.join("store")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let mut command = crate::program::command(dir, args);
    let piped = std::process::Stdio::piped;
    let mut child = command.stdout(piped()).stderr(piped()).spawn().unwrap();
    // It prints its action before it waits.
    let mut first = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    if crate::outputs::ignored() >> (Signal::INT.as_raw() - 1) & 1 == 1 {
        child.kill().unwrap();
        child.wait().unwrap();
        return None;
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(Signal::INT.as_raw()));
    Some(crate::program::stderr(&output))
}

#[test]
fn a_signal_keeps_completed_steps_with_a_message() {
    let dir = TempDir::new().unwrap();
    let store = dir.path().join("store");
    fs::create_dir(&store).unwrap();
    small_set(dir.path(), "1.0");
    let messages = interrupted(dir.path(), &["index", "publish", "set-1.0", "store"]);
    assert!(messages.is_none_or(|messages| {
        messages.contains(
            "stopped by SIGINT: uploaded packages stay; run the same command again for the rest",
        )
    }));
    prune::days_ago(&dir.path().join("set-1.0"), &store, Form::Projects, 40);
    prune::days_ago(&small_set(dir.path(), "2.0"), &store, Form::Projects, 1);
    prune::of_stream(&store, "dev");
    let words = ["index", "prune", "store", "--stream", "dev", "--manifest", "built-in"];
    let messages = interrupted(dir.path(), &words);
    assert!(messages.is_none_or(|messages| {
        messages.contains("stopped by SIGINT: removed packages stay removed; run the same command again for the rest")
    }));
}

#[test]
fn quiet_commands_print_results_alone() {
    let dir = TempDir::new().unwrap();
    small_set(dir.path(), "1.0");
    let lines = |args: &[&str]| crate::program::succeed(dir.path(), args).lines().count();
    let mirror = ["index", "mirror", "store", "pages", "--public", "https://h/"];
    let prune = ["index", "prune", "store", "--stream", "dev", "--as-of", "4000000000"];
    let prune = [&prune[..], &["--manifest", "built-in"]].concat();
    let dry = ["index", "publish", "set-1.0", "store", "-q", "--dry-run"];
    assert_eq!(lines(&dry), 4 + 3 + 5 + 1, "the steps are what was asked for");
    let publish =
        ["index", "publish", "set-1.0", "store", "--stream", "dev", "--manifest", "built-in"];
    for args in [&publish[..], &mirror, &prune] {
        assert_eq!(lines(&[args, &["-q"]].concat()), 1, "{args:?}");
    }
}

#[test]
fn refuses_contradictory_options_before_any_request() {
    let dir = TempDir::new().unwrap();
    small_set(dir.path(), "1.0");
    for (args, expected) in [
        (
            &["index", "publish", "set-1.0", "https://127.0.0.1:9/x"][..],
            ": a web server takes no uploads",
        ),
        (
            &["index", "mirror", "set-1.0", "http://127.0.0.1:9/x", "--public", "https://h/"],
            "DEST: publish to",
        ),
        (&["index", "publish", "set-1.0", ""], "a value is required for '<URL>'"),
        (&["index", "prune", "", "--stream", "dev"], "a value is required for '<URL>'"),
        (&["index", "mirror", "", "pages"], "a value is required for '<SOURCE>'"),
        (
            &["index", "mirror", "store", "", "--public", "https://h/"],
            "a value is required for '<DEST>'",
        ),
        (&["index", "publish", "set-1.0", "store", "-j", "0"], "0 is not in 1..=65535"),
        (&["index", "prune", "store", "--stream", "dev", "-j", "0"], "0 is not in 1..=65535"),
        (
            &["index", "publish", "set-1.0", "store", "--layout", "v5", "--stream", "nix"],
            "no stream `nix`",
        ),
        (
            &["index", "mirror", "store", "pages", "--public", "https://u:HIDDEN@h/"],
            "--public appears in",
        ),
        (
            &["index", "mirror", "store", "pages", "--public", "https://HIDDEN@h"],
            "--public appears in",
        ),
        (&["index", "mirror", "https://HIDDEN@127.0.0.1:9/x", "pages"], "SOURCE appears in"),
    ] {
        let mut command = crate::program::command(dir.path(), args);
        let output = command.env("ROCKPACK_MANIFEST", "built-in").output().unwrap();
        let messages = crate::program::stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {messages}");
        assert!(messages.contains(expected), "{args:?}: {messages}");
        assert!(!messages.contains("HIDDEN"), "{messages}");
    }
    assert!(!dir.path().join("store").exists() && !dir.path().join("pages").exists());
}

#[test]
fn reports_a_yank_without_its_package() {
    let dir = TempDir::new().unwrap();
    let set = small_set(dir.path(), "1.0");
    fs::write(set.join("b_part-1.0-py3-none-any.whl.yanked"), "broken").unwrap();
    fs::write(set.join("b_part-0.9-py3-none-any.whl.yanked"), "broken").unwrap();
    for args in [&["index", "publish", "set-1.0", "store"][..], &["index", "write", "set-1.0"]] {
        let output = rockpack(dir.path(), args);
        assert!(output.status.success());
        let messages = crate::program::stderr(&output);
        let expected = "`b_part-0.9-py3-none-any.whl.yanked` yanks nothing";
        assert!(
            messages.contains(expected) && messages.matches("yanks nothing").count() == 1,
            "{messages}"
        );
    }
}
