//! Capabilities of confined programs and their runner.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, set_capabilities,
};

/// Kept by programs of root: reading and owning the files that root could without namespaces.
const OF_FILES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// Lets the next program of this process mount, even of an ordinary user.
pub(crate) fn hand_on() -> io::Result<()> {
    let handed_on = CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN;
    let current = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: handed_on, ..current })?;
    for right in handed_on.iter() {
        configure_capability_in_ambient_set(right, true)?;
    }
    Ok(())
}

/// Takes all rights but those over files from this thread and the programs that it starts.
pub(crate) fn restrict() -> io::Result<()> {
    clear_ambient_capability_set()?;
    // A program of root gets all rights of its starter, a program of another user none.
    let rights = capabilities(None)?.permitted & OF_FILES;
    let restricted = CapabilitySets {
        effective: rights,
        permitted: rights,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, restricted)?)
}
