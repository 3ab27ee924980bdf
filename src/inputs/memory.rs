use std::num::NonZero;
use std::thread::available_parallelism;

use base::source::Problem;

use super::variable::{MEMORY, variable};
use base::text::bytes;

/// Memory of a thread in bytes, besides encoder and blocks.
const THREAD: u64 = 4_000_000;

/// Returns `jobs`, or one for each core, within the limit of the memory.
pub fn threads(jobs: Option<u16>) -> Result<Option<u16>, Problem> {
    let Some(memory) = variable(MEMORY, bytes)? else { return Ok(jobs) };
    let cores = || available_parallelism().map_or(1, NonZero::get);
    let threads = jobs.unwrap_or_else(|| u16::try_from(cores()).unwrap_or(u16::MAX));
    Ok(Some(fitting(threads, memory)))
}

fn fitting(threads: u16, memory: u64) -> u16 {
    threads.min(u16::try_from(memory / THREAD).unwrap_or(u16::MAX)).max(1)
}

/// Returns an eighth of the machine's memory, or of the container's limit.
pub fn share() -> u64 {
    let system = rustix::system::sysinfo();
    let machine = u128::from(system.totalram) * u128::from(system.mem_unit.max(1));
    let machine = u64::try_from(machine).unwrap_or(u64::MAX);
    machine.min(container().unwrap_or(u64::MAX)) / 8
}

/// Reads the limit of this control group (cgroup v2).
fn container() -> Option<u64> {
    fs_err::read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn small_memory_has_few_threads() {
        assert_eq!((fitting(256, 256_000_000), fitting(64, 256_000_000)), (64, 64));
        assert_eq!((fitting(8, 1_000_000), fitting(64, u64::MAX)), (1, 64));
    }
}
