use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::cleanup;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::{flag, iterator::Signals, low_level};

use crate::ui;

const ENDING: [(i32, &str); 3] = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM"), (SIGHUP, "SIGHUP")];

/// Time in which another signal counts as the same: `timeout` signals a program and its group; a
/// terminal and a parent may both signal.
const SAME: Duration = Duration::from_secs(1);

/// The first signal ends the process in order, another one at least [`SAME`] later at once. SIGUSR1
/// prints the state. Signals that the parent process ignored stay ignored.
pub fn watch() -> io::Result<()> {
    let ignored = ignored();
    // With a handler, a write beyond the limit of file sizes fails, and the error names the file.
    if ignored >> (SIGXFSZ - 1) & 1 == 0 {
        flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
    }
    if ignored >> (SIGUSR1 - 1) & 1 == 0 {
        let mut signals = Signals::new([SIGUSR1])?;
        let answer = move || signals.forever().for_each(|_| ui::print_state());
        std::thread::Builder::new().name("state".to_owned()).spawn(answer)?;
    }
    let watched: Vec<i32> = ENDING.map(|(signal, _)| signal).into();
    let watched: Vec<i32> =
        watched.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect();
    let second = Arc::new(AtomicBool::new(false));
    for signal in &watched {
        flag::register_conditional_default(*signal, second.clone())?;
    }
    let mut signals = Signals::new(&watched)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let later = second.clone();
            let counts = std::thread::Builder::new().spawn(move || {
                std::thread::sleep(SAME);
                later.store(true, Ordering::SeqCst);
            });
            if counts.is_err() {
                second.store(true, Ordering::SeqCst);
            }
            end(signal);
        }
    })?;
    Ok(())
}

fn end(signal: i32) {
    cleanup::begin();
    cleanup::run();
    let name = ENDING.iter().find(|(number, _)| *number == signal).map_or("a signal", |(_, n)| n);
    ui::print_end_message(name);
    let _ = low_level::emulate_default_handler(signal);
    std::process::exit(128 + signal);
}

/// Returns the mask of ignored signals; the lowest bit is signal 1.
fn ignored() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
