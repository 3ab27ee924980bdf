//! The event log of a build: `--events`, and the answer to SIGUSR1.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::demo_tree::scratch;
use crate::program::{rockpack, text, uncached};

const BUILD: [&str; 7] =
    ["build", "--artifact-dir", "artifacts", "-o", "out", "--platform-tag", "linux_x86_64"];

fn events(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn events_named<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn events_have_the_phases_the_outputs_the_work_and_the_end() {
    let dir = scratch(true);
    let args = [&BUILD[..], &["--events", "events.jsonl"]].concat();
    assert!(uncached(dir.path(), &args).output().unwrap().status.success());
    let events = events(&fs_err::read_to_string(dir.path().join("events.jsonl")).unwrap());
    assert_eq!(events[0]["event"], "started");
    assert_eq!(events[0]["format"], 1);
    let phases: Vec<_> =
        events_named(&events, "phase-started").iter().map(|e| e["phase"].clone()).collect();
    assert_eq!(phases, ["artifacts", "plan", "packages"]);
    let paths = |name| {
        let mut paths: Vec<_> =
            events_named(&events, name).iter().map(|e| e["path"].as_str().unwrap()).collect();
        paths.sort_unstable();
        paths
    };
    let finished = events_named(&events, "output-finished");
    assert_eq!(paths("output-started"), paths("output-finished"));
    assert_eq!(events_named(&events, "build-started")[0]["outputs"], finished.len());
    for event in &finished {
        let path = dir.path().join("out").join(event["path"].as_str().unwrap());
        assert_eq!(fs_err::metadata(path).unwrap().len(), event["size"]);
    }
    let works = events_named(&events, "worked");
    assert!(works.iter().any(|work| work["kind"] == "deflate" && work["bytes"] != 0), "{works:?}");
    let ended = events.last().unwrap();
    assert_eq!((&ended["event"], &ended["successful"]), (&"ended".into(), &true.into()));
    let size: u64 = finished.iter().map(|event| event["size"].as_u64().unwrap()).sum();
    assert_eq!(
        (ended["outputs"].as_u64(), ended["size"].as_u64()),
        (Some(finished.len() as u64), Some(size))
    );
    let times: Vec<_> = events.iter().map(|event| event["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn events_of_a_failed_build_end_with_its_error() {
    let dir = scratch(true);
    let args = ["build", "--artifact-dir", "none", "-o", "out", "--events", "events.jsonl"];
    assert_eq!(rockpack(dir.path(), &args).status.code(), Some(2));
    let events = events(&fs_err::read_to_string(dir.path().join("events.jsonl")).unwrap());
    let [.., error, ended] = &events[..] else { panic!("{events:?}") };
    assert_eq!((&error["event"], &error["severity"]), (&"reported".into(), &"error".into()));
    assert!(error["message"].as_str().unwrap().contains("none"), "{error}");
    assert_eq!(ended["successful"], false);
}

#[test]
fn events_are_written_without_artifacts() {
    let dir = scratch(true);
    let args =
        ["build", "--rocm-path", "none", "--sources", ".", "-o", "out", "--events", "events.jsonl"];
    assert_eq!(rockpack(dir.path(), &args).status.code(), Some(2));
    let events = events(&fs_err::read_to_string(dir.path().join("events.jsonl")).unwrap());
    let [started, phase, .., error, ended] = &events[..] else { panic!("{events:?}") };
    assert_eq!(started["event"], "started");
    assert_eq!(phase["phase"], "plan");
    assert!(error["message"].as_str().unwrap().contains("none"), "{error}");
    assert_eq!(ended["successful"], false);
}

#[test]
fn events_that_cannot_be_written_are_an_error() {
    let dir = scratch(true);
    let failed = |file| {
        let output =
            uncached(dir.path(), &[&BUILD[..], &["--events", file]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{file}");
        text(&output.stderr)
    };
    assert!(failed("none/events").contains("cannot write the events"));
    // All writes fail: the packages stay, and the status says that the log is incomplete.
    assert!(failed("/dev/full").contains("cannot write the events to /dev/full"));
    assert!(dir.path().join("out/dist/SHA256SUMS").exists());
}

#[test]
fn sigusr1_prints_the_work_of_each_thread_and_the_build_continues() {
    let dir = scratch(true);
    let fifo = dir.path().join("events");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let args = [&BUILD[..], &["--quiet", "--jobs", "2", "--events", "events"]].concat();
    let mut build =
        uncached(dir.path(), &args).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut log = BufReader::new(fs_err::File::open(&fifo).unwrap()).lines();
    assert!(log.any(|line| line.unwrap().contains("\"build-started\"")));
    // The workers wait in their work, because this test reads no further events.
    let (sender, said) = std::sync::mpsc::channel();
    let lines = BufReader::new(build.stderr.take().unwrap()).lines();
    let reader = std::thread::spawn(move || {
        lines.map(Result::unwrap).for_each(|line| sender.send(line).unwrap());
    });
    let pid = rustix::process::Pid::from_child(&build);
    let (mut answer, asked) = (Vec::new(), std::time::Instant::now());
    let is_worker = |line: &String, number: usize| {
        let work = line.strip_prefix(&format!("  worker {number}: "));
        work.is_some_and(|work| work.contains("dist/") && work.contains(".whl, for "))
    };
    while !(1..=2).all(|number| answer.iter().any(|line| is_worker(line, number))) {
        assert!(asked.elapsed().as_secs() < 60, "{answer:?}");
        rustix::process::kill_process(pid, rustix::process::Signal::USR1).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        answer = said.try_iter().collect();
    }
    assert!(answer[0].starts_with("rockpack: "), "{answer:?}");
    assert!(log.last().unwrap().unwrap().contains("\"successful\":true"));
    assert!(build.wait().unwrap().success());
    reader.join().unwrap();
}

#[test]
fn events_with_a_closed_reader_are_an_error() {
    let dir = scratch(true);
    let fifo = dir.path().join("events");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let args = [&BUILD[..], &["--events", "events"]].concat();
    let mut build = uncached(dir.path(), &args);
    let build = build.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut log = BufReader::new(fs_err::File::open(&fifo).unwrap());
    log.read_line(&mut String::new()).unwrap();
    drop(log);
    let output = build.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let error = text(&output.stderr);
    assert!(error.contains("cannot write the events to events"), "{error}");
    assert!(error.contains("Broken pipe"), "{error}");
    assert!(dir.path().join("out/dist/SHA256SUMS").exists());
}

#[test]
fn events_at_a_closed_pipe_are_an_error() {
    let dir = scratch(true);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let args = [&BUILD[..], &["--events", "/dev/stdout", "--quiet"]].concat();
    let output =
        uncached(dir.path(), &args).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(dir.path().join("out/dist/SHA256SUMS").exists());
}
