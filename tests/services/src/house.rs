//! All the models together.
use crate::{
    AnyService, AzureLro, AzureLroConfig, Bulkgrid, BulkgridConfig, CleanedWeb, CleanedWebConfig,
    Config, GoogleLro, GoogleLroConfig, HttpAsync, HttpAsyncConfig, IdempotencyKey,
    IdempotencyKeyConfig, Replay, ReplayConfig, RunHarvester, Service, Settings,
};

/// Every model, with the path that it is served under; RunHarvester is at the root.
///
/// All take the tokens, the balance, the price and the keys' retention of `usual`. What `usual`
/// says of ids stands after each model's own prefix. Links in answers begin with the model's path.
pub fn all_services(usual: &Settings) -> Vec<(String, AnyService)> {
    let own = Config::default();
    let runharvester = Config {
        tokens: usual.tokens.clone(),
        balance: usual.balance,
        base: usual.price,
        key_retention_ms: usual.key_retention_ms,
        id_prefix: format!("{}{}", own.id_prefix, usual.id_prefix),
        ..own
    };
    vec![
        placed("", RunHarvester::new(runharvester)),
        placed("/bulkgrid", {
            let own = BulkgridConfig::default();
            Bulkgrid::new(BulkgridConfig { settings: at("/bulkgrid", usual, own.settings), ..own })
        }),
        placed("/cleanedweb", {
            let own = CleanedWebConfig::default();
            let settings = at("/cleanedweb", usual, own.settings);
            CleanedWeb::new(CleanedWebConfig { settings, ..own })
        }),
        placed("/replay", {
            let own = ReplayConfig::default();
            Replay::new(ReplayConfig { settings: at("/replay", usual, own.settings), ..own })
        }),
        placed("/idempotency-key", {
            let own = IdempotencyKeyConfig::default();
            let settings = at("/idempotency-key", usual, own.settings);
            IdempotencyKey::new(IdempotencyKeyConfig { settings, ..own })
        }),
        placed("/http-async", {
            let own = HttpAsyncConfig::default();
            let settings = at("/http-async", usual, own.settings);
            HttpAsync::new(HttpAsyncConfig { settings, ..own })
        }),
        placed("/azure", {
            let own = AzureLroConfig::default();
            AzureLro::new(AzureLroConfig { settings: at("/azure", usual, own.settings), ..own })
        }),
        placed("/google", {
            let own = GoogleLroConfig::default();
            GoogleLro::new(GoogleLroConfig { settings: at("/google", usual, own.settings) })
        }),
    ]
}

fn placed(path: &str, service: impl Service + Send + 'static) -> (String, AnyService) {
    (path.to_owned(), Box::new(service))
}

/// A model's own settings with those that all share.
fn at(path: &str, usual: &Settings, own: Settings) -> Settings {
    Settings {
        tokens: usual.tokens.clone(),
        balance: usual.balance,
        price: usual.price,
        key_retention_ms: usual.key_retention_ms,
        id_prefix: format!("{}{}", own.id_prefix, usual.id_prefix),
        link_base: path.to_owned(),
        ..own
    }
}
