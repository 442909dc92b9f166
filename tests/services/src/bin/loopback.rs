//! Serves the models of all services on the loopback interface, with static files beside them.
//! RunHarvester is at the root, each other one under a path of its own (see `all_services`).
//!
//! Writes one line of JSON, `{"listening":"http://127.0.0.1:PORT"}`, once it listens. Ends when its
//! standard input closes under `--until-stdin-closes`, so that it does not outlive its parent.
use std::error::Error;
use std::io::{Read, Write, stdin, stdout};
use std::time::{SystemTime, SystemTimeError, UNIX_EPOCH};

use holdfast_services::{Mount, Options, Settings, all_services, serve_all};

const USAGE: &str = "\
loopback [--port N] [--balance CREDITS] [--token TOKEN]… [--static FOLDER]
         [--static-at /PATH=FOLDER]… [--until-stdin-closes]
GET /_control/ledger tells what was run and charged; each other service has its own, under its path.";

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    let mut settings = Settings { balance: 1_000_000, ..Settings::with_ids("") };
    let mut until_stdin_closes = false;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--port" => options.port = value()?.parse()?,
            "--balance" => settings.balance = value()?.parse()?,
            "--token" => drop(settings.tokens.insert(value()?)),
            "--static" => {
                options.mounts.push(Mount { at: "/".to_owned(), folder: value()?.into() });
            }
            "--static-at" => {
                let value = value()?;
                let (at, folder) = value.split_once('=').ok_or("--static-at needs /PATH=FOLDER")?;
                options.mounts.push(Mount { at: at.to_owned(), folder: folder.into() });
            }
            "--help" => {
                writeln!(stdout(), "{USAGE}")?;
                return Ok(());
            }
            "--until-stdin-closes" => until_stdin_closes = true,
            _ => return Err(format!("unknown option {word}\n{USAGE}").into()),
        }
    }
    // A browser's storage outlives this process: no id may come twice at one origin.
    settings.id_prefix = format!("{:x}_", started_ms()?);
    let server = serve_all(all_services(&settings), options)?;
    let mut out = stdout().lock();
    writeln!(out, "{{\"listening\":\"{}\"}}", server.origin())?;
    out.flush()?;
    drop(out);
    if until_stdin_closes {
        stdin().read_to_end(&mut Vec::new())?;
        server.stop();
    } else {
        server.join();
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the server lives in real time")]
fn started_ms() -> Result<u128, SystemTimeError> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())
}
