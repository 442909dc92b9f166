// Where the service is: `cargo xtask demo --port 8010` starts one there.
export const baseUrl = "http://127.0.0.1:8010";
