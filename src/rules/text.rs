//! Looking for short marks in short texts. The library's own search is built for long ones, and is
//! a kilobyte longer.

/// What is before the first mark, and what is after it.
pub fn split_once<'a>(text: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    text.char_indices().find_map(|(at, _)| {
        let (before, from) = text.split_at(at);
        Some((before, from.strip_prefix(mark)?))
    })
}

/// The text with something else in the place of each mark.
pub fn replace(mut text: &str, mark: &str, with: &str) -> String {
    let mut out = String::new();
    while let Some((before, after)) = split_once(text, mark) {
        out.push_str(before);
        out.push_str(with);
        text = after;
    }
    out.push_str(text);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_the_library_finds(text in "[aäb{]{0,12}", mark in "[aäb{]{1,3}") {
            prop_assert_eq!(super::split_once(&text, &mark), text.split_once(&mark));
            prop_assert_eq!(super::replace(&text, &mark, "-a"), text.replace(&mark, "-a"));
        }
    }
}
