//! Panics: a fault of the program in any thread.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use base::cleanup;
use signal_hook::low_level;

/// Status of a panic, as of Rust's own.
const STATUS: i32 = 101;
/// The panicking thread may hold a lock that cleanup waits for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Ends the process after a panic of any thread, because other threads may wait for it forever.
/// Temporary files and child programs are removed first.
pub fn end_the_process() {
    static ENDING: AtomicBool = AtomicBool::new(false);
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        report(info);
        if ENDING.swap(true, Ordering::SeqCst) {
            loop {
                thread::park();
            }
        }
        let (sender, receiver) = channel();
        let clean = move || {
            cleanup::run();
            let _ = sender.send(());
        };
        if thread::Builder::new().name("cleanup".to_owned()).spawn(clean).is_ok() {
            let _ = receiver.recv_timeout(PATIENCE);
        }
        low_level::exit(STATUS);
    }));
}
