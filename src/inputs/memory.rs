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
