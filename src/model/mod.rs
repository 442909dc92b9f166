//! Floor 0: plain data. Nothing here decides anything.

pub mod answer;
pub mod dice;
pub mod ending;
pub mod error;
pub mod evidence;
pub mod facts;
pub mod hold;
pub mod http;
pub mod ids;
pub mod journal;
pub mod lane;
pub mod life;
pub mod listing;
pub mod money;
pub mod operation;
pub mod pages;
pub mod pointer;
pub mod policy;
pub mod profile;
pub mod storage;
pub mod table;
pub mod time;
pub mod value;
