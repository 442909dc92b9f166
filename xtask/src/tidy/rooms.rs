//! The house: each room of `src/` is on a floor, and imports go down.

use super::File;

/// The floors, the lowest first; rooms on one floor do not know each other.
const FLOORS: [&[&str]; 7] =
    [&["model"], &["rules"], &["engine"], &["record"], &["driver"], &["web", "worker"], &["js"]];

/// The lowest floor that may know JavaScript.
const FIRST_FLOOR_WITH_JS: usize = 5;

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&room))
}

/// Imports that do not go down.
pub(super) fn imports(file: &File) -> Vec<String> {
    let Some(room) = file.room() else { return Vec::new() };
    let Some(own) = floor(room) else {
        return vec![format!("{}: the room {room} is on no floor", file.path)];
    };
    let code: Vec<&str> = file.code().map(|(_, line)| line).collect();
    let code = code.join("\n").replace(&"super::".repeat(depth(file)), "crate::");
    imported_rooms(&code)
        .into_iter()
        .filter(|other| *other != room && floor(other).is_some_and(|other| other >= own))
        .map(|other| format!("{}: {room} imports {other}, which is not below it", file.path))
        .collect()
}

/// How many times `super::` leads from the file's module to the crate.
fn depth(file: &File) -> usize {
    let names = file.path.split('/').skip(1);
    names.filter(|name| *name != "mod.rs").count()
}

/// The first names after `crate::`, of each branch where the path branches at once.
fn imported_rooms(code: &str) -> Vec<&str> {
    let mut rooms = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let Some(branches) = rest.strip_prefix('{') else {
            rooms.push(first_word(rest));
            continue;
        };
        let (mut depth, mut start) = (0_usize, 0);
        for (at, byte) in branches.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' if depth > 0 => depth -= 1,
                b'}' | b',' if depth == 0 => {
                    rooms.push(first_word(branches.get(start..at).unwrap_or_default()));
                    start = at + 1;
                    if byte == b'}' {
                        break;
                    }
                }
                _ => {}
            }
        }
    }
    rooms
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// JavaScript's types below their floor, and exports outside the files that are for them.
pub(super) fn bindings(file: &File) -> Vec<String> {
    let Some(room) = file.room() else { return Vec::new() };
    let no_js = floor(room).is_some_and(|floor| floor < FIRST_FLOOR_WITH_JS);
    let may_bind = room == "js" || file.path.ends_with("/sys.rs");
    let mut breaches = Vec::new();
    for (number, line) in file.code() {
        let knows_js = ["wasm_bindgen", "js_sys", "web_sys"].iter().any(|name| line.contains(name));
        if no_js && knows_js {
            breaches.push(format!("{}:{number}: JavaScript below its floor", file.path));
        } else if !may_bind && line.contains("#[wasm_bindgen") {
            breaches.push(format!("{}:{number}: a binding outside js/ and sys.rs", file.path));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn an_import_from_above_is_found() {
        assert_eq!(imports(&file("src/rules/a.rs", "use crate::engine::Engine;")).len(), 1);
    }

    #[test]
    fn an_import_from_the_same_floor_is_found() {
        assert_eq!(imports(&file("src/web/a.rs", "use crate::worker::alarm;")).len(), 1);
    }

    #[test]
    fn an_import_from_above_is_found_within_braces() {
        let text = "use crate::{\n    model::{ids, time},\n    js::errors,\n};";
        assert_eq!(imports(&file("src/driver/a.rs", text)).len(), 1);
    }

    #[test]
    fn an_import_from_above_is_found_when_it_climbs_there() {
        let climbing = |path, text| imports(&file(path, text)).len();
        assert_eq!(climbing("src/rules/mod.rs", "use super::engine::Engine;"), 1);
        assert_eq!(climbing("src/rules/a.rs", "use super::super::{model::ids, engine};"), 1);
        assert_eq!(climbing("src/rules/step/a.rs", "use super::super::super::engine;"), 1);
    }

    #[test]
    fn a_climb_that_stays_in_the_room_is_fine() {
        // A module of the room may be called like a room that is above.
        let text = "use super::super::record;\nuse super::js;";
        assert!(imports(&file("src/rules/step/a.rs", text)).is_empty());
    }

    #[test]
    fn imports_from_below_and_from_the_same_room_are_fine() {
        let text = "use crate::{model::ids, rules::{a, b}};\nuse crate::engine::x;";
        assert!(imports(&file("src/engine/a.rs", text)).is_empty());
    }

    #[test]
    fn a_room_that_is_on_no_floor_is_found() {
        assert_eq!(imports(&file("src/attic/a.rs", "")).len(), 1);
    }

    #[test]
    fn javascript_below_its_floor_is_found() {
        assert_eq!(bindings(&file("src/driver/a.rs", "use js_sys::Array;")).len(), 1);
    }

    #[test]
    fn a_binding_outside_its_files_is_found() {
        let text = "#[wasm_bindgen(js_name = x)]";
        assert_eq!(bindings(&file("src/web/a.rs", text)).len(), 1);
        assert!(bindings(&file("src/web/sys.rs", text)).is_empty());
        assert!(bindings(&file("src/js/a.rs", text)).is_empty());
    }
}
