//! The entries that are one file: all their scripts, and for one of them the module too.

use std::{io::Write as _, path::Path};

use anyhow::Result;

use crate::{
    build, process, scripts,
    workspace::{Workspace, write},
};

/// Bundles the entries over scripts that are minified already, into the same folder.
///
/// A bundle does not know where it is: so no bundler of an app takes an address in it for a file.
pub(crate) fn bundle(workspace: &Workspace, from: &Path, module: &Path, to: &Path) -> Result<()> {
    let place = to.join("single");
    for file in build::files(from)? {
        if let Some(name) = file.file_name() {
            write(&place.join(name), std::fs::read(&file)?)?;
        }
    }
    let letters = base64(&deflated(&std::fs::read(module)?)?);
    write(&place.join("packed.js"), format!("export const packed = \"{letters}\";"))?;
    let mut command = scripts::esbuild(workspace)?;
    command.args(["--bundle", "--define:import.meta.url=undefined"]);
    command.args(["slim.js", "inline.js"].map(|name| place.join(name)));
    let mut outdir = std::ffi::OsString::from("--outdir=");
    outdir.push(to);
    process::run(command.arg(outdir))
}

fn deflated(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let part = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = part(0) << 16 | part(1) << 8 | part(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_bytes_as_the_rfc_says() {
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, letters) in pairs {
            assert_eq!(base64(plain.as_bytes()), letters);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
