//! Static files.
use std::fs;
use std::path::{Path, PathBuf};

use super::Mount;
use crate::Response;

/// The file at a path, or a 404. The longest mount comes first in `mounts`.
pub(super) fn answer(mounts: &[Mount], path: &str) -> Response {
    let missing = || Response {
        status: 404,
        headers: vec![("content-type".to_owned(), "text/plain".to_owned())],
        body: b"There is no such file.\n".to_vec(),
        ..Response::default()
    };
    let found = mounts.iter().find_map(|mount| Some((mount, below(&mount.at, path)?)));
    let Some(file) = found.and_then(|(mount, rest)| resolve(&mount.folder, rest)) else {
        return missing();
    };
    fs::read(&file).map_or_else(
        |_| missing(),
        |body| Response {
            status: 200,
            headers: vec![
                ("content-type".to_owned(), mime_of(&file).to_owned()),
                // Asked for anew each time; a page that is not to be stored at all cannot be put aside whole.
                ("cache-control".to_owned(), "no-cache".to_owned()),
            ],
            body,
            ..Response::default()
        },
    )
}

/// The part of a path below a mount.
fn below<'a>(mount: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(mount.trim_end_matches('/'))?;
    rest.strip_prefix('/')
}

/// The file in a folder; none where the path or a link leads out of it.
fn resolve(folder: &Path, rest: &str) -> Option<PathBuf> {
    let rest = decoded(rest)?;
    let name = if rest.is_empty() || rest.ends_with('/') { "index.html" } else { "" };
    let rest = format!("{rest}{name}");
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.');
    if !rest.split('/').all(is_plain) || rest.contains(['\\', '\0']) {
        return None;
    }
    let file = folder.join(rest).canonicalize().ok()?;
    Some(file).filter(|file| file.starts_with(folder) && file.is_file())
}

/// The path without percent-encoding.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut parts = path.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(part.get(2..)?.bytes());
    }
    String::from_utf8(bytes).ok()
}

fn mime_of(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("txt" | "md" | "ts") => "text/plain; charset=utf-8",
        Some(_) | None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounts() -> Vec<Mount> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mount = |at: &str, folder: &str| Mount {
            at: at.to_owned(),
            folder: here.join(folder).canonicalize().unwrap(),
        };
        vec![mount("/tests", "tests"), mount("/", "src")]
    }

    #[test]
    fn the_longest_mount_wins() {
        assert_eq!(answer(&mounts(), "/tests/model/main.rs").status, 200);
        assert_eq!(answer(&mounts(), "/lib.rs").status, 200);
        assert_eq!(answer(&mounts(), "/model/main.rs").status, 404);
    }

    #[test]
    fn a_name_may_be_percent_encoded() {
        assert_eq!(answer(&mounts(), "/l%69b.rs").status, 200);
    }

    #[test]
    fn no_path_leads_out_of_its_folder() {
        for path in [
            "/../Cargo.toml",
            "/server/../../Cargo.toml",
            "/%2e%2e/Cargo.toml",
            "/..%2fCargo.toml",
            "//etc/passwd",
            "/%2fetc/passwd",
            "/..\\Cargo.toml",
            "/lib.rs%00",
            "/%zz",
        ] {
            assert_eq!(answer(&mounts(), path).status, 404, "{path}");
        }
    }

    #[test]
    fn browsers_get_the_types_that_they_insist_on() {
        assert_eq!(mime_of(Path::new("a.wasm")), "application/wasm");
        assert!(mime_of(Path::new("a.js")).starts_with("text/javascript"));
    }
}
