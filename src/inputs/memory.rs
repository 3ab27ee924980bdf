//! How much memory a build may use.

/// An eighth of the memory that there is for this program: the machine's, or less where a container says so.
pub fn share() -> u64 {
    let system = rustix::system::sysinfo();
    let machine = u128::from(system.totalram) * u128::from(system.mem_unit.max(1));
    let machine = u64::try_from(machine).unwrap_or(u64::MAX);
    machine.min(container().unwrap_or(u64::MAX)) / 8
}

/// The limit of this control group (cgroup v2), if there is one.
fn container() -> Option<u64> {
    fs_err::read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()
}
