//! Reads a base URL without a URL library: only what a service's address may be.

use crate::rules::grammar::leads_up;

/// A base URL without slashes at its end, and its origin: both as browsers write them.
pub(super) fn split_url(url: &str) -> Option<(String, String)> {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"?#@\\\"<>^`{|}".contains(&byte);
    let (scheme, rest) = crate::rules::text::split_once(url, "://")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (scheme, authority) = (scheme.to_ascii_lowercase(), authority.to_ascii_lowercase());
    let (host, port) = if authority.ends_with(']') {
        (authority.as_str(), "")
    } else {
        authority.rsplit_once(':').unwrap_or((&authority, ""))
    };
    let usual_port = match scheme.as_str() {
        "https" => "443",
        "http" if is_loopback(host) => "80",
        _ => return None,
    };
    if !url.bytes().all(plain) || !is_host(host) || leads_up(path) {
        return None;
    }
    let mut origin = [scheme.as_str(), "://", host].concat();
    if !port.is_empty() {
        // A port is written without zeros before it.
        let port = port.parse::<u16>().ok().filter(|_| !port.starts_with('+'))?.to_string();
        if port != usual_port {
            origin.push(':');
            origin.push_str(&port);
        }
    }
    let path = path.trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    Some(([origin.as_str(), slash, path].concat(), origin))
}

fn is_host(host: &str) -> bool {
    let bracketed = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if let Some(address) = bracketed {
        return address.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte));
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let mut last = "";
    for label in host.split('.') {
        if label.is_empty() || !label.bytes().all(plain) {
            return false;
        }
        last = label;
    }
    let number = last.starts_with("0x") || last.bytes().all(|byte| byte.is_ascii_digit());
    !number || is_address(host)
}

/// An IPv4 address in the only form that browsers write. Every other host that ends in a number is
/// one to them too: `2` is `0.0.0.2`, `0x7f.1` is `127.0.0.1` (URL Standard, host parsing).
#[inline(never)]
fn is_address(host: &str) -> bool {
    let mut parts = 0;
    for part in host.split('.') {
        parts += 1;
        if part.parse::<u8>().is_err() || (part.len() > 1 && part.starts_with('0')) {
            return false;
        }
    }
    parts == 4
}

/// A host that is this machine wherever it is resolved (RFC 6761, RFC 1122).
fn is_loopback(host: &str) -> bool {
    let address = host.starts_with("127.") && is_address(host);
    address || host == "localhost" || host.ends_with(".localhost") || host == "[::1]"
}
