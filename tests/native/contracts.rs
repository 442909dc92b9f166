//! What every answer in every stage leads to, for every built-in profile, as a page to read.
//!
//! `HOLDFAST_WRITE=1 cargo test --test contracts` writes the pages anew; look at what has changed.

use std::path::Path;

use holdfast::rules::profile;

fn reads_like_its_contract(name: &str, text: &str) {
    let page = crate::pages::page(&profile::read(text).expect("a good profile"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contracts").join(name);
    let file = file.with_extension("txt");
    if std::env::var_os("HOLDFAST_WRITE").is_some() {
        std::fs::write(&file, &page).expect("the page is written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    for (line, (own, kept)) in page.lines().zip(kept.lines()).enumerate() {
        assert_eq!(own, kept, "tests/contracts/{name}.txt:{}", line + 1);
    }
    assert_eq!(page.lines().count(), kept.lines().count());
}

macro_rules! contracts {
    ($($test:ident: $file:literal,)*) => {$(
        #[test]
        fn $test() {
            let text = include_str!(concat!("../../pkg-template/profiles/", $file, ".json"));
            reads_like_its_contract($file, text);
        }
    )*};
}

contracts! {
    azure_lro_reads_like_its_contract: "azure-lro",
    bulkgrid_reads_like_its_contract: "bulkgrid",
    cleanedweb_reads_like_its_contract: "cleanedweb",
    google_lro_reads_like_its_contract: "google-lro",
    http_async_reads_like_its_contract: "http-async",
    idempotency_key_reads_like_its_contract: "idempotency-key",
    relay_reads_like_its_contract: "relay",
    replay_reads_like_its_contract: "replay",
    runharvester_reads_like_its_contract: "runharvester",
}
