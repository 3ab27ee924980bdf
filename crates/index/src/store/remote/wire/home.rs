//! Names and addresses that may be connected to.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::fault::Fault;

/// AWS's server of machine credentials; unlike its IPv4 address, not link-local.
const METADATA: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// Hosts of the configuration. Servers and pages name the others: they must not lead to link-local
/// addresses, where machines have their credentials.
#[derive(Debug, Default)]
pub(super) struct Home(Mutex<BTreeSet<String>>);

impl Home {
    pub(super) fn add(&self, url: &Url) {
        let Some(host) = url.host_str() else { return };
        self.hosts().insert(host.to_owned());
    }

    /// Rejects a link-local address, unless it is a configured host.
    pub(super) fn check(&self, url: &Url) -> Result<(), Fault> {
        let host = url.host_str().unwrap_or_default();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse();
        if address.is_ok_and(is_link_local) && !self.contains(host) {
            return Err(Fault::LinkLocal(host.to_owned()));
        }
        Ok(())
    }

    fn contains(&self, host: &str) -> bool {
        self.hosts().contains(host)
    }

    fn hosts(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Addresses of `host` that may be connected to.
    fn allowed_addresses(
        &self,
        host: &str,
        mut addresses: Vec<IpAddr>,
    ) -> Result<Vec<IpAddr>, Fault> {
        if self.contains(host) || addresses.is_empty() {
            return Ok(addresses);
        }
        addresses.retain(|address| !is_link_local(*address));
        if addresses.is_empty() { Err(Fault::LinkLocal(host.to_owned())) } else { Ok(addresses) }
    }
}

/// Resolver of a client.
pub(super) struct Resolver(pub(super) Arc<Home>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (home, host) = (self.0.clone(), name.as_str().to_owned());
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((&*host, 0)).await?;
            let allowed =
                home.allowed_addresses(&host, addresses.map(|address| address.ip()).collect())?;
            Ok(Box::new(allowed.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_unicast_link_local()
                || address == METADATA
                || embedded(address).is_some_and(|address| address.is_link_local())
        }
    }
}

/// IPv4 address of a mapped, compatible or translated one (RFC 4291, RFC 6052).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    let is_translated = parts[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
    let bits = u32::from(parts[6]) << 16 | u32::from(parts[7]);
    address.to_ipv4().or_else(|| is_translated.then(|| Ipv4Addr::from(bits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_link_local_addresses_in_every_form() {
        for (text, expected) in [
            ("169.254.169.254", true),
            ("fe80::1", true),
            ("::ffff:169.254.0.1", true),
            ("::169.254.0.1", true),
            ("64:ff9b::a9fe:a9fe", true),
            ("fd00:ec2::254", true),
            ("127.0.0.1", false),
            ("10.0.0.1", false),
            ("::1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_link_local(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn only_configured_hosts_may_be_link_local() {
        let home = Home::default();
        home.add(&"http://169.254.1.2:9000/".parse().unwrap());
        home.add(&"http://lab/".parse().unwrap());
        for (url, is_allowed) in [
            ("http://169.254.1.2/x", true),
            ("http://169.254.169.254/latest", false),
            ("http://2852039166/latest", false),
            ("http://0xa9.0xfe.0xa9.0xfe/", false),
            ("http://[fe80::1]/", false),
            ("http://[::ffff:a9fe:a9fe]/", false),
            ("http://127.0.0.1/", true),
        ] {
            assert_eq!(home.check(&url.parse().unwrap()).is_ok(), is_allowed, "{url}");
        }
        let (local, loopback) = (IpAddr::from([169, 254, 1, 1]), IpAddr::from([127, 0, 0, 1]));
        let allowed =
            |host: &str, addresses: &[IpAddr]| home.allowed_addresses(host, addresses.to_vec());
        assert_eq!(allowed("lab", &[local]), Ok(vec![local]));
        assert_eq!(allowed("name", &[local, loopback]), Ok(vec![loopback]));
        assert_eq!(allowed("name", &[local]), Err(Fault::LinkLocal("name".to_owned())));
    }
}
